"""A run on the terminal (rule E10)."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.evals.analysis.summary.rows import RUN, database
from tests.evals.views.sample import sample_run
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.views.run import result_view, run_view
from toolbelt.render.terminal import render_terminal

EXPECTED = Path(__file__).parent / "expected"


def _shown(summary: RunSummary, width: int) -> str:
    screen = Console(file=io.StringIO(), width=width, highlight=False)
    return "".join(f"{line.plain.rstrip()}\n" for line in render_terminal(run_view(summary, details=True), screen))


@pytest.mark.parametrize("width", [200, 80])
def test_E10_the_whole_table(width: int) -> None:
    shown = _shown(summarize(sample_run(), RUN), width)
    assert shown == (EXPECTED / f"table-{width}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [200, 120, 80, 60, 40])
def test_E10_no_number_is_cut_however_narrow_the_screen(width: int) -> None:
    summary = summarize(sample_run(), RUN)
    shown = _shown(summary, width)
    assert "…" not in shown
    assert all(len(line) <= width for line in shown.replace("财务", "##%%").splitlines())
    words = re.findall(r"\S+", _shown(summary, 500).split("outcomes")[0])
    figures = {word for word in words if re.search(r"\d[%–/,.]\d|\d%", word)}
    assert len(figures) > 20
    assert figures <= set(re.findall(r"\S+", shown))


def test_E10_what_was_not_measured_is_a_dash() -> None:
    shown = _shown(summarize(database([("m", "full", "")], []), RUN), 200)
    [row] = [line for line in shown.splitlines() if line.startswith("m · full  ") and "/" in line]
    assert row.split()[3:] == ["–"] * 13 + ["0/4"]
    assert "nan" not in shown
    assert "nothing run yet" in shown
    assert "Not run yet: 4 of 4 trials." in shown


@pytest.mark.parametrize(
    ("tokens", "is_shown"), [((None, None), False), ((0, 0), False), ((None, 0), False), ((0, 250), True)]
)
def test_E6_what_changes_invalidate_is_a_column_where_there_were_any(
    tokens: tuple[int | None, int | None], is_shown: bool
) -> None:
    trials = [{"trial": arm, "arm": arm, "invalidated_tokens": count} for arm, count in enumerate(tokens)]
    summary = summarize(database([("m", "full", ""), ("m", "tiered", "")], trials), RUN)
    for width in (200, 40):
        shown = _shown(summary, width)
        assert ("invalid." in shown) == is_shown
        assert ("250" in shown.split()) == is_shown


def test_E10_at_a_glance_the_whole_run_fits_a_small_screen() -> None:
    summary = summarize(sample_run(), RUN)
    screen = Console(file=io.StringIO(), width=80, highlight=False)
    blocks = (*run_view(summary), *result_view(summary))
    shown = "".join(f"{line.plain.rstrip()}\n" for line in render_terminal(blocks, screen))
    assert shown == (EXPECTED / "glance-80.txt").read_text(encoding="utf-8")


def test_E5_abstaining_where_nothing_is_covered_stands_below_the_table() -> None:
    trials = [{"trial": n, "covered": 0, "outcome": "missing_call", "selections": n % 2} for n in range(4)]
    arms = [("m", "full", ""), ("m", "loadout:x", "shuffled")]
    summary = summarize(database(arms, [trial | {"arm": 1} for trial in trials]), RUN)
    shown = _shown(summary, 200)
    said = "Nothing was called where no right answer could be reached: 2 of 4 trials of loadout:x · shuffled."
    assert said in shown.splitlines()
    covered = _shown(summarize(database(arms, [{}]), RUN), 200)
    assert "no right answer" not in covered


def test_E10_escapes_of_a_terminal_are_spelled_out() -> None:
    shown = _shown(summarize(sample_run(), RUN), 200)
    assert "\x1b" not in shown
    assert "loadout:财务\\x1b[31m" in shown


def test_arms_of_interleaved_models_are_named_whole() -> None:
    arms = [("a", "full", ""), ("b", "full", ""), ("a", "tiered", "")]
    shown = _shown(summarize(database(arms, [{}]), RUN), 200)
    assert re.findall(r"^\S.* · \w+", shown, re.MULTILINE) == ["a · full", "b · full", "a · tiered"] * 2
