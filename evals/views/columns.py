"""The columns of the tables of trials and arms: types, units and meanings, which the documents repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields
from types import MappingProxyType
from typing import Any

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.scoring.outcome import Outcome


@dataclass(frozen=True, slots=True)
class TrialColumn:
    """A column of a table.

    Attributes:
        type: In pandas' words; those with a capital may hold nothing.
        unit: Of its numbers; empty where they have none, and of texts.
        meaning: What it says.
        source: Of trials, where it comes from, in SQL; empty where the column of the database has its name.
    """

    type: str
    unit: str
    meaning: str
    source: str = ""


_TYPES = {
    "int": "int64",
    "int | None": "Int64",
    "float": "float64",
    "float | None": "Float64",
    "Count": "int64",
    "Count | None": "Int64",
    "Amount | None": "Float64",
    "Share | None": "Float64",
    "Rate": "Float64",
    "bool": "bool",
    "str": "string",
    "str | None": "string",
}
"""In pandas' words, by the type of a field of `TrialRecord` or `ArmSummary`."""


def _column(field: Field[Any]) -> TrialColumn:
    return TrialColumn(_TYPES[str(field.type)], field.metadata["unit"], field.metadata["meaning"])


_STORED = {field.name: _column(field) for field in fields(TrialRecord) if field.name != "arm"}  # its names are there
_ADDED = {
    "run": TrialColumn("string", "", "the run's id"),
    "model": TrialColumn("string", "", "name of the model", "a.model"),
    "toolset": TrialColumn("string", "", "name of the toolset", "a.toolset"),
    "variant": TrialColumn("string", "", "what is changed about the toolset; empty if nothing", "a.variant"),
    "scored": TrialColumn("bool", "", "whether it is in the rates: neither error nor context_overflow", "scored"),
}
_FIRST = ("run", "trial", "model", "toolset", "variant", "case_id", "cluster", "kind", "epoch", "finished", "outcome")
TRIAL_COLUMNS: Mapping[str, TrialColumn] = MappingProxyType(
    {
        name: {**_STORED, **_ADDED}[name]
        for name in (*_FIRST, "scored", *(name for name in _STORED if name not in _FIRST))
    }
)
"""The columns of a trial's row, in order: what the store has of a trial, and the names of its arm."""

RATES: Mapping[str, TrialColumn] = MappingProxyType(
    {field.name: _column(field) for field in fields(ArmSummary) if field.type == "Rate"}
)
"""Shares, each of which has four more columns: `_numerator` and `_denominator`, counts, and `_low` and `_high`."""
BOUNDS: Mapping[str, str] = MappingProxyType(
    {
        "numerator": "how many did",
        "denominator": "of how many",
        "low": "lower bound of the 95% interval",
        "high": "upper bound",
    }
)
AMOUNTS: Mapping[str, TrialColumn] = MappingProxyType(
    {
        field.name: _column(field)
        for field in fields(ArmSummary)
        if field.name not in RATES and field.name not in ("outcomes", "passing")
    }
)
"""An arm's names and its figures that are no shares of a count."""
PASSING: Mapping[str, TrialColumn] = MappingProxyType(
    {
        "pass_at": TrialColumn("Float64", "share", "chance that at least one of K trials of a case is right by names"),
        "pass_all": TrialColumn("Float64", "share", "chance that each of K trials of a case is"),
        "pass_cases": TrialColumn("Int64", "cases", "with K scored epochs or more, which the two are over"),
    }
)
"""By K, in columns such as `pass_at_2`; empty where each case was run once."""
OUTCOMES: Mapping[str, TrialColumn] = MappingProxyType(
    {f"outcome_{outcome.value}": TrialColumn("int64", "trials", f"with outcome {outcome.value}") for outcome in Outcome}
)


def arm_row(arm: ArmSummary) -> dict[str, Any]:
    """An arm as a row: a column for each measure, five for a rate, one for each outcome and each K."""
    row: dict[str, Any] = {}
    for field in fields(arm):
        value = getattr(arm, field.name)
        if isinstance(value, Rate):
            row[field.name] = value.value
            row |= {f"{field.name}_{part}": getattr(value, part) for part in BOUNDS}
        elif field.name == "outcomes":
            row |= {f"outcome_{outcome.value}": value.get(outcome, 0) for outcome in Outcome}
        elif field.name == "passing":
            row |= {f"pass_at_{each.k}": each.at_least_once for each in value}
            row |= {f"pass_all_{each.k}": each.each_time for each in value}
            row |= {f"pass_cases_{each.k}": each.cases for each in value}
        else:
            row[field.name] = value
    return row


def find_type(name: str) -> str:
    """The type of a column of `arm_row`.

    Raises:
        KeyError: there is no such column.
    """
    return dict(_types())[name] if name in _NAMES else PASSING[name.rpartition("_")[0]].type


def _types() -> Iterator[tuple[str, str]]:
    for name, column in {**AMOUNTS, **RATES, **OUTCOMES}.items():
        yield name, column.type
    for name in RATES:
        for part in BOUNDS:
            yield f"{name}_{part}", "Float64" if part in ("low", "high") else "int64"


_NAMES = frozenset(name for name, _ in _types())


TRIALS_SCHEMA = "toolbelt.trials/1"
"""Name and version of the columns of trials. Columns may be added; existing ones keep name, unit and meaning."""
ARMS_SCHEMA = "toolbelt.arms/1"
"""The same for arms."""


def about_trials(summary: RunSummary) -> dict[str, str]:
    """`schema`, `run`, `dataset` and `digest`, all texts."""
    return make_about(summary.run, summary.dataset, summary.digest)


def about_arms(summary: RunSummary) -> dict[str, str]:
    """The same for a table of arms."""
    return {**about_trials(summary), "schema": ARMS_SCHEMA}


def make_about(run: str, dataset: str, digest: str) -> dict[str, str]:
    """Like `about_trials`, for a run of which nothing else is known."""
    return {"schema": TRIALS_SCHEMA, "run": run, "dataset": dataset, "digest": digest}
