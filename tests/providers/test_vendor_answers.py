"""Answers of each vendor: outcomes by the one table, tokens, and turns that go back as they came (rules V2, V4, E6)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.providers.vendor_asking import HELLO, ask, outcome
from tests.servers.vendors import Json, VendorServer, completion, message, response, vendor_server
from toolbelt.evals.conversation import Conversation, Reply
from toolbelt.evals.running.records import format_reply, parse_reply
from toolbelt.evals.running.reply_faults import DROPPED, take_note
from toolbelt.providers.chat import Failure, Usage
from toolbelt.providers.endpoints import Transport

HM: Json = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
HIDDEN: Json = {"type": "redacted_thinking", "data": "b3BhcXVl"}
SAID: Json = {"type": "text", "text": "I read.", "citations": None}
READ: Json = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "é"}, "caller": {"type": "direct"}}
WRITE: Json = {"type": "tool_use", "id": "toolu_2", "name": "write", "input": {}}
REASONED: Json = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
REASONED |= {"encrypted_content": "b3BhcXVl", "status": "completed"}
SPOKEN: Json = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary"}
SPOKEN |= {"content": [{"type": "output_text", "text": "I read.", "annotations": []}]}
READS: Json = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": '{"path": "é"}'}
WRITES: Json = {"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "write", "arguments": "{}"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[VendorServer]:
    for provider in ("ANTHROPIC", "OPENAI", "DEEPSEEK", "GROQ", "MISTRAL", "GEMINI", "OPENROUTER"):
        monkeypatch.setenv(f"{provider}_API_KEY", "sk-of-a-test-1234")
    with vendor_server() as running:
        yield running


def asked_again(server: VendorServer, api: str, first: Json, last: Json, **how: Any) -> tuple[Json, Reply]:
    """The second body of a conversation whose first answer called tools, and its reply."""
    server.answer = lambda body: first
    reply = ask(server, api, **how)
    conversation = Conversation(HELLO).extended(reply, tuple("ok" for _ in reply.calls), "And now?")
    # As it is after a kill, when the reply is read from the store of runs.
    stored = parse_reply(format_reply(reply), reply.usage, reply.latency_seconds)
    assert Conversation(HELLO).extended(stored, tuple("ok" for _ in reply.calls), "And now?") == conversation
    server.answer = lambda body: last
    second = ask(server, api, conversation.to_messages(), **how)
    return server.bodies[-1], second


def test_V4_blocks_of_messages_go_back_unchanged(server: VendorServer) -> None:
    content = [HM, HIDDEN, SAID, READ, WRITE]
    body, second = asked_again(server, "messages", message(*content, stop_reason="tool_use"), message())
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][1]["content"] == content
    results = [block["tool_use_id"] for block in body["messages"][2]["content"] if block["type"] == "tool_result"]
    assert (results, second.dropped) == (["toolu_1", "toolu_2"], ())


def test_V4_items_of_responses_go_back_unchanged(server: VendorServer) -> None:
    output = [REASONED, SPOKEN, READS, WRITES]
    body, second = asked_again(server, "responses", response(*output), response())
    assert body["input"][1:5] == output
    assert [item.get("call_id") for item in body["input"][5:]] == ["call_1", "call_2", None]
    assert second.dropped == ()


CALLS = [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]


@pytest.mark.parametrize(
    "spoken",
    [
        pytest.param({"content": "", "reasoning_content": "hm"}, id="reasoning_content"),
        pytest.param({"content": None, "reasoning": "hm"}, id="reasoning"),
        pytest.param({"content": "<think>hm</think>Well."}, id="thoughts-in-the-text"),
        pytest.param(
            {"content": "a", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}, id="details"
        ),
    ],
)
def test_V4_a_servers_own_fields_of_a_message_go_back(server: VendorServer, spoken: Json) -> None:
    """The SDK's types know none of these fields."""
    server.is_strict = False
    calls = [{**CALLS[0], "extra_content": {"google": {"thought_signature": "c2lnbmVk"}}}]
    server.answer = lambda body: completion("tool_calls", **spoken, tool_calls=calls)
    conversation = Conversation(HELLO).extended(ask(server, "chat"), ("ok",))
    assert ask(server, "chat", conversation.to_messages()).dropped == ()
    sent = server.bodies[-1]["messages"][1]
    assert {name: sent[name] for name, value in spoken.items() if value} == {k: v for k, v in spoken.items() if v}
    assert sent["tool_calls"] == calls


@pytest.mark.parametrize(
    ("model", "answer", "sent", "dropped"),
    [
        pytest.param("anthropic/claude-haiku-4-5", message(HM, HIDDEN, SAID, READ), [HM, HIDDEN], (), id="anthropic"),
        pytest.param(
            "deepseek/deepseek-reasoner",
            completion("tool_calls", reasoning_content="hm", tool_calls=CALLS),
            {"reasoning_content": "hm"},
            (),
            id="deepseek",
        ),
        pytest.param(
            "openrouter/x/y",
            completion("tool_calls", reasoning="hm", reasoning_details=[{"data": "x"}], tool_calls=CALLS),
            {"reasoning": "hm", "reasoning_details": [{"data": "x"}]},
            (),
            id="openrouter",
        ),
        pytest.param(
            "mistral/magistral-medium-latest",
            completion("tool_calls", reasoning_content="hm", tool_calls=CALLS),
            {},
            ("reasoning_content",),
            id="mistral",
        ),
    ],
)
def test_V4_litellm_is_given_back_what_it_documents(
    server: VendorServer, model: str, answer: Json, sent: Any, dropped: tuple[str, ...]
) -> None:
    how: Json = {"model": model, "transport": Transport.LITELLM}
    server.is_strict = model.startswith("anthropic")
    server.answer = lambda body: answer
    api = "messages" if model.startswith("anthropic") else "chat"
    conversation = Conversation(HELLO).extended(reply := ask(server, api, **how), ("ok",))
    assert (reply.dropped, len(reply.calls)) == ((), 1)
    server.answer = lambda body: message() if api == "messages" else completion()
    again = ask(server, api, conversation.to_messages(), **how)
    turn = server.bodies[-1]["messages"][1]
    if api == "messages":
        assert turn["content"][:2] == sent
    else:
        known = {"role", "content", "tool_calls", "function_call"}
        assert {name: value for name, value in turn.items() if name not in known} == sent
    assert again.dropped == dropped


def test_V4_what_was_dropped_is_noted(server: VendorServer) -> None:
    first = message(HM, READ, stop_reason="tool_use")
    server.answer = lambda body: first
    reply = ask(server, "messages")
    conversation = Conversation(HELLO).extended(reply, ("ok",))
    server.answer = lambda body: response(
        input_transformations=[{"id": "rs_1", "type": "reasoning", "action": "removed", "reason": "model_mismatch"}]
    )
    second = ask(server, "responses", conversation.to_messages())
    assert second.dropped == ("turns over messages", "reasoning (model_mismatch)")
    _, note = take_note(second, 0, None)
    assert note == f"{DROPPED}: turns over messages, reasoning (model_mismatch)"


def test_V4_a_turn_of_text_and_calls_alone_is_kept_once(server: VendorServer) -> None:
    plain = {"type": "tool_use", "id": "t1", "name": "read", "input": {"a": [1]}}
    server.answer = lambda body: message({"type": "text", "text": "So."}, plain, stop_reason="tool_use")
    assert ask(server, "messages").turn is None
    server.answer = lambda body: completion("tool_calls", content="So.", tool_calls=CALLS)
    assert ask(server, "chat").turn is None


def test_V4_keys_are_not_kept_in_a_turn(server: VendorServer) -> None:
    server.answer = lambda body: message({**HM, "thinking": "The key is sk-of-a-test-1234."}, READ)
    assert "sk-of-a-test-1234" not in json.dumps(ask(server, "messages").turn)


UNTOLD_BY_LITELLM = ("pause_turn", "model_context_window_exceeded")
"""Its release 1.105 reports these as `stop`, without the vendor's word."""


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        pytest.param({"messages": "end_turn", "responses": "completed", "chat": "stop"}, "stop", id="ended"),
        pytest.param({"messages": "stop_sequence"}, "stop", id="stop-sequence"),
        pytest.param(
            {"messages": "tool_use", "responses": "completed", "chat": "tool_calls"}, "tool_calls", id="calls"
        ),
        pytest.param(
            {"messages": "max_tokens", "responses": "max_output_tokens", "chat": "length"}, "length", id="cut"
        ),
        pytest.param({"messages": "model_context_window_exceeded"}, "length", id="window-full"),
        pytest.param({"messages": "pause_turn"}, "length", id="paused"),
        pytest.param({"responses": "max_messages"}, "length", id="most-messages"),
        pytest.param(
            {"messages": "refusal", "responses": "content_filter", "chat": "content_filter"},
            str(Failure.REFUSED),
            id="refused",
        ),
    ],
)
@pytest.mark.parametrize("transport", list(Transport), ids=str)
def test_V2_the_outcome_is_the_same_by_every_path(
    by: dict[str, str], expected: str, server: VendorServer, transport: Transport
) -> None:
    calls = expected == "tool_calls"
    answers = {
        "messages": lambda word: message(*([READ] if calls else [SAID]), stop_reason=word),
        "chat": lambda word: completion(word, content="I read.", **({"tool_calls": CALLS} if calls else {})),
        "responses": lambda word: response(
            *([READS] if calls else [SPOKEN]),
            status="completed" if word == "completed" else "incomplete",
            incomplete_details=None if word == "completed" else {"reason": word},
        ),
    }
    for api, word in by.items():
        if transport is Transport.LITELLM and (api == "responses" or word in UNTOLD_BY_LITELLM):
            continue
        server.is_strict = word != "max_messages"  # which older SDKs do not know
        server.answer = lambda body, api=api, word=word: answers[api](word)  # type: ignore[misc]
        model = {"model": "anthropic/claude-haiku-4-5"} if api == "messages" else {}
        assert outcome(server, api, transport=transport, **model) == expected, api


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        pytest.param({"status": "failed", "error": {"code": "server_error", "message": "Oh."}}, "broken_answer"),
        pytest.param(
            {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "Slow down."}}, "rate_limit"
        ),
        pytest.param({"status": "in_progress"}, "broken_answer"),
        pytest.param({"status": "cancelled"}, "broken_answer"),
        pytest.param({"status": "incomplete", "incomplete_details": {"reason": "steered"}}, "broken_answer"),
        pytest.param({"output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                                  "content": [{"type": "refusal", "refusal": "No."}]}]}, "refused"),
    ],
    ids=["failed", "failed-for-now", "unfinished", "cancelled", "steered", "refused-in-words"],
)  # fmt: skip
def test_V2_a_response_that_is_no_answer_is_a_failure(server: VendorServer, answer: Json, failure: str) -> None:
    server.is_strict = False  # words of a newer SDK are among them
    server.answer = lambda body: {**response(), **answer}
    assert outcome(server, "responses") == failure


@pytest.mark.parametrize("data", [{}, {"content": None}, {"content": ["x"]}, {"content": "text"}], ids=str)
def test_V2_what_is_no_message_is_a_failure(server: VendorServer, data: Json) -> None:
    server.answer = lambda body: {"http_status": 201, **data}
    assert outcome(server, "messages") == outcome(server, "responses") == "broken_answer"


@pytest.mark.parametrize(
    ("status", "kind", "text", "failure"),
    [
        (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", Failure.CONTEXT_OVERFLOW),
        (401, "authentication_error", "invalid x-api-key", Failure.AUTHENTICATION),
        (404, "not_found_error", "model: claude-of-the-day", Failure.NOT_FOUND),
        (429, "rate_limit_error", "This request would exceed your organization's rate limit", Failure.RATE_LIMIT),
        (529, "overloaded_error", "Overloaded", Failure.UNAVAILABLE),
    ],
)
def test_X2_errors_of_anthropic_are_classified_directly(
    server: VendorServer, status: int, kind: str, text: str, failure: Failure
) -> None:
    server.answer = lambda body: {
        "http_status": status,
        "type": "error",
        "error": {"type": kind, "message": text},
        "request_id": "req_1",
    }
    assert outcome(server, "messages") == failure


@pytest.mark.parametrize("api", ["messages", "responses", "chat"])
def test_E6_tokens_are_counted_alike(server: VendorServer, api: str) -> None:
    answers = {"messages": message(SAID), "responses": response(SPOKEN), "chat": completion(content="I read.")}
    server.answer = lambda body: answers[api]
    reply = ask(server, api)
    assert reply.usage == Usage(1000, 50, 60, 40, 30)
    assert (reply.text, reply.served_by) == ("I read.", answers[api]["model"])


def test_E2_several_calls_of_one_answer_are_read_in_order(server: VendorServer) -> None:
    server.answer = lambda body: message(HM, READ, WRITE, stop_reason="tool_use")
    calls = {"messages": ask(server, "messages").calls}
    server.answer = lambda body: response(REASONED, READS, WRITES)
    calls["responses"] = ask(server, "responses").calls
    for api, made in calls.items():
        assert [(call.name, call.arguments) for call in made] == [("read", {"path": "é"}), ("write", {})], api
