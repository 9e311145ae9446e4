from __future__ import annotations

import json
from typing import Any

import pytest

from tests.evals.cases.imports.samples import TOOLS, calling, says, user
from toolbelt.evals.cases.imports.import_report import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.openai_log_records import looks_like_exchange, read_answer, read_exchange

ASKED = [user("Mail.")]
SENT = {"messages": ASKED, "tools": TOOLS}
COMPLETION = {"id": "r1", "object": "chat.completion", "choices": [{"index": 0, "message": calling("send_mail")}]}


@pytest.mark.parametrize(
    ("record", "case_id"),
    [
        pytest.param({"request": SENT, "response": COMPLETION}, "r1", id="request-and-response"),
        pytest.param({"input": SENT, "output": COMPLETION}, "r1", id="input-and-output"),
        pytest.param({"kwargs": SENT, "output": calling("send_mail")}, "", id="kwargs-and-a-message"),
        pytest.param({"input": ASKED, "tools": TOOLS, "output": [calling("send_mail")]}, "", id="lists-of-messages"),
        pytest.param({"request": json.dumps(SENT), "response": json.dumps(COMPLETION)}, "", id="json-in-texts"),
        pytest.param(
            {"id": "l1", "messages": ASKED, "model_parameters": {"tools": TOOLS}, "response": COMPLETION},
            "l1",
            id="litellm",
        ),
        pytest.param({**COMPLETION, "messages": ASKED, "tools": TOOLS}, "r1", id="a-stored-completion"),
        pytest.param(
            {"input": SENT, "preferred_output": [calling("send_mail")], "non_preferred_output": [says()]},
            "",
            id="preferences",
        ),
    ],
)
def test_E3_the_shapes_of_logs_hold_the_same(record: dict[str, Any], case_id: str) -> None:
    assert looks_like_exchange(record)
    exchange = read_exchange(record)
    assert (exchange.messages, exchange.tools, exchange.id) == (ASKED, TOOLS, case_id)
    assert exchange.answer is not None
    assert [message["tool_calls"] for message in exchange.answer] == [calling("send_mail")["tool_calls"]]


def test_E3_an_answer_that_is_json_is_an_answer() -> None:
    assert read_answer('{"city": "Oslo"}') == [says('{"city": "Oslo"}')]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"messages": []}, id="an-empty-list"),
        pytest.param({"messages": ["Mail."]}, id="texts"),
        pytest.param({"messages": [{"role": "boss", "content": "Mail."}]}, id="an-unknown-role"),
        pytest.param({"messages": [{"role": "user", "content": 7}]}, id="a-number-for-content"),
        pytest.param({"messages": ASKED, "tools": {"a": 1}}, id="tools-that-are-no-list"),
        pytest.param({"messages": ASKED, "response": {"what": 1}}, id="a-response-of-no-known-shape"),
        pytest.param(7, id="a-number"),
    ],
)
def test_E3_other_shapes_are_refused(record: Any) -> None:
    with pytest.raises(BrokenError):
        read_exchange(record)


def test_E3_a_response_without_items_is_none() -> None:
    with pytest.raises(UnmappedError, match="there is no response"):
        read_answer({"object": "response", "output": []})


def turns(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"from": speaker, "value": value} for speaker, value in pairs]


def test_K6_turns_of_sharegpt_are_messages() -> None:
    both = [{"name": "send_mail", "arguments": {"to": "Bob"}}, {"name": "get_weather", "arguments": {}}]
    conversations = turns(
        ("system", "Be brief."),
        ("human", "Mail."),
        ("function_call", json.dumps(both)),
        ("observation", "sent"),
        ("observation", "rain"),
        ("gpt", "Done."),
    )
    record = {"conversations": conversations, "tools": json.dumps(TOOLS)}
    assert looks_like_exchange(record)
    exchange = read_exchange(record)
    assert [message["role"] for message in exchange.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    made = exchange.messages[2]["tool_calls"]
    assert [json.loads(call["function"]["arguments"]) for call in made] == [{"to": "Bob"}, {}]
    assert [message["tool_call_id"] for message in exchange.messages[3:5]] == [call["id"] for call in made]
    assert (exchange.answer, exchange.tools) == (None, TOOLS)


@pytest.mark.parametrize("value", ["send it", "5", '{"arguments": {}}', "[]x"])
def test_V6_a_turn_of_sharegpt_without_a_call_is_broken(value: str) -> None:
    record = {"conversations": turns(("human", "Mail."), ("function_call", value))}
    assert looks_like_exchange(record)
    with pytest.raises(BrokenError):
        read_exchange(record)
