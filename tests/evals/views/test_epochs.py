"""How often a case is right that is asked several times, as people read it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.evals.analysis.summary.rows import RUN, database
from toolbelt.console.screen import show_view
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.views.epochs import MEANING, epoch_lines
from toolbelt.evals.views.frames import arms_frame
from toolbelt.evals.views.markdown import report_markdown
from toolbelt.evals.views.table import summary_view

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


def test_E10_below_the_table_on_the_terminal_and_in_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Console(file=io.StringIO(), width=200, highlight=False)
    show_view(summary_view(summary(), screen), screen)
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if "pass@" in line] == LINES
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
