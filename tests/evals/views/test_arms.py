"""The arms of a run as a table of values (rule E10)."""

from __future__ import annotations

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.viewer.sections import outcome_row
from toolbelt.evals.views.arms import arm_names, arms_table, coverage_table, outcome_columns
from toolbelt.views.cells import Cell, Count, Dollars, Proportion, Tokens


def run(*arms: ArmSummary) -> RunSummary:
    return RunSummary("r", "2026", "finished", "d", "x", arms=arms)


def cells(arm: ArmSummary) -> dict[str, Cell]:
    table = arms_table(run(arm))
    return {column.name: cell for column, cell in zip(table.columns, table.rows[0].cells, strict=True)}


def test_E10_each_measure_is_a_cell_of_its_kind() -> None:
    shown = cells(
        ArmSummary(
            "m",
            "a",
            planned=100,
            scored=96,
            accuracy=Rate(26, 100, 0.184, 0.354),
            definition_tokens=50.0,
            prompt_tokens=60.0,
            prompt_tokens_reported=False,
            cost_usd=0.5,
        )
    )
    assert shown["accuracy"] == Proportion(0.26, 0.184, 0.354, 26, 100)
    assert shown["definition tokens"] == Tokens(50.0)
    assert shown["prompt tokens"] == Tokens(60.0, is_estimate=True)
    assert shown["cost per trial"] == Dollars(0.5)
    assert shown["scored / planned"] == Count(96, 100)


def test_what_was_not_counted_is_no_zero() -> None:
    assert cells(ArmSummary("m", "a"))["accuracy"] == Proportion(None)


def test_every_column_says_what_it_means() -> None:
    assert all(column.meaning.endswith(".") for column in arms_table(run(ArmSummary("m", "a"))).columns)


def test_coverage_and_selection_stand_beside_the_accuracy_they_make() -> None:
    arm = ArmSummary("m", "a", accuracy=Rate(2, 4), coverage=Rate(3, 4), selection_given_coverage=Rate(2, 3))
    table = coverage_table(run(arm))
    assert [column.name for column in table.columns] == ["coverage", "selection", "accuracy"]
    assert [(cell.numerator, cell.denominator) for cell in table.rows[0].cells if isinstance(cell, Proportion)] == [
        (3, 4),
        (2, 3),
        (2, 4),
    ]


def test_arms_that_look_the_same_are_numbered() -> None:
    assert arm_names(run(ArmSummary("m", "a"), ArmSummary("m", "b"))) == ["a", "b"]
    assert arm_names(run(ArmSummary("m", "a"), ArmSummary("m", "a"))) == ["#1 a", "#2 a"]
    assert arm_names(run(ArmSummary("m", "a"), ArmSummary("n", "a"))) == ["m · a", "n · a"]


def test_outcomes_stand_right_first_and_unscored_last_and_fill_the_bar() -> None:
    arm = ArmSummary(
        "m", "a", outcomes={Outcome.ERROR: 1, Outcome.WRONG_TOOL: 2, Outcome.WRONG_ARGUMENTS: 1, Outcome.CORRECT: 4}
    )
    other = ArmSummary("m", "b", outcomes={Outcome.CONTEXT_OVERFLOW: 1})
    names = outcome_columns([arm, other])
    assert names == ["correct", "wrong_arguments", "wrong_tool", "context_overflow", "error"]
    row = outcome_row(arm, names)
    assert row["counts"] == [4, 1, 2, 0, 1]
    assert row["parts"] == [
        ("correct", 0.0, 50.0), ("wrong_arguments", 50.0, 12.5), ("wrong_tool", 62.5, 25.0), ("error", 87.5, 12.5),
    ]  # fmt: skip
    assert outcome_row(ArmSummary("m", "c"), names)["parts"] == []
