"""What a user asks for, cut into the things asked for."""

from __future__ import annotations

import pytest

from toolbelt.evals.models.local.call_planning import MOST_CLAUSES, split_clauses, split_sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("Read it. Close it!", ["Read it.", "Close it!"], id="sentences"),
        pytest.param("Read it, then close it", ["Read it", "close it"], id="then"),
        pytest.param("Read it and then close it", ["Read it", "close it"], id="and-then"),
        pytest.param("1. Read it\n2) Close it\n- Go", ["Read it", "Close it", "Go"], id="lists"),
        pytest.param("Read it; close it", ["Read it", "close it"], id="semicolons"),
        pytest.param("打开文件。关闭它。", ["打开文件。", "关闭它。"], id="chinese"),
        pytest.param('Say "Stop. Then go." to it', ['Say "Stop. Then go." to it'], id="quotes-stay-whole"),
        pytest.param("Pay 2.50 at example.com", ["Pay 2.50 at example.com"], id="points-within-words"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert split_sentences(text) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("read a and close b", ["read a", "close b"]),
        ("read a, close b, and go", ["read a", "close b", "go"]),
        ('say "a and b" and go', ['say "a and b"', "go"]),
        ("sandy band", ["sandy band"]),
    ],
)
def test_clauses(text: str, parts: list[str]) -> None:
    assert split_clauses(text) == parts


def test_there_is_an_end_to_it() -> None:
    assert len(split_sentences("Go. " * 1000)) == MOST_CLAUSES
