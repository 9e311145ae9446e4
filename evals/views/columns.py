"""The columns of the tables of trials and arms: types, units and meanings, which the documents repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.scoring.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Column:
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
    "bool": "bool",
    "str": "string",
}
"""In pandas' words, by the type of a field of `TrialRecord`."""
_STORED = {
    field.name: Column(_TYPES[str(field.type)], field.metadata["unit"], field.metadata["meaning"])
    for field in fields(TrialRecord)
    if field.name != "arm"  # its names are there
}
_ADDED = {
    "run": Column("string", "", "the run's id"),
    "model": Column("string", "", "name of the model", "a.model"),
    "toolset": Column("string", "", "name of the toolset", "a.toolset"),
    "variant": Column("string", "", "what is changed about the toolset; empty if nothing", "a.variant"),
    "scored": Column("bool", "", "whether it is in the rates: neither error nor context_overflow", "scored"),
}
_FIRST = ("run", "trial", "model", "toolset", "variant", "case_id", "cluster", "kind", "epoch", "finished", "outcome")
TRIAL_COLUMNS: Mapping[str, Column] = MappingProxyType(
    {
        name: {**_STORED, **_ADDED}[name]
        for name in (*_FIRST, "scored", *(name for name in _STORED if name not in _FIRST))
    }
)
"""The columns of a trial's row, in order: what the store has of a trial, and the names of its arm."""

RATES: Mapping[str, Column] = MappingProxyType(
    {
        "accuracy": Column("Float64", "share of trials", "right by names, of those scored"),
        "solved": Column("Float64", "share of trials", "right by names and arguments, of those scored"),
        "coverage": Column(
            "Float64", "share of trials", "a complete accepted answer could be reached, of those scored"
        ),
        "surfaced": Column("Float64", "share of trials", "it was really offered at some request, of those scored"),
        "selection_given_coverage": Column("Float64", "share of trials", "right by names, of those covered"),
        "abstention": Column("Float64", "share of trials", "right by names, of those where no call is expected"),
        "hallucination": Column(
            "Float64", "share of trials", "a tool was called that is in no catalog, of those scored"
        ),
        "abstained_uncovered": Column(
            "Float64",
            "share of trials",
            "nothing was called, of those not covered that were neither refused nor given up",
        ),
        "argument_correctness": Column("Float64", "share of calls", "arguments are right, of the calls checked"),
        "precision": Column("Float64", "share of calls", "asked for, of the calls made"),
        "recall": Column("Float64", "share of calls", "made, of the calls asked for"),
    }
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
AMOUNTS: Mapping[str, Column] = MappingProxyType(
    {
        "model": Column("string", "", "name of the model"),
        "toolset": Column("string", "", "name of the toolset"),
        "variant": Column("string", "", "what is changed about the toolset; empty if nothing"),
        "planned": Column("int64", "trials", "planned"),
        "finished": Column("int64", "trials", "with an outcome, error and context_overflow among them"),
        "scored": Column("int64", "trials", "that say something about the choice: the others are in no rate"),
        "f1": Column("Float64", "share", "harmonic mean of precision and recall"),
        "definition_tokens": Column(
            "Float64", "tokens per trial", "tool definitions at the first request, own count; mean of those scored"
        ),
        "definition_tokens_total": Column("Float64", "tokens per trial", "over all requests, own count; mean"),
        "prompt_tokens": Column(
            "Float64",
            "tokens per trial",
            "prompts over all requests, as reported; own count where prompt_tokens_reported is false; mean",
        ),
        "prompt_tokens_reported": Column("bool", "", "whether the provider reported them for every scored trial"),
        "prompt_tokens_trials": Column("int64", "trials", "scored, for which it did"),
        "own_prompt_tokens": Column("Float64", "tokens per trial", "prompts over all requests, own count; mean"),
        "completion_tokens": Column("Float64", "tokens per trial", "answers, as reported; mean"),
        "cached_read_tokens": Column(
            "Float64", "tokens per trial", "of the prompts, read from the provider's cache, as reported; mean"
        ),
        "cached_write_tokens": Column(
            "Float64", "tokens per trial", "of the prompts, written to the provider's cache, as reported; mean"
        ),
        "invalidated_tokens": Column(
            "Float64",
            "tokens per trial",
            "of the prompts' prefix, made uncacheable by changes of the tool list, own count; mean",
        ),
        "repeated_tokens": Column(
            "Float64",
            "tokens per trial",
            "prompts of all requests but the last, which the next ones begin with, own count; mean",
        ),
        "requests": Column("Float64", "requests per trial", "retries not among them; mean"),
        "retries": Column("int64", "requests", "asked again, in all"),
        "cost_usd": Column("Float64", "US dollars per trial", "mean of those scored; nothing where a price is unknown"),
        "cost_usd_total": Column("Float64", "US dollars", "of all finished trials, unscored ones and retries included"),
        "latency_seconds": Column("Float64", "seconds per request", "median"),
        "latency_p95_seconds": Column("Float64", "seconds per request", "95th percentile"),
        "tools_offered": Column("Float64", "tools per trial", "at the first request, where that was answered; mean"),
        "first_offers": Column("Int64", "lists", "different lists of tools offered at first requests"),
        "first_offer": Column("string", "", "digest of that list, where there is just one"),
        "offered_tokens": Column(
            "Float64",
            "tokens per trial",
            "tool definitions at the first request, own count; mean of all finished, unscored ones included",
        ),
        "turned_away": Column("int64", "trials", "not asked, as what they began with could not fit"),
        "overflow_reason": Column(
            "string", "", "why trials were too long for the model: the commonest reason; empty if none was"
        ),
        "error_reason": Column("string", "", "why trials failed, likewise"),
        "tokenizer": Column("string", "", "what the own counts are by"),
    }
)
PASSING: Mapping[str, Column] = MappingProxyType(
    {
        "pass_at": Column("Float64", "share", "chance that at least one of K trials of a case is right by names"),
        "pass_all": Column("Float64", "share", "chance that each of K trials of a case is"),
        "pass_cases": Column("Int64", "cases", "with K scored epochs or more, which the two are over"),
    }
)
"""By K, in columns such as `pass_at_2`; empty where each case was run once."""
OUTCOMES: Mapping[str, Column] = MappingProxyType(
    {f"outcome_{outcome.value}": Column("int64", "trials", f"with outcome {outcome.value}") for outcome in Outcome}
)


def arm_row(arm: ArmSummary) -> dict[str, Any]:
    """An arm as a row: a column for each measure, five for a rate, one for each outcome and each K."""
    row: dict[str, Any] = {}
    for field in fields(arm):
        value = getattr(arm, field.name)
        if isinstance(value, Rate):
            parts = value.to_dict()
            row[field.name] = parts.pop("value")
            row |= {f"{field.name}_{part}": number for part, number in parts.items()}
        elif field.name == "outcomes":
            row |= {f"outcome_{outcome.value}": value.get(outcome.value, 0) for outcome in Outcome}
        elif isinstance(value, Mapping):
            row |= {f"{field.name}_{key}": number for key, number in value.items()}
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
