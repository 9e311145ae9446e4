"""Trials as rows, and CSV (rule E10)."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas
import pytest
from pyarrow import parquet

from tests.evals.analysis.summary.rows import RUN, database
from tests.evals.views.sample import sample_run
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.views.columns import TRIAL_COLUMNS
from toolbelt.evals.views.frames import (
    arms_frame,
    load_trials,
    read_trials,
    write_arms_csv,
    write_arms_parquet,
    write_trials,
)


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_trial_is_a_row_with_the_documented_columns_and_types() -> None:
    frame = load_trials(sample_run(), RUN, chunk=7)
    assert list(frame.columns) == list(TRIAL_COLUMNS)
    assert all(column.meaning for column in TRIAL_COLUMNS.values())
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        name: column.type for name, column in TRIAL_COLUMNS.items()
    }
    assert len(frame) == 46
    assert frame["trial"].is_monotonic_increasing
    assert frame["trial"].is_unique


def test_rows_agree_with_the_summary() -> None:
    connection = sample_run()
    frame = load_trials(connection, RUN)
    for arm in summarize(connection, RUN).arms:
        rows = frame[(frame.model == arm.model) & (frame.toolset == arm.toolset) & frame.scored]
        assert len(rows) == arm.scored
        assert int(rows.covered.sum()) == arm.coverage.numerator
        assert int((rows.outcome == "correct").sum()) == arm.solved.numerator
        if arm.scored:
            assert float(rows.definition_tokens.mean()) == pytest.approx(arm.definition_tokens)


def test_E6_unknown_tokens_are_empty_cells() -> None:
    connection = database([("m", "tiered", "")], [{"invalidated_tokens": 30}, {"invalidated_tokens": None}])
    file = io.StringIO(newline="")
    write_trials(connection, RUN, file)
    assert [row["invalidated_tokens"] for row in _rows(file.getvalue())] == ["30", ""]


def test_no_part_is_larger_than_asked_for() -> None:
    assert [len(part) for part in read_trials(sample_run(), RUN, chunk=20)] == [20, 20, 6]


def test_a_run_without_trials_has_its_columns_all_the_same() -> None:
    connection = database([("m", "full", "")], [])
    assert list(load_trials(connection, RUN).columns) == list(TRIAL_COLUMNS)
    text = io.StringIO(newline="")
    write_trials(connection, RUN, text)
    assert text.getvalue() == ",".join(TRIAL_COLUMNS) + "\r\n"


def test_E10_the_csv_of_trials_is_the_same_however_it_is_cut() -> None:
    texts = []
    for chunk in (1, 7, 1000):
        file = io.StringIO(newline="")
        write_trials(sample_run(), RUN, file, chunk=chunk)
        texts.append(file.getvalue())
    assert len(set(texts)) == 1
    rows = _rows(texts[0])
    assert len(rows) == 46
    assert {row["prompt_tokens"] for row in rows if row["model"] == "local/bm25"} == {""}
    assert {row["prompt_tokens"] for row in rows if row["model"] == "gpt-4o" and row["scored"] == "True"} == {
        str(3000 + case) for case in range(8)
    }


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_text_becomes_a_formula_of_a_spreadsheet(text: str) -> None:
    connection = database([(text, text, text)], [{"case_id": text, "reason": text, "arguments_checked": 1}])
    trials, arms = io.StringIO(newline=""), io.StringIO(newline="")
    write_trials(connection, RUN, trials)
    write_arms_csv(summarize(connection, RUN), arms)
    for row in (*_rows(trials.getvalue()), *_rows(arms.getvalue())):
        cells: dict[str, Any] = dict(row)
        assert cells["model"] == cells["toolset"] == cells["variant"] == "'" + text
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells.values())


def test_E10_the_csv_of_arms_has_numerators_denominators_and_intervals() -> None:
    summary = summarize(sample_run(), RUN)
    file = io.StringIO(newline="")
    write_arms_csv(summary, file)
    for row, arm in zip(_rows(file.getvalue()), summary.arms, strict=True):
        assert (row["accuracy_numerator"], row["accuracy_denominator"]) == (
            str(arm.accuracy.numerator),
            str(arm.accuracy.denominator),
        )
        assert row["accuracy"] == ("" if arm.accuracy.value is None else str(arm.accuracy.value))
        assert row["accuracy_low"] == ("" if arm.accuracy.low is None else str(arm.accuracy.low))
        assert row["outcome_error"] == str(arm.outcomes.get(Outcome.ERROR, 0))
    assert len(arms_frame(summary)) == len(summary.arms)


def test_E10_parquet_is_written_a_part_at_a_time_with_types_and_what_it_is_of(tmp_path: Path) -> None:
    about = {"schema": "toolbelt.trials/1", "run": RUN}
    with (tmp_path / "t.parquet").open("wb") as file:
        write_trials(sample_run(), RUN, None, file, about=about, chunk=20)
    written = parquet.ParquetFile(tmp_path / "t.parquet")
    assert [written.metadata.row_group(part).num_rows for part in range(written.num_row_groups)] == [20, 20, 6]
    assert {key: written.schema_arrow.metadata[key.encode()].decode() for key in about} == about
    # Whoever has pandas alone gets the same types, and what it is of.
    frame = pandas.read_parquet(tmp_path / "t.parquet")
    assert frame.attrs == about
    assert {name: str(type_) for name, type_ in frame.dtypes.items()} == {
        name: column.type for name, column in TRIAL_COLUMNS.items()
    }
    assert frame.equals(load_trials(sample_run(), RUN))


def test_E10_unknown_figures_of_an_arm_have_a_type_all_the_same(tmp_path: Path) -> None:
    connection = database([("m", "full", "")], [{"outcome": "error"}])
    with (tmp_path / "arms.parquet").open("wb") as file:
        write_arms_parquet(summarize(connection, RUN), file, {"run": RUN})
    types = {field.name: str(field.type) for field in parquet.read_schema(tmp_path / "arms.parquet")}
    assert (types["accuracy"], types["accuracy_numerator"], types["cost_usd"]) == ("double", "int64", "double")
    assert "null" not in types.values()
    kept = parquet.read_schema(tmp_path / "arms.parquet").metadata
    assert kept[b"run"] == RUN.encode(), "whoever reads it without pandas knows what it is of, too"


@pytest.mark.parametrize("text", ["'=1", "''+1", "'-", "'"])
def test_what_is_marked_already_is_marked_again_so_that_one_mark_can_go(text: str) -> None:
    file = io.StringIO(newline="")
    write_trials(database([("m", "full", "")], [{"reason": text}]), RUN, file)
    assert [row["reason"] for row in _rows(file.getvalue())] == ["'" + text if len(text) > 1 else text]
