"""`toolbelt dataset review`, at a terminal and without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.cli.terminal import Terminal
from tests.evals.cases.imports.samples import calling, log, rows, user, write
from tests.wording import mentions

QUESTION = "[q]uit"
CTRL_C = "\x03"


class Review(Terminal):
    command = ("dataset", "review")


@pytest.fixture
def drafts(toolbelt: Toolbelt, project: Path) -> Path:
    """Four drafts of cases, and a reviewed case between them."""
    records = [log(user(f"Mail Bob {number} letters."), calling("send_mail")) for number in range(4)]
    write(project / "log.jsonl", records)
    assert toolbelt("dataset", "import", "log.jsonl", "-o", "mine").code == 0
    lines = (project / "mine" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    reviewed = '{"id":  "own", "query": "Mail Ann.", "expected": [{"tool": "send_mail"}]}'
    (project / "mine" / "cases.jsonl").write_text("\n".join([lines[0], reviewed, *lines[1:]]) + "\n", encoding="utf-8")
    return project / "mine"


def _marked(folder: Path) -> dict[str, bool]:
    return {row["query"]: row.get("draft", False) for row in rows(folder)}


def test_drafts_are_accepted_dropped_and_skipped_one_by_one(drafts: Path) -> None:
    terminal = Review("mine")
    for answer in ("a", "d", "s", "q"):
        terminal.answer(QUESTION, answer)
    assert terminal.finish() == 0, terminal.seen
    assert _marked(drafts) == {
        "Mail Bob 0 letters.": False,
        "Mail Ann.": False,
        "Mail Bob 2 letters.": True,
        "Mail Bob 3 letters.": True,
    }
    assert '{"id":  "own", ' in (drafts / "cases.jsonl").read_text(encoding="utf-8"), "other lines stay as they are"
    dropped: list[Any] = [json.loads(line) for line in (drafts / "dropped.jsonl").read_text().splitlines()]
    assert [row["query"] for row in dropped] == ["Mail Bob 1 letters."]
    assert mentions(terminal.seen, "1 of 4", "send_mail", "1 accepted, 1 dropped, 1 skipped; 2 drafts left")


def test_ctrl_c_keeps_what_was_decided_and_the_next_review_goes_on(drafts: Path) -> None:
    first = Review("mine")
    first.answer(QUESTION, "a")
    first.wait_for("2 of 4")
    first.leave_by(CTRL_C)
    assert first.finish() == 130, first.seen
    assert list(_marked(drafts).values()) == [False, False, True, True, True]
    second = Review("mine")
    second.wait_for("1 of 3")
    assert "Mail Bob 1 letters." in second.seen
    second.answer(QUESTION, "q")
    assert second.finish() == 0


def test_a_changed_draft_is_checked_and_asked_again(drafts: Path) -> None:
    editor = drafts.parent / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/send_mail/$TOOL/; s/Bob 0/Ann 0/" "$1"\n')
    editor.chmod(0o755)
    wrong = Review("mine", EDITOR=str(editor), TOOL="send_male")
    wrong.answer(QUESTION, "c")
    wrong.answer(QUESTION, "q")
    assert wrong.finish() == 0
    assert mentions(wrong.seen, "send_male", "Did you mean", "send_mail", "the draft is as it was")
    assert "Mail Bob 0 letters." in _marked(drafts)
    right = Review("mine", EDITOR=str(editor), TOOL="get_weather")
    right.answer(QUESTION, "c")
    right.answer(QUESTION, "a")
    right.answer(QUESTION, "q")
    assert right.finish() == 0
    row = rows(drafts)[0]
    assert (row["query"], row["expected"], "draft" in row) == ("Mail Ann 0 letters.", [{"tool": "get_weather"}], False)


def test_without_a_terminal_it_says_what_to_do(toolbelt: Toolbelt, drafts: Path) -> None:
    before = (drafts / "cases.jsonl").read_bytes()
    ran = toolbelt("dataset", "review", "mine")
    assert ran.code == 2
    assert mentions(ran.err, "terminal", "4 drafts", "cases.jsonl", '"draft": true')
    assert (drafts / "cases.jsonl").read_bytes() == before


def test_a_dataset_without_drafts_is_reviewed(toolbelt: Toolbelt, drafts: Path) -> None:
    write(drafts / "cases.jsonl", [{"id": "own", "query": "Mail Ann.", "expected": [{"tool": "send_mail"}]}])
    ran = toolbelt("dataset", "review", "mine")
    assert (ran.code, ran.out) == (0, "")
    assert "no drafts" in ran.err
    shipped = toolbelt("dataset", "review", "assistant")
    assert shipped.code == 2
    assert mentions(shipped.err, "comes with toolbelt", "folder of your own")
