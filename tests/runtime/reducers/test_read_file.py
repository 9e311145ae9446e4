"""Files that were read whole (rule R5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolbelt.runtime.reducers.read_file import MAX_CHARS, ReadFileReducer
from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.results import ToolResult

FILE = "".join(f"line {number}\n" for number in range(1, 501))


def reduce(value: str, args: dict[str, Any] | None = None, structured: Any = None) -> str:
    result = ToolResult(True, value, structured=structured)
    return ReadFileReducer().reduce(result, ReduceInfo(args or {"path": "a.txt"})).value


def test_R5_a_whole_file_becomes_its_size_and_200_lines() -> None:
    note, *lines = reduce(FILE).split("\n")
    size = f"500 lines, {len(FILE):,} characters in all"
    assert note == f"[reduced: {size}; lines 1-200 shown; ask for a range of lines to read the rest]"
    assert lines == [f"line {number}" for number in range(1, 201)]


@pytest.mark.parametrize(
    ("count", "width", "stays"),
    [
        pytest.param(200, 100, True, id="200-lines-stay"),
        pytest.param(210, 100, False, id="more-do-not"),
        pytest.param(201, 10, True, id="a-note-longer-than-what-it-stands-for-is-none"),
        pytest.param(0, 0, True, id="empty"),
    ],
)
@pytest.mark.parametrize("end", ["\n", ""])
def test_R5_what_is_small_stays(count: int, width: int, stays: bool, end: str) -> None:
    text = "\n".join(["x" * width] * count) + end
    assert (reduce(text) == text) == stays


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"line_start": 1, "line_end": 300}, id="both-sides"),
        pytest.param({"lineStart": 7, "lineEnd": None}, id="one-side"),
        pytest.param({"end_line": 400}, id="the-other-side"),
        pytest.param({"offset": 0, "limit": 400}, id="from-0"),
        pytest.param({"range": "1-400"}, id="text"),
        pytest.param({"view_range": [1, -1]}, id="pair"),
        pytest.param({"lines": {"from": 1, "to": None}}, id="object"),
        pytest.param({"ranges": [[1, 400]]}, id="pairs"),
        pytest.param({"startline": 7, "ENDLINE": 400}, id="in-one-word"),
        pytest.param({"start_line_one_indexed": 7}, id="with-more-words"),
        pytest.param({"line": 300}, id="around-a-line"),
        pytest.param({"page": 2}, id="a-page"),
    ],
)
def test_R5_a_part_that_was_asked_for_stays(args: dict[str, Any]) -> None:
    assert reduce(FILE, args) == FILE


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"lineStart": None, "lineEnd": None}, id="explicit-nulls"),
        pytest.param({"range": [None, None]}, id="pair-of-nulls"),
        pytest.param({"view_range": []}, id="empty-pair"),
        pytest.param({"range": ""}, id="empty-text"),
        pytest.param({"lines": {"from": None}}, id="object-of-nulls"),
        pytest.param({"line_start": "null"}, id="null-spelled-out"),
        pytest.param({"offset": 0}, id="offset-0-is-the-beginning"),
        pytest.param({"limit": 0}, id="limit-0-is-no-limit"),
        pytest.param({"lines": True}, id="yes-is-no-range"),
        pytest.param({"lines": "all"}, id="all-is-no-range"),
        pytest.param({"path": "start", "timeline": 3}, id="other-arguments"),
        pytest.param({"line_length": 80, "max_chars": 9_000}, id="how-long-is-not-which"),
        pytest.param({"line_ending": "lf", "line_numbers": True}, id="how-is-not-which"),
    ],
)
def test_R5_what_says_nothing_is_no_range(args: dict[str, Any]) -> None:
    assert reduce(FILE, args).count("\n") == 200


def test_R5_it_says_how_this_tool_is_asked_for_a_part() -> None:
    assert "give lineStart and lineEnd to read" in reduce(FILE, {"lineStart": None, "lineEnd": None})
    assert "ask for a range of lines" in reduce(FILE, {"line_numbers": True, "line_ending": "lf"})


def test_R5_one_very_long_line_is_cut_within() -> None:
    made = reduce("x" * 1_000_000)
    assert made.startswith("[reduced: 1 line, 1,000,000 characters in all; line 1 shown, ")
    assert made.endswith("x[... 976,000 characters left out]")
    assert made.count("x") == MAX_CHARS


def test_R5_a_long_line_does_not_hide_those_after_it() -> None:
    made = reduce("head\n" + "x" * 1_000_000 + "\ntail\n")
    assert made.split("\n")[1] == "head"
    assert made.split("\n")[3] == "tail"
    assert made.count("x") == MAX_CHARS // 3


def test_R5_many_long_lines_are_bounded_too() -> None:
    made = reduce(("y" * 5_000 + "\n") * 200)
    assert MAX_CHARS - 2_000 < made.count("y") <= MAX_CHARS
    assert "lines 1-23 shown, long ones up to 1,000 characters" in made


def test_R5_a_tool_that_returns_an_object_has_its_content_cut() -> None:
    document = {"path": "a.txt", "content": FILE}
    made = json.loads(reduce(json.dumps(document), structured=document))
    assert made["path"] == "a.txt"
    assert made["content"].startswith("[reduced: 500 lines")


def test_R5_a_json_file_is_a_text_as_any_other() -> None:
    text = json.dumps({"content": "x\n" * 50_000})
    assert reduce(text, structured=None).startswith("[reduced: 1 line")
