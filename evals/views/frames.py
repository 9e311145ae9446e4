"""The only module that imports pandas: trials as rows, and CSV and Parquet files of trials, arms and rankers."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import IO

import pandas as pd

from toolbelt.errors import ToolbeltError, suggestion
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.retrieval.retrieval import Retrieval
from toolbelt.evals.retrieval.searches import Measure
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.views.columns import TRIAL_COLUMNS, arm_row, find_type

CHUNK = 20_000
"""Trials in memory at once while a file is written."""
_FORMULA = r"'*[=+\-@\t\r]"
"""A spreadsheet would run text that begins with one of these, so such text gets `'` before it. Text that begins with
`'` and one of these gets another `'`, so that one can always be removed.
"""
_GUARDED = r"'+[=+\-@\t\r]"


def read_trials(connection: sqlite3.Connection, run: str, chunk: int) -> Iterator[pd.DataFrame]:
    """The finished trials of a run in parts, in the order of their numbers; at least one part.

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
    """The finished trials of a run, one per row, with the columns of `TRIAL_COLUMNS`."""
    return pd.concat(list(read_trials(connection, run, chunk)), ignore_index=True)


def write_trials(
    connection: sqlite3.Connection,
    run: str,
    csv: IO[str] | None,
    parquet: IO[bytes] | None = None,
    *,
    about: Mapping[str, str] = MappingProxyType({}),
    chunk: int = CHUNK,
    advance: Callable[[int], object] | None = None,
) -> None:
    """Writes the trials as CSV or Parquet, or both at once, with `chunk` of them in memory at a time.

    Args:
        connection: To a file with the tables of `toolbelt.evals.running.schema`.
        run: Its id.
        csv: Written to; text that a spreadsheet would run begins with `'`.
        parquet: Written to, with the types of `TRIAL_COLUMNS`.
        about: Kept with the latter, under these keys and where pandas looks for a frame's `attrs`.
        chunk: Rows of each part at most.
        advance: Called with the number of trials written.
    """
    written = 0
    with contextlib.ExitStack() as stack:
        add: Callable[[pd.DataFrame], object] | None = None
        for frame in read_trials(connection, run, chunk):
            if parquet is not None:
                add = add or stack.enter_context(_adding_parquet(parquet, frame, about))
                add(frame)
            if csv is not None:
                _write_csv(frame, csv, with_header=written == 0)
            written += len(frame)
            if advance is not None:
                advance(written)


def arms_frame(summary: RunSummary) -> pd.DataFrame:
    """The arms, one a row, with the columns of `toolbelt.evals.views.columns` and their types."""
    frame = pd.DataFrame([arm_row(arm) for arm in summary.arms])
    return frame.astype({name: find_type(name) for name in frame.columns})


def write_arms_csv(summary: RunSummary, file: IO[str]) -> None:
    """The arms as CSV; text that a spreadsheet would run begins with `'`."""
    _write_csv(arms_frame(summary), file, with_header=True)


def write_retrieval_csv(retrieval: Retrieval, file: IO[str]) -> None:
    """Recall at each k, MRR and nDCG@10 of each ranker as CSV, a row for each mean, also by group.

    Text that a spreadsheet would run begins with `'`.
    """
    rows: list[dict[str, object]] = []
    for ranker in retrieval.rankers:
        about: dict[str, object] = {"dataset": ranker.dataset, "rank": ranker.rank}
        means = {f"recall_at_{point.k}": point.recall for point in ranker.curve}
        means |= {measure.value: ranker.get(measure) for measure in Measure}
        rows += [{**about, "by": None, "group": None, "measure": name, **asdict(mean)} for name, mean in means.items()]
        for group in ranker.groups:
            means = {measure.value: getattr(group, measure.value) for measure in Measure}
            about |= {"by": retrieval.grouped_by, "group": group.name}
            rows += [{**about, "measure": name, **asdict(mean)} for name, mean in means.items()]
    _write_csv(pd.DataFrame(rows), file, with_header=True)


def _write_csv(frame: pd.DataFrame, file: IO[str], *, with_header: bool) -> None:
    for name in frame.select_dtypes(include=["object", "string"]).columns:
        texts = frame[name].astype("string")
        if (risky := texts.str.match(_FORMULA).fillna(False)).any():
            frame[name] = texts.mask(risky, "'" + texts)
    # With the line ends of RFC 4180 a lone carriage return in a cell is quoted too.
    frame.to_csv(file, index=False, header=with_header, lineterminator="\r\n")


@contextlib.contextmanager
def _adding_parquet(
    file: IO[bytes], first: pd.DataFrame, about: Mapping[str, str]
) -> Iterator[Callable[[pd.DataFrame], object]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    metadata = {**about, "PANDAS_ATTRS": json.dumps(dict(about))}
    schema = pa.Schema.from_pandas(first, preserve_index=False)
    added = {key.encode(): text.encode() for key, text in metadata.items()}
    schema = schema.with_metadata({**schema.metadata, **added})
    with pq.ParquetWriter(file, schema) as writer:
        yield lambda frame: writer.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False))


def write_arms_parquet(summary: RunSummary, file: IO[bytes], about: Mapping[str, str]) -> None:
    """The arms as Parquet, with the columns of `arms_frame`; `about` as in `write_trials`."""
    frame = arms_frame(summary)
    with _adding_parquet(file, frame, about) as add:
        add(frame)


# Reading


def read_trials_parquet(path: Path) -> pd.DataFrame:
    """The trials of a file that `write_trials` wrote, with the facts stored about them as `attrs`.

    Raises:
        ToolbeltError: it is no such file.
    """
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
        _require_columns(frame.columns, path)
        return frame.astype(_types())
    except ValueError as error:  # pyarrow's own are among them
        raise _no_trials(path, error) from None


def read_trials_csv(path: Path) -> pd.DataFrame:
    """The trials of a file that `write_trials` wrote, with the same values and types.

    Raises:
        ToolbeltError: it is no such file.
    """
    types = _types()
    fractions = [name for name, type_ in types.items() if type_.lower() == "float64"]
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            _require_columns(pd.read_csv(file, dtype=str, nrows=0).columns, path)
            file.seek(0)
            frame = pd.read_csv(
                file,
                # Not every release of pandas reads a fraction to the last bit.
                dtype=types | dict.fromkeys(fractions, "string"),
                # An empty text is a text, and so is "NA"; an empty number is none.
                keep_default_na=False,
                na_values={name: [""] for name, type_ in types.items() if type_ != "string"},
            )
        for name in fractions:
            numbers = [None if pd.isna(text) else float(text) for text in frame[name]]
            frame[name] = pd.array(numbers, dtype="Float64").astype(types[name])
    except ValueError as error:  # pandas' own are among them
        raise _no_trials(path, error) from None
    for name in (name for name, type_ in types.items() if type_ == "string"):
        if (guarded := frame[name].str.match(_GUARDED)).any():
            frame[name] = frame[name].mask(guarded, frame[name].str.slice(1))
    return frame


def _types() -> dict[str, str]:
    return {name: column.type for name, column in TRIAL_COLUMNS.items()}


def _require_columns(columns: Iterable[str], path: Path) -> None:
    names = list(columns)
    if missing := [name for name in TRIAL_COLUMNS if name not in names]:
        near = suggestion(missing[0], names)
        raise ToolbeltError(
            f"{str(path)!r} is no file of trials: it has no column {missing[0]!r}.{near} "
            "Another version of toolbelt may have written it; write it again with: toolbelt eval export"
        )


def _no_trials(path: Path, error: Exception) -> ToolbeltError:
    return ToolbeltError(f"{str(path)!r} is no file of trials, or is damaged: {str(error)[:200].rstrip('.')}.")
