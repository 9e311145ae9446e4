"""What a gate says, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from toolbelt.evals.analysis.comparison.comparison_json import comparison_data
from toolbelt.evals.analysis.comparison.comparison_text import name_arms
from toolbelt.evals.analysis.comparison.flip_text import count_flips
from toolbelt.evals.analysis.gate.verdict import Check, GateResult
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.text import plural

SCHEMA = "toolbelt.gate/1"
EXIT_CODES: Mapping[Verdict, int] = MappingProxyType(
    {Verdict.NO_REGRESSION: 0, Verdict.REGRESSION: 1, Verdict.INSUFFICIENT_DATA: 3}
)
"""Of the process (rule E9)."""
_MOST_ARMS = 3
"""Whose flips are in the summary line."""


def gate_data(result: GateResult) -> dict[str, Any]:
    """What `toolbelt eval gate --json` prints.

    Shares, differences and tolerated increases are fractions; what is looked at in `tokens` and `cost` is new over old.
    `reasons` are the messages that kept the run from passing, `lost` the tools that no case is right by any more,
    whatever the verdict; `null` is what is not known.
    """
    limits = {**asdict(result.limits), "measure": result.limits.measure.value}
    return {
        "schema": SCHEMA,
        "verdict": result.verdict.value,
        "exit_code": EXIT_CODES[result.verdict],
        "summary": summary_line(result),
        "reasons": [_reason(check) for check in result.checks if check.verdict is not Verdict.NO_REGRESSION],
        "run": result.run.name,
        "baseline": None if result.comparison is None else result.comparison.old.name,
        "dataset": {"name": result.run.dataset, "digest": result.run.digest},
        "limits": limits,
        "checks": [{**asdict(check), "verdict": check.verdict.value} for check in result.checks],
        "lost": [asdict(lost) for lost in result.lost],
        "comparison": None if result.comparison is None else comparison_data(result.comparison),
    }


def summary_line(result: GateResult) -> str:
    """The verdict and what made it, in one line; what was found first, which explains the rest, is told first."""
    against = "" if result.comparison is None else f" against {result.comparison.old.name}"
    head = f"{result.verdict.value}: run {result.run.name}{against}"
    deciding = [check for check in result.checks if check.verdict is result.verdict]
    if result.verdict is Verdict.NO_REGRESSION:
        return f"{head}: all {len(result.checks)} checks passed{_flipped(result)}"
    if not deciding:
        return f"{head}: there was nothing to check"
    more = f"; {len(deciding) - 1:,} more" if len(deciding) > 1 else ""
    return f"{head}: {_reason(deciding[0])}{more}"


def _flipped(result: GateResult) -> str:
    """A pass is of the whole: what got worse within it is told, too, and which arms fit now."""
    pairs = () if result.comparison is None else result.comparison.pairs
    fitting = [pair.new for pair in pairs if pair.unfit is not None and pair.unfit.now]
    fits = f"; newly fitting: {name_arms(fitting, _MOST_ARMS)}" if fitting else ""
    worse = [pair for pair in pairs if any(flip.change < 0 for flip in pair.flips)]
    told = [f"; {pair.new.label}: {count_flips(pair.flips, result.run.epochs)}" for pair in worse[:_MOST_ARMS]]
    more = f"; {plural(len(worse) - _MOST_ARMS, 'more arm')}" if len(worse) > _MOST_ARMS else ""
    return "".join(told) + more + fits


def _reason(check: Check) -> str:
    return ": ".join(filter(None, (check.name, check.arm, check.message)))
