"""The result of a gate, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from toolbelt.evals.analysis.comparison.comparison_json import comparison_data
from toolbelt.evals.analysis.gate.gate_text import describe_check, describe_check_reason, summary_line
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.views.json_values import to_json

SCHEMA = "toolbelt.gate/1"
EXIT_CODES: Mapping[Verdict, int] = MappingProxyType(
    {Verdict.NO_REGRESSION: 0, Verdict.REGRESSION: 1, Verdict.INSUFFICIENT_DATA: 3}
)
"""Exit codes of the process (rule E9)."""


def gate_data(result: GateResult) -> dict[str, Any]:
    """What `toolbelt eval gate --json` prints.

    Shares, differences and tolerated increases are fractions; `observed` of `tokens` and `cost` is new over old.
    `reasons` are the messages of the checks that did not pass. `lost` lists the tools that lost all their cases,
    whatever the verdict. `null` means unknown.
    """
    limits = {**asdict(result.limits), "measure": result.limits.measure.value}
    return {
        "schema": SCHEMA,
        "verdict": result.verdict.value,
        "exit_code": EXIT_CODES[result.verdict],
        "summary": summary_line(result),
        "reasons": [describe_check(check) for check in result.checks if check.verdict is not Verdict.NO_REGRESSION],
        "run": result.run.name,
        "baseline": None if result.comparison is None else result.comparison.old.name,
        "dataset": {"name": result.run.dataset, "digest": result.run.digest},
        "limits": limits,
        "checks": [_check(check) for check in result.checks],
        "lost": [asdict(lost) | {"arm": lost.arm.label} for lost in result.lost],
        "changed_tools": [asdict(tool) | {"change": tool.change.value} for tool in result.changed],
        "top_up": None if result.further is None else {**asdict(result.further), **_design(result)},
        "responses": None if result.responses is None else to_json(result.responses),
        "comparison": None if result.comparison is None else comparison_data(result.comparison),
    }


def _design(result: GateResult) -> dict[str, Any]:
    top_up = result.run.top_up
    return {} if top_up is None else asdict(top_up)


def _check(check: GateCheck) -> dict[str, Any]:
    return {
        "name": check.name,
        "verdict": check.verdict.value,
        "message": describe_check_reason(check),
        "arm": "" if check.arm is None else check.arm.label,
        "observed": check.observed,
        "low": check.low,
        "high": check.high,
        "limit": check.limit,
        "cases": check.cases,
        "planned": check.planned,
    }
