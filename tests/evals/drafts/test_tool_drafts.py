"""What becomes of a model's answers: drafts, faults with their reasons, and a second request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.drafts.samples import CATALOG, TWO_EACH, make_drafting, said
from tests.wording import mentions
from toolbelt.evals.cases.own_layout import parse_own_case
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.evals.drafts.answers import FaultReason, read_answer
from toolbelt.evals.drafts.jobs import DraftQuota
from toolbelt.evals.drafts.tool_drafts import ModelAnswer, ToolDrafts, case_rows, states_value

ORDER = {"order": 17}
GOOD = [
    (ORDER, ["Give order 17 its money back.", "17 wants a refund."]),
    ({"order": 4}, ["Order 4: undo it.", "no 4!"]),
]
MISS = [("Send a bill for order 17.", "invoice")]


def taken(*answers: str, quota: DraftQuota = TWO_EACH) -> ToolDrafts:
    drafts = make_drafting(quota)
    for answer in answers:
        assert drafts.messages is not None
        drafts.add_answer(ModelAnswer(answer))
    return drafts


def test_E3_a_whole_answer_needs_no_second_request() -> None:
    drafts = taken(said(GOOD, MISS))
    assert (drafts.messages, drafts.missing, drafts.refused) == (None, 0, {})
    assert [(dict(task.arguments), task.queries) for task in drafts.tasks] == GOOD
    assert [(miss.query, miss.tool) for miss in drafts.near_misses] == [(MISS[0][0], "till/invoice")]


@pytest.mark.parametrize(
    ("tasks", "misses", "reason"),
    [
        pytest.param([(ORDER, [None])], [], FaultReason.NO_TEXT, id="query-is-no-text"),
        pytest.param([(ORDER, ["  "])], [], FaultReason.NO_TEXT, id="blank-query"),
        pytest.param([(ORDER, ["x" * 5000])], [], FaultReason.TOO_LONG, id="endless-query"),
        pytest.param([(ORDER, ["Order \x1b[31m17"])], [], FaultReason.UNPRINTABLE, id="terminal-escape"),
        pytest.param([(ORDER, ["Use PAY_BACK on 17."])], [], FaultReason.NAMES_TOOL, id="names-its-tool"),
        pytest.param([], [("Call send_letter.", "send_letter")], FaultReason.NAMES_TOOL, id="names-the-right-tool"),
        pytest.param([], [("Not pay_back, please.", None)], FaultReason.NAMES_TOOL, id="near-miss-names-the-lure"),
        pytest.param([(ORDER, ["Undo 17.", "undo 17!"])], [], FaultReason.REPEATED, id="the-same-words"),
        pytest.param([({"order": "x"}, ["Undo x."])], [], FaultReason.BAD_ARGUMENTS, id="wrong-type"),
        pytest.param([({}, ["Undo it."])], [], FaultReason.BAD_ARGUMENTS, id="required-one-missing"),
        pytest.param([({**ORDER, "to": 1}, ["Undo 17."])], [], FaultReason.BAD_ARGUMENTS, id="undescribed-argument"),
        pytest.param([([17], ["Undo 17."])], [], FaultReason.BAD_ARGUMENTS, id="arguments-are-a-list"),
        pytest.param([], [("Bill 17.", "invioce")], FaultReason.UNKNOWN_TOOL, id="unknown-tool"),
        pytest.param([], [("Undo 17.", "till/pay_back")], FaultReason.SAME_TOOL, id="the-tool-itself"),
        pytest.param([], [("Bill 17.", ["invoice"])], FaultReason.OTHER_FORM, id="tool-is-a-list"),
        pytest.param([], [("a", None), ("b", None)], FaultReason.SURPLUS, id="more-near-misses-than-asked-for"),
        pytest.param([*GOOD, (ORDER, ["One more."])], [], FaultReason.SURPLUS, id="more-tasks-than-asked-for"),
    ],
)
def test_E3_an_invalid_draft_is_counted_by_its_reason(tasks: Any, misses: Any, reason: FaultReason) -> None:
    drafts = taken(said(tasks, misses))
    assert drafts.refused == {reason: 1}
    assert drafts.messages is not None, "it is asked for again"
    drafts.add_answer(ModelAnswer(said(tasks, misses)))
    assert drafts.messages is None, "and only once"


def test_E3_the_second_request_says_what_is_wrong_and_what_is_wanted() -> None:
    first = said([(ORDER, ["Undo 17.", "Use pay_back."])], [("Bill 17.", "nothing")])
    drafts = taken(first)
    assert drafts.messages is not None
    *_, repeated, told = drafts.messages
    assert repeated == {"role": "assistant", "content": first}
    text = told["content"]
    assert mentions(text, "Use pay_back.", "names the tool")
    assert mentions(text, "'nothing'", "unknown tool")
    assert mentions(text, "1 more in `tasks`", "2 in `queries`")
    assert mentions(text, "1 more", "Undo 17.", "same values")
    second = {
        "tasks": [
            {"task": 1, "queries": ["Reverse order 17."]},
            {"arguments": {"order": 5}, "queries": ["5 back.", "Five (5) is to be paid back."]},
            {"task": 9, "queries": ["Nowhere."]},
        ],
        "near_misses": [{"query": "Bill 17.", "tool": "invoice"}],
    }
    drafts.add_answer(ModelAnswer(json.dumps(second)))
    assert drafts.missing == 0
    assert drafts.tasks[0].queries == ["Undo 17.", "Reverse order 17."]
    assert drafts.refused == {FaultReason.NAMES_TOOL: 1, FaultReason.UNKNOWN_TOOL: 1, FaultReason.OTHER_FORM: 1}


@pytest.mark.parametrize(
    ("first", "second", "reasons"),
    [
        pytest.param("Sorry?", "<html>", {FaultReason.NO_JSON: 2}, id="no-json"),
        pytest.param("[1, 2]", '{"tasks": [', {FaultReason.NO_JSON: 2}, id="no-object-and-torn"),
        pytest.param("{}", "{}", {FaultReason.TOO_FEW: 5}, id="nothing-in-it"),
        pytest.param(
            '{"tasks": {}}', '{"tasks": [1]}', {FaultReason.OTHER_FORM: 1, FaultReason.TOO_FEW: 4}, id="other-forms"
        ),
        pytest.param("", "", {FaultReason.NO_JSON: 2}, id="silence"),
    ],
)
def test_E3_answers_that_say_nothing(first: str, second: str, reasons: dict[FaultReason, int]) -> None:
    drafts = taken(first, second)
    assert (drafts.messages, drafts.drafted) == (None, 0)
    assert drafts.refused == reasons


@pytest.mark.parametrize(
    ("failure", "reason"), [("refused", FaultReason.REFUSED), ("context_overflow", FaultReason.OVERFLOW)]
)
def test_E4_what_asking_again_would_not_mend_is_not_asked_again(failure: str, reason: FaultReason) -> None:
    drafts = make_drafting()
    drafts.add_answer(ModelAnswer(failure=failure))
    assert (drafts.messages, drafts.refused) == (None, {reason: 1})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1}', id="bare"),
        pytest.param('```json\n{"a": 1}\n```', id="fenced"),
        pytest.param('Here it is:\n```\n{"a": 1}\n```\nGood luck!', id="fenced-with-words"),
        pytest.param('Here: {"a": 1}. Good luck!', id="words-around"),
        pytest.param('<think>{"b": 2} or so</think>\n{"a": 1}', id="thoughts-before"),
    ],
)
def test_E3_json_is_found_in_what_is_said_around_it(text: str) -> None:
    assert read_answer(text) == {"a": 1}


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": "\\ud800"}', "[" * 5000, '{"a": 1e999}'])
def test_E3_json_that_is_none_is_not_repaired(text: str) -> None:
    assert read_answer(text) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["tasks", "near_misses", "arguments", "queries", "query", "tool", "task", "order"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON, _JSON)
def test_E3_whatever_a_model_says_no_more_is_drafted_than_was_wanted(first: Any, second: Any) -> None:
    drafts = make_drafting()
    for answer in (first, second):
        if drafts.messages is not None:
            drafts.add_answer(ModelAnswer(json.dumps(answer)))
    assert drafts.messages is None
    assert 0 <= drafts.drafted <= drafts.job.quota.cases
    assert bool(drafts.refused) or drafts.missing == 0


@pytest.mark.parametrize(
    ("second", "lost"),
    [
        pytest.param(
            said([({"order": "x"}, ["a", "b"])]), {FaultReason.BAD_ARGUMENTS: 2, FaultReason.TOO_FEW: 3}, id="a-task"
        ),
        pytest.param(
            said([(ORDER, ["Undo 17.", None])]), {FaultReason.NO_TEXT: 1, FaultReason.TOO_FEW: 3}, id="a-wording"
        ),
        pytest.param(
            said([], [("Bill 17.", None), ("b", None)]), {FaultReason.SURPLUS: 1, FaultReason.TOO_FEW: 4}, id="surplus"
        ),
        pytest.param(
            '{"tasks": [{"task": "1", "queries": ["a"]}]}', {FaultReason.OTHER_FORM: 1, FaultReason.TOO_FEW: 4}, id="of"
        ),
        pytest.param("nothing", {FaultReason.NO_JSON: 1}, id="a-whole-answer"),
    ],
)
def test_E3_the_reasons_account_for_all_that_is_missing(second: str, lost: dict[FaultReason, int]) -> None:
    drafts = taken("{}", second)
    assert drafts.refused == lost
    if FaultReason.NO_JSON not in lost:
        assert sum(count for reason, count in lost.items() if reason is not FaultReason.SURPLUS) == drafts.missing


def test_E4_a_refusal_in_the_second_round_is_why_the_rest_is_missing() -> None:
    drafts = taken(said(GOOD))
    drafts.add_answer(ModelAnswer(failure="refused"))
    assert (drafts.missing, drafts.refused) == (1, {FaultReason.REFUSED: 1})


KEY = bytes(range(16))


def test_E3_every_draft_is_a_case_and_says_that_it_is_one() -> None:
    drafts = make_drafting(DraftQuota(1, 2, 2))
    arguments = {"order": 17, "reason": "too late", "fast": True}
    queries = ["Order 17 came too late, undo it fast.", "Undo 17 fast, it was tardy."]
    drafts.add_answer(ModelAnswer(said([(arguments, queries)], [("Bill 17.", "invoice"), ("Sing.", None)])))
    rows = list(case_rows(drafts, "m", KEY))
    cases = [parse_own_case(row, CatalogNames(CATALOG)) for row in rows]
    assert [parsed.findings for parsed in cases] == [()] * 4
    assert all(parsed.case and parsed.case.draft and "generated" in parsed.case.tags for parsed in cases)
    assert [row["kind"] for row in rows] == ["single", "single", "near-miss", "irrelevant"]
    assert rows[0]["cluster"] == rows[1]["cluster"] != rows[0]["id"]
    assert len({row["id"] for row in rows}) == 4
    assert [row["expected"] for row in rows] == [
        [{"tool": "till/pay_back", "args": arguments}],
        [{"tool": "till/pay_back", "args": {"order": 17, "fast": True}}],
        [{"tool": "till/invoice"}],
        [],
    ]
    assert mentions(rows[1]["note"], "drafted by m", "unchecked", "reason")
    assert mentions(rows[2]["note"], "drafted by m", "near miss of till/pay_back")


@pytest.mark.parametrize(
    ("value", "query", "stated"),
    [
        pytest.param("Berlin", "weather in berlin?", True, id="text-whatever-its-case"),
        pytest.param("2024-05-02", "on the second of May", False, id="text-in-other-words"),
        pytest.param("", "anything", False, id="blank"),
        pytest.param(17, "order 17.", True, id="number"),
        pytest.param(7, "order 17", False, id="part-of-a-number"),
        pytest.param(1, "1.5 kilos", False, id="part-of-a-fraction"),
        pytest.param(2.5, "2.5 kilos", True, id="fraction"),
        pytest.param(3.0, "3 kilos", True, id="whole-fraction"),
        pytest.param(1234567, "row 1234567", True, id="long-number"),
        pytest.param(True, "anything", True, id="truth"),
        pytest.param(["a.txt", "b.txt"], "a.txt and b.txt", True, id="list"),
        pytest.param(["a.txt", "c.txt"], "a.txt and b.txt", False, id="list-in-part"),
        pytest.param({"to": "Ann"}, "to Ann", True, id="object"),
        pytest.param("a", "Feed the cat.", False, id="a-letter-in-a-word"),
        pytest.param("A", "Give it an A.", True, id="a-letter-by-itself"),
        pytest.param("Ann", "write to Annabel", False, id="the-beginning-of-a-word"),
        pytest.param("two  words", "these two\nwords", True, id="whatever-white-space"),
        pytest.param("東京", "東京の天気は?", True, id="writing-without-blanks"),
        pytest.param("दिन", "दिनांक बताओ", False, id="a-word-with-marks-goes-on"),
        pytest.param("C++", "in C++, please", True, id="marks-at-the-end"),
        pytest.param("7", "order 17", False, id="digits-in-a-number"),
        pytest.param("4", "on A4 paper", False, id="digits-of-a-name"),
        pytest.param(5, "set it to -5", False, id="the-sign-is-part-of-it"),
        pytest.param(5, "set it to \u22125", False, id="a-minus-sign-proper"),
        pytest.param(-5, "set it to -5", True, id="negative"),
        pytest.param(-5, "set it to \u22125", True, id="negative-with-a-minus-sign-proper"),
        pytest.param(-5, "pages 10-5", False, id="a-hyphen-is-no-sign"),
        pytest.param(5, "5kg of it", True, id="with-its-unit"),
        pytest.param(float("inf"), "inf", False, id="no-number"),
        pytest.param([], "anything", False, id="empty-list"),
        pytest.param({}, "anything", False, id="empty-object"),
        pytest.param({"to": []}, "to nobody", False, id="empty-within"),
    ],
)
def test_E3_only_what_a_query_states_is_checked(value: Any, query: str, stated: bool) -> None:
    assert states_value(value, query) is stated
