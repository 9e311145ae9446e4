"""What of an answer can be used, and which queries are alike."""

from __future__ import annotations

from typing import Any

import pytest

from tests.evals.drafts.samples import CATALOG, REFUND
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.drafts.answers import (
    AnswerFault,
    DraftChecker,
    FaultReason,
    ParsedNearMiss,
    ParsedTask,
    normalized_query,
    read_answer,
)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        pytest.param("Undo 17.", "undo  17!", True, id="case-white-space-and-the-end"),
        pytest.param("Undo 17", "Undo 17 …?!", True, id="several-marks-at-the-end"),
        pytest.param("元に戻して。", "元に戻して", True, id="an-end-in-another-writing"),
        pytest.param("2 + 3", "2 - 3", False, id="another-sign-between"),
        pytest.param("Set it to -5.", "Set it to 5.", False, id="another-sign-before"),
        pytest.param("Write C++", "Write C", False, id="signs-at-the-end"),
        pytest.param("Write C#", "Write C", False, id="a-mark-at-the-end-that-ends-nothing"),
        pytest.param("दिन", "दान", False, id="other-vowel-signs"),
        pytest.param("No, 4.", "No 4.", False, id="a-comma-within"),
        pytest.param("caf\u00e9", "cafe\u0301", True, id="the-same-letter-composed"),
        pytest.param("?", "!", False, id="nothing-but-marks"),
    ],
)
def test_E3_only_what_says_the_same_is_there_already(one: str, other: str, alike: bool) -> None:
    assert (normalized_query(one) == normalized_query(other)) is alike


@pytest.mark.parametrize("name", ["none", "Null", " none "])
def test_E3_no_tool_may_be_written_as_a_word(name: str) -> None:
    data = {"near_misses": [{"query": "Sing.", "tool": name}]}
    assert list(DraftChecker(CATALOG).near_misses(data, REFUND)) == [ParsedNearMiss("Sing.", None)]


@pytest.mark.parametrize("name", ["none", "null"])
def test_E3_a_tool_that_is_called_none_is_a_tool(name: str) -> None:
    catalog = Catalog((Plugin("p", (Tool(name, "Does nothing."), Tool("other", "Does."))),))
    data = {"near_misses": [{"query": "Rest.", "tool": name}]}
    checker = DraftChecker(catalog)
    assert list(checker.near_misses(data, catalog.get_tool("other"))) == [ParsedNearMiss("Rest.", f"p/{name}")]
    assert [
        fault.reason for fault in checker.near_misses(data, catalog.get_tool(name)) if isinstance(fault, AnswerFault)
    ] == [FaultReason.SAME_TOOL]


@pytest.mark.parametrize(
    "miss", [{"query": "x", "tool": ""}, {"query": "x", "tool": "  "}, {"query": "x"}, {"query": "x", "tool": 3}, "x"]
)
def test_E3_a_near_miss_says_which_tool_is_right(miss: Any) -> None:
    found = list(DraftChecker(CATALOG).near_misses({"near_misses": [miss]}, REFUND))
    assert found == [AnswerFault(FaultReason.OTHER_FORM, "near miss 1")]


@pytest.mark.parametrize("of", ["1", 1.0, True, None, [1]])
def test_E3_further_wordings_say_of_which_task(of: Any) -> None:
    data = {"tasks": [{"task": of, "queries": ["a", "b"]}]}
    assert list(DraftChecker(CATALOG).tasks(data, CATALOG.get_tool("track"))) == [
        AnswerFault(FaultReason.OTHER_FORM, "task 1", 2)
    ]


def test_E3_further_wordings_and_a_new_task_are_told_apart() -> None:
    data = {"tasks": [{"task": 1, "queries": ["a"]}, {"task": "1", "arguments": {"order": 3}, "queries": ["b"]}]}
    further, new = DraftChecker(CATALOG).tasks(data, REFUND)
    assert isinstance(further, ParsedTask)
    assert isinstance(new, ParsedTask)
    assert (further.of, further.queries) == (1, ("a",))
    assert (new.of, dict(new.arguments), new.queries) == (None, {"order": 3}, ("b",))


def test_E3_a_fault_counts_all_its_drafts() -> None:
    data = {"tasks": [{"arguments": {"order": "x"}, "queries": ["a", "b", "c"]}]}
    (fault,) = DraftChecker(CATALOG).tasks(data, REFUND)
    assert isinstance(fault, AnswerFault)
    assert (fault.reason, fault.drafts) == (FaultReason.BAD_ARGUMENTS, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'As an example:\n```json\n{"order": 17}\n```\nNow:\n```json\n{"tasks": [1]}\n```',
            {"tasks": [1]},
            id="tasks",
        ),
        pytest.param(
            '```\n{"tasks": []}\n```\n```\n{"near_misses": [1]}\n```', {"near_misses": [1]}, id="not-the-empty-one"
        ),
        pytest.param('```\n{"a": 1}\n```\n```\n{"b": 2}\n```', {"a": 1}, id="the-first-where-none-has-any"),
    ],
)
def test_E3_of_several_objects_the_one_with_drafts_is_read(text: str, expected: dict[str, Any]) -> None:
    assert read_answer(text) == expected
