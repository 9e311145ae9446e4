"""The one way to pandas: trials as rows, and CSV files of trials and arms."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import IO, Any

import pandas as pd

from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.summary.measures import ArmSummary, Rate, RunSummary

CHUNK = 20_000
"""Trials held at once while a file is written."""
_FORMULA = r"[=+\-@\t\r]"  # a spreadsheet would run what begins so


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the trials.

    Attributes:
        type: In pandas' words; those with a capital may hold nothing.
        meaning: What it says, with its unit.
        source: Where it comes from, in SQL.
    """

    type: str
    meaning: str
    source: str = ""


TRIAL_COLUMNS: Mapping[str, Column] = MappingProxyType(
    {
        "run": Column("string", "the run's id"),
        "trial": Column("int64", "number of the trial in the plan, from 0"),
        "model": Column("string", "name of the model", "a.model"),
        "toolset": Column("string", "name of the toolset", "a.toolset"),
        "variant": Column("string", "what is changed about the toolset; empty if nothing", "a.variant"),
        "case_id": Column("string", "the case's id"),
        "cluster": Column("string", "shared by the paraphrases of one task"),
        "kind": Column("string", "what sort of case it is"),
        "epoch": Column("int64", "how often the case was asked before"),
        "finished": Column("string", "when the trial ended, ISO 8601 in UTC"),
        "outcome": Column("string", "what became of it (rule E4)"),
        "scored": Column("bool", "whether it is in the rates: neither error nor context_overflow", "scored"),
        "reason": Column("string", "why, in one sentence"),
        "ending": Column("string", "why the trial ended"),
        "expects_nothing": Column("bool", "calling nothing is right"),
        "covered": Column("bool", "a complete accepted answer could be reached"),
        "surfaced": Column("bool", "it was really offered at some request"),
        "would_dispatch": Column("bool", "only unoffered tools were called, which tiers would have run"),
        "selections": Column("int64", "calls of tools that are no meta-tools"),
        "hits": Column("Int64", "calls made that were asked for"),
        "made": Column("Int64", "calls made, without permitted surplus ones"),
        "wanted": Column("Int64", "calls asked for"),
        "arguments_checked": Column("int64", "calls whose arguments were held against something"),
        "arguments_right": Column("int64", "calls whose arguments are right"),
        "definition_tokens": Column("int64", "tokens of the tool definitions at the first request, own count"),
        "definition_tokens_total": Column("int64", "tokens of the tool definitions over all requests, own count"),
        "own_prompt_tokens": Column("Int64", "prompt tokens over all requests, own count"),
        "prompt_tokens": Column(
            "Int64", "prompt tokens over all answered requests, as reported; nothing where any is not known"
        ),
        "completion_tokens": Column("Int64", "completion tokens over all answered requests, as reported"),
        "cached_read_tokens": Column("Int64", "prompt tokens read from the provider's cache, as reported"),
        "cached_write_tokens": Column("Int64", "prompt tokens written to the provider's cache, as reported"),
        "invalidated_tokens": Column(
            "Int64", "prompt tokens of the prefix that changes of the tool list made uncacheable, own count"
        ),
        "requests": Column("int64", "requests, retries not among them"),
        "retries": Column("int64", "requests asked again"),
        "latency_seconds": Column("float64", "seconds of all answered requests together"),
        "cost_usd": Column("Float64", "US dollars, retries included; nothing where the price is unknown"),
    }
)
"""What a row of the trials says, in the order of the columns."""


def read_trials(connection: sqlite3.Connection, run: str, chunk: int = CHUNK) -> Iterator[pd.DataFrame]:
    """The finished trials of a run, a part at a time, in the order of their numbers; at least one part.

    Args:
        connection: To a file with the tables of `toolbelt.evals.running.schema`.
        run: Its id.
        chunk: Rows of each part at most.
    """
    unscored = ", ".join(f"'{outcome.value}'" for outcome in Outcome if not outcome.is_scored)
    sources = {"": "t.{name}", "scored": f"t.outcome NOT IN ({unscored})"}
    chosen = ", ".join(
        sources.get(column.source, column.source).format(name=name) for name, column in TRIAL_COLUMNS.items()
    )
    # Names and expressions are this module's own.
    cursor = connection.execute(
        f"SELECT {chosen} FROM trials AS t JOIN arms AS a ON a.run = t.run AND a.arm = t.arm "  # noqa: S608
        "WHERE t.run = ? ORDER BY t.trial",
        (run,),
    )
    types = {name: column.type for name, column in TRIAL_COLUMNS.items()}
    rows = cursor.fetchmany(chunk)
    while True:
        yield pd.DataFrame.from_records(rows, columns=[*types]).astype(types)
        rows = cursor.fetchmany(chunk)
        if not rows:
            return


def load_trials(connection: sqlite3.Connection, run: str, chunk: int = CHUNK) -> pd.DataFrame:
    """The finished trials of a run, one a row, with the columns of `TRIAL_COLUMNS`."""
    return pd.concat(list(read_trials(connection, run, chunk)), ignore_index=True)


def write_trials_csv(
    connection: sqlite3.Connection,
    run: str,
    file: IO[str],
    chunk: int = CHUNK,
    advance: Callable[[int], object] | None = None,
) -> None:
    """The trials as CSV, `chunk` of them in memory at once; text that a spreadsheet would run begins with `'`.

    Args:
        connection: To a file with the tables of `toolbelt.evals.running.schema`.
        run: Its id.
        file: Written to.
        chunk: Rows of each part at most.
        advance: Told how many trials are written.
    """
    written = 0
    for frame in read_trials(connection, run, chunk):
        _write_csv(frame, file, with_header=written == 0)
        written += len(frame)
        if advance is not None:
            advance(written)


def arms_frame(summary: RunSummary) -> pd.DataFrame:
    """The arms, one a row: a column for each measure, five for a rate, and one for each outcome."""
    return pd.DataFrame([_arm_row(arm) for arm in summary.arms])


def write_arms_csv(summary: RunSummary, file: IO[str]) -> None:
    """The arms as CSV; text that a spreadsheet would run begins with `'`."""
    _write_csv(arms_frame(summary), file, with_header=True)


def _arm_row(arm: ArmSummary) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for field in fields(arm):
        value = getattr(arm, field.name)
        if isinstance(value, Rate):
            parts = value.to_dict()
            row[field.name] = parts.pop("value")
            row |= {f"{field.name}_{part}": number for part, number in parts.items()}
        elif field.name == "outcomes":
            row |= {f"outcome_{outcome.value}": value.get(outcome.value, 0) for outcome in Outcome}
        else:
            row[field.name] = value
    return row


def _write_csv(frame: pd.DataFrame, file: IO[str], *, with_header: bool) -> None:
    for name in frame.select_dtypes(include=["object", "string"]).columns:
        texts = frame[name].astype("string")
        if (risky := texts.str.match(_FORMULA).fillna(False)).any():
            frame[name] = texts.mask(risky, "'" + texts)
    # With the line ends of RFC 4180 a lone carriage return in a cell is quoted too.
    frame.to_csv(file, index=False, header=with_header, lineterminator="\r\n")
