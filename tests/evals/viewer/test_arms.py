from __future__ import annotations

from toolbelt.evals.viewer.arms import arm_columns, arm_names, outcome_columns, outcome_row, rate_cell

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary


def run(*arms: ArmSummary) -> RunSummary:
    return RunSummary("r", "2026", "finished", "d", "x", arms=arms)


def test_E10_a_rate_stands_with_counts_and_interval() -> None:
    cell = rate_cell(Rate(26, 100, 0.184, 0.354))
    assert (cell.text, cell.counts, cell.interval) == ("26.0%", "26/100", "18.4–35.4")
    assert (cell.order, cell.share, cell.low, cell.high) == (0.26, 0.26, 0.184, 0.354)


def test_what_was_not_counted_is_no_zero() -> None:
    cell = rate_cell(Rate())
    assert (cell.text, cell.order, cell.share) == ("–", None, None)


def test_bars_of_amounts_are_shares_of_the_greatest() -> None:
    arms = [
        ArmSummary("m", name, definition_tokens=tokens) for name, tokens in (("a", 50.0), ("b", 200.0), ("c", None))
    ]
    column = next(one for one in arm_columns(arms) if one.name == "definition tokens")
    assert [cell.share for cell in column.cells] == [0.25, 1.0, None]
    assert [cell.text for cell in column.cells] == ["50", "200", "–"]
    assert [cell.order for cell in column.cells] == [50.0, 200.0, None]


def test_arms_that_look_the_same_are_numbered() -> None:
    assert arm_names(run(ArmSummary("m", "a"), ArmSummary("m", "b"))) == ["a", "b"]
    assert arm_names(run(ArmSummary("m", "a"), ArmSummary("m", "a"))) == ["#1 a", "#2 a"]
    assert arm_names(run(ArmSummary("m", "a"), ArmSummary("n", "a"))) == ["m · a", "n · a"]


def test_outcomes_stand_right_first_and_unscored_last_and_fill_the_bar() -> None:
    arm = ArmSummary("m", "a", outcomes={"error": 1, "wrong_tool": 2, "wrong_arguments": 1, "correct": 4})
    other = ArmSummary("m", "b", outcomes={"context_overflow": 1})
    names = outcome_columns([arm, other])
    assert names == ["correct", "wrong_arguments", "wrong_tool", "context_overflow", "error"]
    row = outcome_row(arm, names)
    assert row["counts"] == [4, 1, 2, 0, 1]
    assert row["parts"] == [
        ("correct", 0.0, 50.0), ("wrong_arguments", 50.0, 12.5), ("wrong_tool", 62.5, 25.0), ("error", 87.5, 12.5),
    ]  # fmt: skip
    assert outcome_row(ArmSummary("m", "c"), names)["parts"] == []
