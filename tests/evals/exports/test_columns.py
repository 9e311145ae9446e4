"""`docs/data.md` says just what the tables hold."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from tests.evals.analysis.summary.rows import RUN, database
from tests.evals.exports.columns import arm_columns, trial_columns
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.scoring.outcome import Ending, Outcome
from toolbelt.evals.views.columns import AMOUNTS, BOUNDS, OUTCOMES, PASSING, RATES, TRIAL_COLUMNS, find_type
from toolbelt.evals.views.frames import arms_frame

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", [trial_columns(), arm_columns()], ids=["trials", "arms"])
def test_E10_the_columns_are_documented_to_the_letter(table: str) -> None:
    assert f"\n\n{table}\n\n" in PAGE, f"docs/data.md has to say:\n{table}"


def test_every_outcome_and_ending_is_explained() -> None:
    explained = PAGE.partition("`outcome` is the first of these")[2].partition("\n\n")[0]
    outcomes, _, endings = explained.partition("`ending` is one of")
    assert set(re.findall("`([a-z_]+)`", outcomes)) == {outcome.value for outcome in Outcome}
    assert set(re.findall("`([a-z_]+)`", endings)) == {ending.value for ending in Ending}


def test_what_the_store_keeps_of_a_trial_is_a_column() -> None:
    """But for the number of the arm, whose names are there."""
    assert {field.name for field in fields(TrialRecord)} - set(TRIAL_COLUMNS) == {"arm"}


def test_every_column_has_a_meaning_and_every_number_a_unit() -> None:
    columns = {**TRIAL_COLUMNS, **AMOUNTS, **RATES, **PASSING, **OUTCOMES}
    assert all(column.meaning and "|" not in column.meaning for column in columns.values())
    numbers = {name for name, column in columns.items() if column.type.lower().startswith(("int", "float"))}
    assert {name for name in numbers if not columns[name].unit} == {"trial"}, "a number of a trial counts nothing"
    assert not [name for name in set(columns) - numbers if columns[name].unit]


def test_a_table_of_arms_has_the_documented_columns_and_types() -> None:
    trials = [{"case_id": "c0", "epoch": epoch} for epoch in range(3)]
    summary = summarize(database([("local/bm25", "full", "")], trials, plan={"epochs": 3, "cases": 1}), RUN)
    frame = arms_frame(summary)
    documented = {*AMOUNTS, *RATES, *OUTCOMES, *(f"{rate}_{part}" for rate in RATES for part in BOUNDS)}
    assert set(frame.columns) - documented == {f"{name}_{k}" for name in PASSING for k in (1, 2, 3)}
    assert documented <= set(frame.columns)
    # pandas has a name of its own for a column of texts.
    assert [(name, str(type_)) for name, type_ in frame.dtypes.items()] == [(n, find_type(n)) for n in frame.columns]
    with pytest.raises(KeyError):
        find_type("pass_mark_2")
