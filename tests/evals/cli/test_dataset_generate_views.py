"""How drafts and estimates are shown, whatever they are called."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from tests.evals.drafts.samples import CATALOG, ONE_EACH, make_jobs
from tests.wording import mentions
from toolbelt.evals.cli.dataset_generate_views import (
    drafts_table,
    estimate_data,
    estimate_view,
    notify_summary,
    summary_data,
)
from toolbelt.evals.drafts.folder import DraftFolder
from toolbelt.evals.drafts.generate import DraftEstimate
from toolbelt.evals.drafts.writing import NOT_ASKED, DraftSummary, ShortTool
from toolbelt.render.terminal import render_terminal
from toolbelt.views.blocks import Block

FOLDER = DraftFolder(Path("mine"))


def drawn(*blocks: Block) -> str:
    screen = Console(file=io.StringIO(), width=100)
    return "".join(f"{line.plain}\n" for line in render_terminal(blocks, screen))


def test_E9_kinds_are_shown_the_most_frequent_first() -> None:
    shown = drawn(drafts_table(DraftSummary(kinds=Counter({"near-miss": 1, "single": 1200}))))
    assert [line.split() for line in shown.splitlines() if line.strip()] == [
        ["drafts", "cases"],
        ["single", "1,200"],
        ["near-miss", "1"],
    ]


def test_E9_only_what_was_asked_about_is_told_and_not_without_end(capsys: pytest.CaptureFixture[str]) -> None:
    short = [ShortTool(f"p/t{n}", "Thai", 3, 1, {"too few in the answer": 2}) for n in range(14)]
    short.append(ShortTool("p/late", None, 3, 0, {NOT_ASKED: 1}))
    notify_summary(DraftSummary(cases=28, kinds=Counter(single=28), short=short), FOLDER)
    lines = capsys.readouterr().err.splitlines()
    assert mentions(lines[0], "warning", "p/t0", "Thai", "1 of 3 drafts", "(2)")
    assert mentions(lines[10], "warning", 4, "--json")
    assert not any("late" in line for line in lines)
    assert mentions(lines[-2], "note", "28 cases", "mine/cases.jsonl")


def test_E3_all_that_became_of_lines_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    made = DraftSummary(cases=9, human_lines=1, superseded=2, deleted=3, earlier=4, replaced=5)
    notify_summary(made, FOLDER)
    text = capsys.readouterr().err
    lines = text.splitlines()
    assert any(mentions(line, "note", "1 line of yours") for line in lines)
    assert any(mentions(line, "note", "2 that you changed", "3 that you took out") for line in lines)
    assert any(mentions(line, "note", "4 drafts", "kept") for line in lines)
    assert any(mentions(line, "warning", "5 drafts", "replaced") for line in lines)
    assert "review each" not in text, "nothing was drafted"
    data = summary_data(made)
    assert (data["superseded"], data["deleted"], data["earlier"], data["replaced"]) == (2, 3, 4, 5)


def test_E6_an_estimate_says_what_is_kept_and_what_is_unknown() -> None:
    jobs = make_jobs(ONE_EACH, CATALOG.tools)
    found = DraftEstimate(1, 3, 1234, 90, None)
    shown = " ".join(drawn(*estimate_view(found, jobs, "m\x1b[31m")).split())
    assert mentions(shown, "4 tools", "8 cases", "1 request", "\\x1b[31m", "3 answers", "1,234 prompt")
    data = estimate_data(found, jobs, "m")
    assert (data["dry_run"], data["cases"], data["answered"], data["cost_usd"]) == (True, 8, 3, None)
