from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.evals.cases.imports.samples import (
    MAIL,
    MAILING,
    TOOLS,
    WEATHER,
    answer,
    bring_in,
    calling,
    cases,
    labels,
    log,
    opened,
    rows,
    says,
    tool,
    user,
    write,
)
from tests.wording import mentions
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Matching
from toolbelt.evals.cases.imports.context import NOT_OFFERED, ArgumentPolicy, ImportSettings
from toolbelt.evals.cases.imports.messages import MADE_AGAIN, STRANGE_PART
from toolbelt.evals.cases.imports.openai_log import (
    CALL_IN_TEXT,
    EMPTY,
    FORCED,
    NO_REQUEST,
    NO_RESPONSE,
    NO_TOOLS,
    NOT_TO_LEARN,
    OPEN_CALLS,
    REFUSED,
    SILENT,
    UNANSWERED,
    UNASKED,
    _turns,
    _uncovered,
)
from toolbelt.evals.cases.imports.openai_log_records import IN_PIECES

BOTH = log(
    {"role": "system", "content": "Be brief."},
    user("Weather in Oslo?"),
    calling("get_weather", city="Oslo"),
    answer(0, "4 C"),
    says("4 degrees."),
    user("Mail that to Bob, then to Ann."),
    calling("send_mail", start=1, to="Bob"),
    answer(1, "sent"),
    calling("send_mail", start=2, to="Ann"),
    answer(2, "sent, too"),
    says(),
    user("Thanks!"),
    says("Welcome."),
    id="talk",
)


def test_E3_each_turn_of_a_conversation_is_a_case_with_what_was_said_before_as_history(tmp_path: Path) -> None:
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [BOTH]))
    first, second, third = cases(tmp_path / "out")
    assert [first.id, second.id, third.id] == ["talk/1", "talk/2", "talk/3"]
    assert [len(case.messages) for case in (first, second, third)] == [2, 6, 12]
    assert [labels(case) for case in (first, second, third)] == [
        [("get_weather",)],
        [("send_mail",), ("send_mail",)],
        [],
    ]
    assert (first.kind, second.kind, third.kind) == ("single", "multi", "no_call")
    assert (first.match, second.match) == (Matching.EXACT, Matching.ORDERED)
    assert (first.steps, second.steps) == (1, 2)
    assert dict(first.results) == {"get_weather": ("4 C",)}
    assert dict(second.results) == {"send_mail": ("sent", "sent, too")}
    assert {case.cluster for case in (first, second, third)} == {"talk"}
    assert all(case.draft for case in (first, second, third))


def test_E3_calls_side_by_side_have_no_order(tmp_path: Path) -> None:
    record = log(user("Weather, and mail Bob."), calling("get_weather", "send_mail"))
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record]))
    (case,) = cases(tmp_path / "out")
    assert (case.match, case.kind, case.steps) == (Matching.EXACT, "parallel", 2)


def test_E3_a_request_with_its_response_is_one_case_of_that_response_alone(tmp_path: Path) -> None:
    request = {"messages": [user("Weather, then mail."), calling("get_weather"), answer(0, "4 C")], "tools": TOOLS}
    response = {"id": "r1", "choices": [{"message": calling("send_mail", start=1), "finish_reason": "tool_calls"}]}
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [{"request": request, "response": response}]))
    (case,) = cases(tmp_path / "out")
    assert (case.id, labels(case), len(case.messages)) == ("r1", [("send_mail",)], 3)


@pytest.mark.parametrize(
    ("settings", "draft", "arguments"),
    [
        pytest.param(ImportSettings(), True, None, id="drafts-without-arguments-unless-said"),
        pytest.param(ImportSettings(reviewed=True), False, None, id="reviewed"),
        pytest.param(ImportSettings(arguments=ArgumentPolicy.KEEP), True, {"to": ("Bob",)}, id="arguments-kept"),
    ],
)
def test_E3_what_an_agent_did_is_a_draft(
    tmp_path: Path, settings: ImportSettings, draft: bool, arguments: dict[str, Any] | None
) -> None:
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [MAILING]), settings=settings)
    (case,) = cases(tmp_path / "out")
    assert case.expected is not None
    (call,) = case.expected
    assert (case.draft, imported.drafts) == (draft, int(draft))
    assert (None if call.arguments is None else dict(call.arguments.accepted)) == arguments


def test_E3_the_universe_is_what_was_offered_where_that_is_not_everything(tmp_path: Path) -> None:
    other = tool("send_mail", "Sends a telegram.")
    records = [MAILING, log(*MAILING["messages"], tools=[MAIL]), log(*MAILING["messages"], tools=[other])]
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", records))
    whole, part, twin = cases(tmp_path / "out")
    assert imported.tools == 3
    assert whole.offered == ("get_weather", "send_mail")
    assert part.offered == ("send_mail",)
    assert twin.offered is not None
    assert labels(twin) == [twin.offered]
    assert twin.offered[0].startswith("send_mail#")
    assert opened(tmp_path / "out").catalog_file.catalog.get_tool(twin.offered[0]).description == "Sends a telegram."


def test_E3_the_universe_is_not_written_where_all_were_offered_everything(tmp_path: Path) -> None:
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [MAILING, log(user("Hello."), says())]))
    assert [case.offered for case in cases(tmp_path / "out")] == [None, None]


def test_E3_a_record_that_says_nothing_of_tools_means_any_tool_of_that_name(tmp_path: Path) -> None:
    records = [MAILING, log(*MAILING["messages"], tools=[tool("send_mail", "By wire.")])]
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [*records, log(*MAILING["messages"], tools=...)]))
    expected = labels(cases(tmp_path / "out")[2])
    assert expected is not None
    assert [len(tools) for tools in expected] == [2]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(log(user("Hello.")), UNANSWERED, id="no-answer"),
        pytest.param(log(user("Hello."), says(), tools=...), NO_TOOLS, id="a-chat-without-tools"),
        pytest.param(log(user("Hello."), says(), tools=[]), NO_TOOLS, id="an-empty-list-of-tools"),
        pytest.param(log(*MAILING["messages"], tool_choice="none"), FORCED, id="tools-forbidden"),
        pytest.param(
            log(*MAILING["messages"], tool_choice={"type": "function", "function": {"name": "send_mail"}}),
            FORCED,
            id="one-tool-demanded",
        ),
        pytest.param(log(user(" "), calling("send_mail")), SILENT, id="a-blank-turn"),
        pytest.param(log(user("Mail."), {**calling("send_mail"), "weight": 0}), NOT_TO_LEARN, id="weight-zero"),
        pytest.param(log(user("Mail."), calling("no_such")), NOT_OFFERED, id="not-offered"),
        pytest.param(
            {"request": {"messages": [user("Mail."), calling("send_mail")], "tools": TOOLS}, "response": "Done."},
            OPEN_CALLS,
            id="a-request-that-ends-in-a-call",
        ),
        pytest.param(
            {"messages": [user("Mail.")], "tools": TOOLS, "response": {"error": {"message": "busy"}}},
            "the response is an error",
            id="an-error",
        ),
        pytest.param(
            {
                "messages": [user("Mail.")],
                "tools": TOOLS,
                "response": {"choices": [{"message": says("Do"), "finish_reason": "length"}]},
            },
            "the response was cut off",
            id="cut-off",
        ),
        pytest.param(
            {
                "messages": [user("Mail.")],
                "tools": TOOLS,
                "response": {"object": "chat.completion.chunk", "choices": []},
            },
            IN_PIECES,
            id="in-pieces",
        ),
    ],
)
def test_E3_what_says_nothing_about_choosing_is_left_out_with_its_line(
    tmp_path: Path, record: dict[str, Any], reason: str
) -> None:
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [MAILING, record]))
    assert (imported.cases, imported.left_out) == (1, {reason: 1})
    assert [(one.line, one.reason) for one in imported.lines] == [(2, reason)]


def test_E3_a_turn_after_calls_that_were_never_answered_is_left_out(tmp_path: Path) -> None:
    record = log(user("Mail."), calling("send_mail"), user("And?"), says())
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record]))
    assert (imported.cases, imported.left_out) == (1, {OPEN_CALLS: 1})


def test_E3_the_older_functions_are_read(tmp_path: Path) -> None:
    record = {
        "messages": [
            user("Weather?"),
            {"role": "assistant", "content": None, "function_call": {"name": "get_weather", "arguments": "{}"}},
            {"role": "function", "name": "get_weather", "content": "4 C"},
            says(),
        ],
        "functions": [WEATHER["function"]],
    }
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record]))
    (case,) = cases(tmp_path / "out")
    assert (labels(case), dict(case.results)) == ([("get_weather",)], {"get_weather": ("4 C",)})


def test_E3_batches_are_joined_by_their_ids_in_either_order(tmp_path: Path) -> None:
    asked = [
        {"custom_id": f"q{n}", "method": "POST", "body": {"messages": [user("Mail.")], "tools": TOOLS}} for n in "ab"
    ]
    body = {"choices": [{"message": calling("send_mail")}]}
    told = [
        {"id": "1", "custom_id": "qa", "response": {"status_code": 200, "body": body}, "error": None},
        {"id": "2", "custom_id": "qz", "response": {"status_code": 200, "body": body}, "error": None},
    ]
    sources = [write(tmp_path / "told.jsonl", told), write(tmp_path / "asked.jsonl", asked)]
    imported = bring_in(tmp_path / "out", *sources)
    (case,) = cases(tmp_path / "out")
    assert (case.id, labels(case)) == ("qa", [("send_mail",)])
    assert imported.left_out == {
        NO_RESPONSE: 1,
        NO_REQUEST: 1,
    }


def test_E3_what_logs_add_to_messages_is_not_sent(tmp_path: Path) -> None:
    user_texts = {**says(), "refusal": None, "annotations": [], "audio": None}
    record = log(user("Hello."), user_texts, user("Mail."), calling("send_mail"))
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record]))
    assert rows(tmp_path / "out")[1]["messages"][1] == says()


_MESSAGE = st.sampled_from([user("Hm."), says(), calling("send_mail"), {"role": "system", "content": "S."}])


@given(st.lists(_MESSAGE, max_size=12))
def test_E3_turns_cover_every_answer_once_and_nothing_that_a_user_said(messages: list[dict[str, Any]]) -> None:
    found = list(_turns(messages))
    covered = [index for start, end in found for index in range(start, end)]
    assert len(set(covered)) == len(covered)
    assert all(messages[index]["role"] == "assistant" for index in covered)
    assert all(messages[start - 1]["role"] != "assistant" for start, _ in found)
    # What is in no turn is told: where each stretch of it begins, and a last turn that nobody answered.
    told = dict(_uncovered(messages, found))
    loose = [index for index, message in enumerate(messages) if message["role"] == "assistant" and index not in covered]
    begins = [index for index in loose if index - 1 not in loose]
    assert [index for index, reason in told.items() if reason == UNASKED] == begins
    user_texts = [message["role"] for message in messages if message["role"] != "system"]
    assert (UNANSWERED in told.values()) == (user_texts[-1:] == ["user"])


def test_E3_what_a_conversation_has_besides_its_turns_is_told(tmp_path: Path) -> None:
    greeted = log(says("Welcome."), *MAILING["messages"], answer(0, "ok"), says(), user("And?"))
    nudged = log(user("Hm."), says(), {"role": "system", "content": "Mail now."}, calling("send_mail"))
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [greeted, nudged]))
    assert imported.left_out == {UNASKED: 2, UNANSWERED: 1}
    assert [(one.line, one.detail) for one in imported.lines] == [
        (1, "messages[0]"),
        (1, "messages[5]"),
        (2, "messages[3]"),
    ]


USING = {"type": "tool_use", "id": "t1", "name": "send_mail", "input": {"to": "Bob"}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "sent"}]}
CUSTOM = {"type": "custom", "custom": {"name": "run", "description": "Runs code."}}
CUSTOM_CALL = {"id": "c0", "type": "custom", "custom": {"name": "run", "input": "1 + 1"}}
ITEM = {"type": "function_call", "call_id": "i1", "name": "send_mail", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "i1", "output": "sent"}
FLAT = [{"type": "function", **one["function"]} for one in TOOLS]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(
            {
                "request": {"messages": [user("Mail.")], "tools": TOOLS},
                "response": {"role": "assistant", "content": [{"type": "text", "text": "Sure."}, USING]},
            },
            [("send_mail",)],
            id="anthropic-response",
        ),
        pytest.param(
            log(user("Mail."), {"role": "assistant", "content": [USING]}, RESULT, says()),
            [("send_mail",)],
            id="anthropic-conversation",
        ),
        pytest.param(
            log(*MAILING["messages"], tool_choice={"type": "auto"}), [("send_mail",)], id="anthropic-free-choice"
        ),
        pytest.param({"input": [user("Mail.")], "tools": FLAT, "output": [ITEM]}, [("send_mail",)], id="items"),
        pytest.param(
            {"input": "Mail.", "tools": FLAT, "output": [{"type": "reasoning", "summary": []}, ITEM, ITEM]},
            [("send_mail",), ("send_mail",)],
            id="items-side-by-side",
        ),
        pytest.param(
            {"input": [user("Mail."), ITEM, OUTPUT, user("Hi.")], "tools": FLAT, "output": [says("Hello.")]},
            [],
            id="items-in-the-history",
        ),
        pytest.param(
            log(user("Run it."), {"role": "assistant", "tool_calls": [CUSTOM_CALL]}, tools=[CUSTOM]),
            [("run",)],
            id="custom-tools",
        ),
    ],
)
def test_E3_calls_in_the_forms_of_other_apis_are_calls(tmp_path: Path, record: Any, expected: Any) -> None:
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record]))
    (case,) = cases(tmp_path / "out")
    assert labels(case) == expected


def test_E3_histories_in_the_forms_of_other_apis_are_written_in_openais(tmp_path: Path) -> None:
    talk = log(user("Mail."), {"role": "assistant", "content": [USING]}, RESULT, says(), user("Hi."), says())
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [talk]))
    _, row = rows(tmp_path / "out")
    called = {"name": "send_mail", "arguments": '{"to": "Bob"}'}
    assert row["messages"][1:3] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "t1", "type": "function", "function": called}],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "sent"},
    ]


@pytest.mark.parametrize(
    "part",
    [
        pytest.param({"type": "function_call", "name": "send_mail"}, id="function-call"),
        pytest.param({"type": "server_tool_use", "name": "search"}, id="at-the-provider"),
        pytest.param({"toolUse": {"name": "send_mail"}}, id="bedrock"),
        pytest.param({"functionCall": {"name": "send_mail"}}, id="gemini"),
        pytest.param({"type": "tool_result", "tool_use_id": "t1"}, id="a-result-of-the-assistants"),
    ],
)
def test_E3_a_part_of_an_unknown_kind_never_passes_as_text(tmp_path: Path, part: Any) -> None:
    record = log(user("Mail."), {"role": "assistant", "content": [part]})
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [MAILING, record]))
    assert (imported.cases, imported.left_out) == (1, {STRANGE_PART: 1})


def _answered(response: Any, **fields: Any) -> dict[str, Any]:
    return {"messages": [user("Mail.")], "tools": TOOLS, "response": response, **fields}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(_answered('data: {"choices": []}\n\ndata: [DONE]'), IN_PIECES, id="streamed-text"),
        pytest.param(_answered('event: x\ndata: {"choices": []}'), IN_PIECES, id="streamed-events"),
        pytest.param(
            _answered([{"object": "chat.completion.chunk", "choices": [{"delta": {}}]}]), IN_PIECES, id="chunks"
        ),
        pytest.param(log(user("Hm."), says(), function_call="none"), FORCED, id="older-functions-forbidden"),
        pytest.param(
            log(*MAILING["messages"], function_call={"name": "send_mail"}), FORCED, id="an-older-function-demanded"
        ),
        pytest.param(log(*MAILING["messages"], tool_choice={"type": "tool", "name": "x"}), FORCED, id="anthropic"),
        pytest.param(
            _answered({"choices": [{"message": {"content": None, "refusal": "No."}}]}), REFUSED, id="a-refusal"
        ),
        pytest.param(
            log(user("Hm."), {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}),
            REFUSED,
            id="a-refusal-in-a-part",
        ),
        pytest.param(log(user("Hm."), says("")), EMPTY, id="nothing-said"),
        pytest.param(
            log(user("Mail."), says('<|python_tag|>{"name": "send_mail", "parameters": {}}')),
            CALL_IN_TEXT,
            id="a-call-in-the-text",
        ),
        pytest.param(
            log(user("Mail."), says("") | {"reasoning_content": "[TOOL_CALLS]send_mail[ARGS]{}"}),
            CALL_IN_TEXT,
            id="a-call-among-thoughts",
        ),
    ],
)
def test_E3_what_is_no_choice_of_the_models_makes_no_case(tmp_path: Path, record: Any, reason: str) -> None:
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [MAILING, record]))
    assert (imported.cases, imported.left_out) == (1, {reason: 1})


def test_E3_further_choices_of_a_response_are_counted(tmp_path: Path) -> None:
    record = _answered({"choices": [{"message": says()}, {"message": calling("send_mail")}]})
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record, record]))
    assert mentions(imported.notes[0], "`choices`", "2 times")


def _use(number: int, name: str = "send_mail", **arguments: Any) -> dict[str, Any]:
    """A call in Anthropic's form."""
    part = {"type": "tool_use", "id": f"c{number}", "name": name, "input": arguments}
    return {"role": "assistant", "content": [part]}


def _result(number: int, text: str, **fields: Any) -> dict[str, Any]:
    """Its answer."""
    part = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text, **fields}
    return {"role": "user", "content": [part]}


@pytest.mark.parametrize(
    ("failure", "is_failed"),
    [
        pytest.param(_result(0, "no such person", is_error=True), True, id="marked-by-anthropic"),
        pytest.param({**answer(0, "no such person"), "status": "error"}, True, id="marked-by-langchain"),
        pytest.param({**answer(0, ""), "error": {"type": "parsing", "message": "no"}}, True, id="marked-by-inspect"),
        pytest.param(answer(0, '{"isError": true, "content": []}'), True, id="a-result-of-mcp"),
        pytest.param(answer(0, '{"error": "no such person"}'), True, id="an-error-alone"),
        pytest.param(answer(0, "Error: no such person"), True, id="a-text"),
        pytest.param(answer(0, "ValueError: no such person"), True, id="an-exception"),
        pytest.param(answer(0, "MCP error -32602: Invalid arguments"), True, id="an-error-of-mcp"),
        pytest.param(
            answer(0, "2 validation errors for send_mail\nto\n  Field required"), True, id="an-error-of-pydantic"
        ),
        pytest.param(answer(0, '{"success": false, "reason": "no such person"}'), True, id="no-success"),
        pytest.param(answer(0, '{"ok": false}'), True, id="not-ok"),
        pytest.param(answer(0, '{"data": null, "errors": [{"message": "no such person"}]}'), True, id="graphql"),
        pytest.param(
            answer(0, '{"data": {"sent": 1}, "errors": [{"message": "late"}]}'), False, id="graphql-with-data"
        ),
        pytest.param(answer(0, '{"success": true, "errors": []}'), False, id="a-success"),
        pytest.param(answer(0, "Errors and how to avoid them: a guide"), False, id="about-errors"),
        pytest.param(answer(0, '{"error": null, "sent": true}'), False, id="no-error"),
        pytest.param(_result(0, "sent", is_error=False), False, id="marked-as-right"),
    ],
)
def test_K14_of_a_call_that_failed_and_was_made_again_the_later_one_is_expected(
    tmp_path: Path, failure: dict[str, Any], is_failed: bool
) -> None:
    messages = [user("Mail Bob."), _use(0, to="Bbo"), failure, _use(1, to="Bob"), _result(1, "sent"), says()]
    source = write(tmp_path / "log.jsonl", [log(*messages)])
    imported = bring_in(tmp_path / "out", source, settings=ImportSettings(arguments=ArgumentPolicy.KEEP))
    (row,) = rows(tmp_path / "out")
    made = [{"tool": "send_mail", "args": {"to": name}} for name in ("Bbo", "Bob")]
    assert row["expected"] == (made[1:] if is_failed else made)
    assert (row.get("match"), row["kind"]) == ((None, "single") if is_failed else ("ordered", "multi"))
    if is_failed:
        assert row["results"] == {"send_mail": "sent"}
        assert imported.notes == (MADE_AGAIN,)


def test_K14_a_call_that_failed_last_or_beside_others_stays(tmp_path: Path) -> None:
    twice = [user("Mail Bob."), _use(0, to="Bbo"), _result(0, "no", is_error=True), _use(1, to="Bob")]
    failed = log(*twice, _result(1, "no", is_error=True), says("I cannot."))
    beside = log(
        user("Mail both."), calling("send_mail", "send_mail"), answer(0, "Error: no"), answer(1, "sent"), says()
    )
    other = log(
        user("Mail Bob."), _use(0), _result(0, "no", is_error=True), _use(1, "get_weather"), _result(1, "4"), says()
    )
    bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [failed, beside, other]))
    assert [[call["tool"] for call in row["expected"]] for row in rows(tmp_path / "out")] == [
        ["send_mail"],
        ["send_mail", "send_mail"],
        ["send_mail", "get_weather"],
    ]


def test_K14_marks_of_failures_are_not_sent(tmp_path: Path) -> None:
    first = [user("Mail Bob."), _use(0), _result(0, "no", is_error=True), _use(1), _result(1, "sent"), says()]
    bring_in(
        tmp_path / "out", write(tmp_path / "log.jsonl", [log(*first, user("And Ann."), _use(2), _result(2, "sent"))])
    )
    answers = [message for message in rows(tmp_path / "out")[1]["messages"] if message["role"] == "tool"]
    assert [message.keys() - {"role", "tool_call_id", "content"} for message in answers] == [set(), set()]


ANSWERED: dict[str, Any] = {
    "id": "one",
    "messages": [user("Weather in Oslo?")],
    "tools": TOOLS,
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": calling("get_weather", city="Oslo")}],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
PLACES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    *(("exchange", (key,)) for key in ("id", "messages", "tools", "choices", "tool_choice", "error", "stop_reason")),
    *(("exchange", ("choices", 0, key)) for key in ("index", "finish_reason", "message", "error")),
    *(("exchange", ("choices", 0, "message", key)) for key in ("role", "content", "tool_calls", "function_call")),
    *(("exchange", ("choices", 0, "message", "tool_calls", 0, key)) for key in ("id", "type", "function")),
    *(("exchange", ("choices", 0, "message", "tool_calls", 0, "function", key)) for key in ("name", "arguments")),
    *(("talk", ("messages", place, key)) for place in (0, 2, 3) for key in ("role", "content", "tool_calls")),
    ("talk", ("messages", 3, "tool_call_id")),
)


@settings(max_examples=150, deadline=None)
@example(("talk", ("messages", 2, "tool_calls")), -1)
@example(("exchange", ("choices", 0, "message", "tool_calls")), -1)
@example(("exchange", ("choices", 0, "finish_reason")), [])
@given(st.sampled_from(PLACES), JSON)
def test_V6_whatever_stands_in_a_field_of_a_log_the_import_ends_in_order(
    place: tuple[str, tuple[Any, ...]], value: Any
) -> None:
    kind, steps = place
    record = json.loads(json.dumps(ANSWERED if kind == "exchange" else BOTH))
    inner = record
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = value
    with TemporaryDirectory() as folder:
        source = write(Path(folder) / "log.jsonl", [MAILING, record])
        try:
            imported = bring_in(Path(folder) / "out", source, form="openai")
        except ToolbeltError:
            return
        assert imported.cases >= 1, "the other record is read"


@pytest.mark.parametrize(
    ("reason", "left_out"),
    [
        ("end_turn", None),
        ("tool_calls", None),
        ("model_length", "the response was cut off"),
        ("abort", "the response is an error"),
        ("NETWORK_ERROR", "the response is an error"),
        ("a_new_word", "the response is an error"),
        ("MALFORMED_FUNCTION_CALL", "the server could not read the model's call"),
    ],
)
def test_V2_answers_in_logs_are_read_by_the_table_of_reply_forms(
    reason: str, left_out: str | None, tmp_path: Path
) -> None:
    record = {**ANSWERED, "choices": [{**ANSWERED["choices"][0], "finish_reason": reason}]}
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [MAILING, record]), form="openai")
    assert imported.cases == (2 if left_out is None else 1)
    assert list(imported.left_out) == ([] if left_out is None else [left_out])
