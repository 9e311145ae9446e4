"""What a reader is told below the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.evals.analysis.summary.rows import RUN, database
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.views.figures import MEANING, epoch_lines, status_lines, uncovered_line
from toolbelt.evals.views.frames import arms_frame
from toolbelt.evals.views.run import run_view
from toolbelt.evals.views.run_markdown import report_markdown
from toolbelt.views.blocks import Listing, Note
from toolbelt.views.cells import Span


def _run(*arms: ArmSummary, **changes: Any) -> RunSummary:
    return replace(RunSummary("r", "2026-03-01", "finished", "d", "sha256:0", arms=arms), **changes)


def test_V9_what_a_models_name_stood_for_and_that_it_goes_is_told_in_words() -> None:
    going = {"deprecation_date": "2026-04-01", "successor": "new"}
    known = {"oak-latest": {"alias_of": "oak-1"}, "old": going, "later": {"deprecation_date": "2027-04-01"}}
    assert status_lines(_run(model_facts={**known, "gone": {"deprecation_date": "2025-04-01"}})) == [
        "oak-latest stands for oak-1.",
        "old is switched off on 2026-04-01; its successor is new.",
        "gone was switched off on 2025-04-01.",
    ]


@pytest.mark.parametrize(
    ("status", "reason", "told"),
    [
        pytest.param("finished", "", [], id="nothing-to-tell"),
        pytest.param("finished", "went on twice", ["went on twice."], id="a-reason-beside"),
        pytest.param("running", "", ["This run is still running."], id="running"),
        pytest.param(
            "killed", "", ["This run is not finished: it was killed, and nobody works on it."], id="nobody-works-on-it"
        ),
        pytest.param("interrupted", "Ctrl-C", ["This run is interrupted: Ctrl-C."], id="interrupted"),
        pytest.param("incomplete", "", ["This run is incomplete."], id="incomplete"),
    ],
)
def test_E8_the_status_is_told_in_words(status: str, reason: str, told: list[str]) -> None:
    assert status_lines(_run(status=status, reason=reason)) == told


@pytest.mark.parametrize(
    ("reported", "lines"),
    [
        pytest.param((4, 4), [], id="all"),
        pytest.param((0, 4), ["~ marks prompt tokens counted here, as the provider reported none."], id="one-arm-none"),
        pytest.param(
            (1, 4),
            [
                "1 of 4 scored trials of full reported their prompt tokens.",
                "~ marks prompt tokens counted here, as the provider did not report those of every trial.",
            ],
            id="some",
        ),
    ],
)
def test_E6_it_is_told_how_many_trials_reported_their_tokens(reported: tuple[int, int], lines: list[str]) -> None:
    trials: list[Mapping[str, Any]] = [
        {"trial": 4 * arm + n, "arm": arm, "case_id": f"c{n}", "prompt_tokens": 83 if n < some else None}
        for arm, some in enumerate(reported)
        for n in range(4)
    ]
    summary = summarize(database([("m", "full", ""), ("m", "tiered", "")], trials), RUN)
    assert status_lines(summary) == lines
    tokens = [arm.prompt_tokens for arm in summary.arms]
    assert tokens == [83 if some == 4 else 150 for some in reported]


@pytest.mark.parametrize(
    ("toolset", "roleless", "lines"),
    [
        pytest.param("loadout", 3, ["3 cases have no role; `loadout` shows them the whole catalog."], id="several"),
        pytest.param("loadout", 1, ["1 case has no role; `loadout` shows it the whole catalog."], id="one"),
        pytest.param("loadout", 0, [], id="none"),
        pytest.param("loadout", None, [], id="a-run-of-before"),
        pytest.param("loadout:developer", 3, [], id="a-named-loadout-needs-no-role"),
    ],
)
def test_E1_cases_without_a_role_are_told_where_the_role_decides(
    toolset: str, roleless: int | None, lines: list[str]
) -> None:
    settings = {} if roleless is None else {"without_role": roleless}
    assert status_lines(_run(ArmSummary("m", "full"), ArmSummary("m", toolset), settings=settings)) == lines


def test_E1_the_cases_that_show_fewer_distractors_are_reported() -> None:
    arms = [ArmSummary("m", "oracle+9", distractors_reached=count) for count in (40, 12)]
    assert status_lines(_run(arms[0], ArmSummary("m", "full"), cases=40)) == []
    assert status_lines(_run(arms[1], arms[1], cases=40)) == [
        "oracle+9 shows all its distractors in 12 of 40 cases; the others have fewer in `offered`, and show those."
    ]


def test_E5_arms_in_which_all_is_covered_are_not_named() -> None:
    some = ArmSummary("m", "loadout:x", abstained_uncovered=Rate(1, 1, 0.2, 1))
    other = ArmSummary("n", "tiered", "shuffled", abstained_uncovered=Rate(0, 1200, 0, 0.01))
    assert uncovered_line(_run(ArmSummary("m", "full"))) is None
    assert uncovered_line(_run(ArmSummary("m", "full"), some, other)) == (
        "Nothing was called where no right answer could be reached: "
        "1 of 1 trial of m · loadout:x; 0 of 1,200 trials of n · tiered · shuffled."
    )


def test_E5_of_many_arms_those_where_it_happened_most_often_are_named_and_the_rest_counted() -> None:
    arms = [
        ArmSummary("m", f"loadout:{count}", abstained_uncovered=Rate(count, 60, 0, 1)) for count in (4, 9, 1, 7, 7, 2)
    ]
    assert uncovered_line(_run(*arms[:4])) == (
        "Nothing was called where no right answer could be reached: 4 of 60 trials of loadout:4; "
        "9 of 60 trials of loadout:9; 7 of 60 trials of loadout:7; and of 1 other."
    )
    assert (uncovered_line(_run(*arms)) or "").endswith("; and of 3 others.")


ARMS = [("m", "full", ""), ("m", "tiered|x", ""), ("m", "oracle", "")]
LINES = [
    MEANING,
    "full: pass@1,2,3: 50.0% 66.7% 75.0%; pass^1,2,3: 50.0% 33.3% 25.0%",
    "tiered|x: pass@1,2,3: 50.0% 100.0% –; pass^1,2,3: 50.0% 0.0% – (of 4 cases 1 at k=1, 1 at k=2, 0 at k=3)",
]


def summary(epochs: int = 3) -> RunSummary:
    """The first arm has a case that is always right, one that never is and two of either kind; the last has nothing."""
    ended = {("c0", epoch): "correct" for epoch in range(3)}
    ended |= {("c1", epoch): "wrong_tool" for epoch in range(3)}
    ended |= {("c2", epoch): "correct" if epoch else "wrong_tool" for epoch in range(3)}
    ended |= {("c3", epoch): "wrong_tool" if epoch else "correct" for epoch in range(3)}
    rows = [
        {"case_id": case, "cluster": case, "epoch": epoch, "outcome": outcome}
        for (case, epoch), outcome in ended.items()
    ]
    rows += [
        {"arm": 1, "case_id": "c0", "cluster": "c0", "epoch": epoch, "outcome": outcome}
        for epoch, outcome in enumerate(["correct", "wrong_tool", "error"])
    ]
    return summarize(database(ARMS, rows, planned=12, plan={"epochs": epochs}), RUN)


def test_E7_a_line_an_arm() -> None:
    assert epoch_lines(summary()) == LINES
    assert epoch_lines(summary(epochs=1)) == []


def test_E10_below_the_table_on_the_terminal_and_in_markdown() -> None:
    blocks = run_view(summary(), details=True)
    assert Note(LINES[0]) in blocks
    assert Listing(tuple(map(Span, LINES[1:]))) in blocks
    text = report_markdown(summary())
    results = text.split("## Results")[1].split("## Outcomes")[0]
    assert [line for line in results.splitlines() if line.startswith("- ")] == [
        "- " + line.replace("|", "\\|") for line in LINES
    ]
    assert "pass@" not in report_markdown(summary(epochs=1))


def test_E10_a_column_for_each_k_in_the_table_of_arms() -> None:
    frame = arms_frame(summary())
    assert frame["pass_at_2"].tolist()[:2] == [pytest.approx(2 / 3), 1.0]
    assert frame["pass_all_2"].tolist()[:2] == [pytest.approx(1 / 3), 0.0]
    assert frame["pass_cases_3"].tolist() == [4, 0, 0]
