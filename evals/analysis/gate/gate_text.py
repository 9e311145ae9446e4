"""The result of a gate, in words."""

from __future__ import annotations

from toolbelt.evals.analysis.comparison.flip_text import count_flips
from toolbelt.evals.analysis.comparison.reason_text import name_arms
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult, LostTool
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.text import plural

_MOST_ARMS = 3
"""Arms whose flips are in the summary line."""


def summary_line(result: GateResult) -> str:
    """The verdict and the check that decided it, in one line: the first one, which explains the others."""
    against = "" if result.comparison is None else f" against {result.comparison.old.name}"
    head = f"{result.verdict.value}: run {result.run.name}{against}"
    deciding = [check for check in result.checks if check.verdict is result.verdict]
    if result.verdict is Verdict.NO_REGRESSION:
        return f"{head}: all {len(result.checks)} checks passed{_flipped(result)}"
    if not deciding:
        return f"{head}: there was nothing to check"
    more = f"; {len(deciding) - 1:,} more" if len(deciding) > 1 else ""
    return f"{head}: {describe_check(deciding[0])}{more}"


def _flipped(result: GateResult) -> str:
    """What got worse although the run passes as a whole, and which arms fit now."""
    pairs = () if result.comparison is None else result.comparison.pairs
    fitting = [pair.new for pair in pairs if pair.unfit is not None and pair.unfit.now]
    fits = f"; newly fitting: {name_arms(fitting, _MOST_ARMS)}" if fitting else ""
    worse = [pair for pair in pairs if any(flip.change < 0 for flip in pair.flips)]
    flips = [f"; {pair.new.label}: {count_flips(pair.flips, result.run.epochs)}" for pair in worse[:_MOST_ARMS]]
    more = f"; {plural(len(worse) - _MOST_ARMS, 'more arm')}" if len(worse) > _MOST_ARMS else ""
    return "".join(flips) + more + fits


def describe_check(check: GateCheck) -> str:
    """`accuracy: gpt-4o · tiered: 90.0% → 80.0%`."""
    return ": ".join(filter(None, (check.name, check.arm, check.message)))


def describe_lost(lost: LostTool) -> str:
    """`no case of web/search is right any more; 3 were`."""
    return f"no case of {lost.tool} is right any more; {lost.cases:,} were"
