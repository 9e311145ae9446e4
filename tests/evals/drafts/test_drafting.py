"""What becomes of a model's answers: drafts, faults with their reasons, and a second request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.drafts.samples import TWO_EACH, make_drafting, said
from toolbelt.evals.drafts.drafting import Answer, Drafting
from toolbelt.evals.drafts.jobs import Wanted
from toolbelt.evals.drafts.reading import Reason, read_answer

ORDER = {"order": 17}
GOOD = [
    (ORDER, ["Give order 17 its money back.", "17 wants a refund."]),
    ({"order": 4}, ["Order 4: undo it.", "no 4!"]),
]
MISS = [("Send a bill for order 17.", "invoice")]


def taken(*answers: str, wanted: Wanted = TWO_EACH) -> Drafting:
    drafting = make_drafting(wanted)
    for answer in answers:
        assert drafting.messages is not None
        drafting.take(Answer(answer))
    return drafting


def test_E3_a_whole_answer_needs_no_second_request() -> None:
    drafting = taken(said(GOOD, MISS))
    assert (drafting.messages, drafting.missing, drafting.refused) == (None, 0, {})
    assert [(dict(task.arguments), task.queries) for task in drafting.tasks] == GOOD
    assert [(miss.query, miss.tool) for miss in drafting.near_misses] == [(MISS[0][0], "till/invoice")]


@pytest.mark.parametrize(
    ("tasks", "misses", "reason"),
    [
        pytest.param([(ORDER, [None])], [], Reason.NO_TEXT, id="query-is-no-text"),
        pytest.param([(ORDER, ["  "])], [], Reason.NO_TEXT, id="blank-query"),
        pytest.param([(ORDER, ["x" * 5000])], [], Reason.TOO_LONG, id="endless-query"),
        pytest.param([(ORDER, ["Order \x1b[31m17"])], [], Reason.UNPRINTABLE, id="terminal-escape"),
        pytest.param([(ORDER, ["Use PAY_BACK on 17."])], [], Reason.NAMES_TOOL, id="names-its-tool"),
        pytest.param([], [("Call send_letter.", "send_letter")], Reason.NAMES_TOOL, id="names-the-right-tool"),
        pytest.param([], [("Not pay_back, please.", None)], Reason.NAMES_TOOL, id="near-miss-names-the-lure"),
        pytest.param([(ORDER, ["Undo 17.", "undo 17!"])], [], Reason.REPEATED, id="the-same-words"),
        pytest.param([({"order": "x"}, ["Undo x."])], [], Reason.BAD_ARGUMENTS, id="wrong-type"),
        pytest.param([({}, ["Undo it."])], [], Reason.BAD_ARGUMENTS, id="required-one-missing"),
        pytest.param([({**ORDER, "to": 1}, ["Undo 17."])], [], Reason.BAD_ARGUMENTS, id="undescribed-argument"),
        pytest.param([([17], ["Undo 17."])], [], Reason.BAD_ARGUMENTS, id="arguments-are-a-list"),
        pytest.param([], [("Bill 17.", "invioce")], Reason.UNKNOWN_TOOL, id="unknown-tool"),
        pytest.param([], [("Undo 17.", "till/pay_back")], Reason.SAME_TOOL, id="the-tool-itself"),
        pytest.param([], [("Bill 17.", ["invoice"])], Reason.OTHER_FORM, id="tool-is-a-list"),
        pytest.param([], [("a", None), ("b", None)], Reason.SURPLUS, id="more-near-misses-than-asked-for"),
        pytest.param([*GOOD, (ORDER, ["One more."])], [], Reason.SURPLUS, id="more-tasks-than-asked-for"),
    ],
)
def test_E3_an_invalid_draft_is_counted_by_its_reason(tasks: Any, misses: Any, reason: Reason) -> None:
    drafting = taken(said(tasks, misses))
    assert drafting.refused == {reason: 1}
    assert drafting.messages is not None, "it is asked for again"
    drafting.take(Answer(said(tasks, misses)))
    assert drafting.messages is None, "and only once"


def test_E3_the_second_request_says_what_is_wrong_and_what_is_wanted() -> None:
    first = said([(ORDER, ["Undo 17.", "Use pay_back."])], [("Bill 17.", "nothing")])
    drafting = taken(first)
    assert drafting.messages is not None
    *_, repeated, told = drafting.messages
    assert repeated == {"role": "assistant", "content": first}
    text = told["content"]
    assert "'Use pay_back.': the query names the tool" in text
    assert "'nothing': the near miss names an unknown tool" in text
    assert "1 more in `tasks`, each with 2 in `queries`" in text
    assert '{"task": 1, "queries": […]}: 1 more like \'Undo 17.\', with the same values' in text
    second = {
        "tasks": [
            {"task": 1, "queries": ["Reverse order 17."]},
            {"arguments": {"order": 5}, "queries": ["5 back.", "Five (5) is to be paid back."]},
            {"task": 9, "queries": ["Nowhere."]},
        ],
        "near_misses": [{"query": "Bill 17.", "tool": "invoice"}],
    }
    drafting.take(Answer(json.dumps(second)))
    assert drafting.missing == 0
    assert drafting.tasks[0].queries == ["Undo 17.", "Reverse order 17."]
    assert drafting.refused == {Reason.NAMES_TOOL: 1, Reason.UNKNOWN_TOOL: 1, Reason.OTHER_FORM: 1}


@pytest.mark.parametrize(
    ("first", "second", "reasons"),
    [
        pytest.param("Sorry?", "<html>", {Reason.NO_JSON: 2}, id="no-json"),
        pytest.param("[1, 2]", '{"tasks": [', {Reason.NO_JSON: 2}, id="no-object-and-torn"),
        pytest.param("{}", "{}", {Reason.TOO_FEW: 5}, id="nothing-in-it"),
        pytest.param('{"tasks": {}}', '{"tasks": [1]}', {Reason.OTHER_FORM: 1, Reason.TOO_FEW: 4}, id="other-forms"),
        pytest.param("", "", {Reason.NO_JSON: 2}, id="silence"),
    ],
)
def test_E3_answers_that_say_nothing(first: str, second: str, reasons: dict[Reason, int]) -> None:
    drafting = taken(first, second)
    assert (drafting.messages, drafting.drafted) == (None, 0)
    assert drafting.refused == reasons


@pytest.mark.parametrize(("failure", "reason"), [("refused", Reason.REFUSED), ("context_overflow", Reason.OVERFLOW)])
def test_E4_what_asking_again_would_not_mend_is_not_asked_again(failure: str, reason: Reason) -> None:
    drafting = make_drafting()
    drafting.take(Answer(failure=failure))
    assert (drafting.messages, drafting.refused) == (None, {reason: 1})


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
    drafting = make_drafting()
    for answer in (first, second):
        if drafting.messages is not None:
            drafting.take(Answer(json.dumps(answer)))
    assert drafting.messages is None
    assert 0 <= drafting.drafted <= drafting.job.wanted.cases
    assert bool(drafting.refused) or drafting.missing == 0


@pytest.mark.parametrize(
    ("second", "lost"),
    [
        pytest.param(said([({"order": "x"}, ["a", "b"])]), {Reason.BAD_ARGUMENTS: 2, Reason.TOO_FEW: 3}, id="a-task"),
        pytest.param(said([(ORDER, ["Undo 17.", None])]), {Reason.NO_TEXT: 1, Reason.TOO_FEW: 3}, id="a-wording"),
        pytest.param(said([], [("Bill 17.", None), ("b", None)]), {Reason.SURPLUS: 1, Reason.TOO_FEW: 4}, id="surplus"),
        pytest.param(
            '{"tasks": [{"task": "1", "queries": ["a"]}]}', {Reason.OTHER_FORM: 1, Reason.TOO_FEW: 4}, id="of"
        ),
        pytest.param("nothing", {Reason.NO_JSON: 1}, id="a-whole-answer"),
    ],
)
def test_E3_the_reasons_account_for_all_that_is_missing(second: str, lost: dict[Reason, int]) -> None:
    drafting = taken("{}", second)
    assert drafting.refused == lost
    if Reason.NO_JSON not in lost:
        assert sum(count for reason, count in lost.items() if reason is not Reason.SURPLUS) == drafting.missing


def test_E4_a_refusal_in_the_second_round_is_why_the_rest_is_missing() -> None:
    drafting = taken(said(GOOD))
    drafting.take(Answer(failure="refused"))
    assert (drafting.missing, drafting.refused) == (1, {Reason.REFUSED: 1})
