"""Answers that nobody should give, from a real HTTP server (rules E2, E4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.servers.asking import ask_once, fail_once
from tests.servers.running import OpenAIServer
from toolbelt.evals.conversation import Conversation, Message, Reply, ToolUse
from toolbelt.providers.chat import Failure, Usage
from toolbelt.providers.chat_body import sendable

pytestmark = pytest.mark.usefixtures("each_transport")
KEY = "sk-test-0123456789abcdef"
PROVIDERS = ("openai", "hosted_vllm")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)


def _answer(name: str = "tool_0", arguments: str = "{}", content: str | None = None, **more: Any) -> dict[str, Any]:
    call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": arguments}}
    spoken = {"role": "assistant", "content": content, "tool_calls": [call]}
    choice = {"index": 0, "message": spoken, "finish_reason": "tool_calls"}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **more}


def _wanted(body: dict[str, Any], **settings: Any) -> list[Message]:
    return [{"role": "user", "content": json.dumps({"body": body, **settings})}]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("count", "told"), [(10**12, 10**12), (10**12 + 1, None), (2**63, None), (10**30, None), (-1, None)]
)
def test_E4_counts_that_cannot_be_are_none(
    openai_server: OpenAIServer, provider: str, count: int, told: int | None
) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}
    reply = ask_once(openai_server, "raw", provider=provider, messages=_wanted(_answer(usage=usage)))
    assert reply.usage == Usage(9, told, told, None)
    usage["prompt_tokens"] = 10**30
    reply = ask_once(openai_server, "raw", provider=provider, messages=_wanted(_answer(usage=usage)))
    assert reply.usage == Usage()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("tool_0", '{"a": ' + "9" * 6000 + "}", id="an-integer-of-6000-digits"),
        pytest.param("tool_0", '{"a": ' + "[" * 50_000 + "]" * 50_000 + "}", id="50000-lists-in-lists"),
        pytest.param("multi_tool_use.parallel", '{"tool_uses": 5}', id="what-litellm-would-unfold"),
    ],
)
def test_E4_arguments_that_litellm_cannot_read_are_the_models_mistake(
    openai_server: OpenAIServer, provider: str, name: str, text: str
) -> None:
    [call] = ask_once(openai_server, "raw", provider=provider, messages=_wanted(_answer(name, text))).calls
    assert (call.name, call.text) == (name, text)
    assert call.arguments is None or name != "tool_0"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_E4_an_answer_of_the_wrong_form_is_told_without_a_traceback(openai_server: OpenAIServer, provider: str) -> None:
    body = {**_answer(), "choices": [{"message": 5}]}
    error = fail_once(openai_server, "raw", provider=provider, messages=_wanted(body))
    assert error.failure is Failure.BROKEN_ANSWER
    assert not any(word in error.message for word in ("Traceback", "File ", "litellm", "received_args"))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "error",
    [
        {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": "insufficient_quota"},
        {"message": "No.", "type": "x", "code": "insufficient_quota"},
    ],
    ids=["in-words", "by-its-code"],
)
def test_E4_a_quota_that_is_used_up_is_for_good(
    openai_server: OpenAIServer, provider: str, error: dict[str, str]
) -> None:
    came = fail_once(openai_server, "raw", provider=provider, messages=_wanted({"error": error}, status=429))
    assert came.failure is Failure.QUOTA
    assert came.retry_after_seconds is None


HALVES = [
    pytest.param("load\ud800", "{}", "No tool load\ud800.", id="in-a-name"),
    pytest.param("load", '{"category": "\\ud800"}', "No category \ud800.", id="spelled-out-in-arguments"),
    pytest.param("load", '{"category": "\udc00"}', "No.", id="as-it-is-in-arguments"),
]


@pytest.mark.parametrize("provider", [*PROVIDERS, "anthropic"])
@pytest.mark.parametrize(("name", "text", "answer"), HALVES)
def test_E4_what_no_utf8_can_hold_goes_back_replaced(
    openai_server: OpenAIServer, provider: str, name: str, text: str, answer: str
) -> None:
    asked = Conversation(({"role": "user", "content": "ä"},))
    reply = Reply(text="\ud800 I think", calls=(ToolUse.from_text("call_0", name, text),))
    model = f"none@half-{provider}"
    ask_once(openai_server, model, provider=provider, messages=asked.extended(reply, (answer,)).to_messages())
    [*_, sent] = openai_server.requests(model)
    assert "\ufffd I think" in json.dumps(sent["body"], ensure_ascii=False)
    json.dumps(sent["body"], ensure_ascii=False).encode()


def test_E4_a_half_that_a_server_sends_is_read(openai_server: OpenAIServer) -> None:
    [call] = ask_once(openai_server, "raw", messages=_wanted(_answer("a\ud800", '{"b": "\\ud800"}'))).calls
    assert (call.name, call.arguments) == ("a\ud800", {"b": "\ud800"})


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        pytest.param('{"a":  "\\ud83d\\ude00"}', '{"a":  "\\ud83d\\ude00"}', id="a-pair-stays-to-the-letter"),
        pytest.param('{"a":  "\\ud83d"}', '{"a": "\ufffd"}', id="half-of-it-does-not"),
        pytest.param('{"\\uDE00": 1}', '{"\ufffd": 1}', id="nor-in-a-key"),
        pytest.param('{"a":  "\\\\ud83d"}', '{"a":  "\\\\ud83d"}', id="a-backslash-of-its-own"),
        pytest.param('{"a": "\\ud800', '{"a": "\\ud800', id="no-json"),
    ],
)
def test_E4_arguments_change_only_where_they_must(arguments: str, sent: str) -> None:
    assert sendable({"function": {"arguments": arguments}}) == {"function": {"arguments": sent}}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_key_that_an_answer_repeats_is_taken_out_of_it(openai_server: OpenAIServer, provider: str) -> None:
    body = _answer(f"tool_{KEY}", json.dumps({"path": f"Bearer {KEY}"}), f"Your key is {KEY}.")
    body["model"] = f"m-{KEY}"
    body["choices"][0]["message"]["tool_calls"][0]["id"] = KEY
    reply = ask_once(openai_server, "raw", provider=provider, messages=_wanted(body))
    assert KEY not in repr(reply)
    assert reply.text == "Your key is [removed]."
    [call] = reply.calls
    assert (call.name, call.arguments) == ("tool_[removed]", {"path": "Bearer [removed]"})


def test_a_key_that_a_refusal_repeats_is_taken_out_of_it(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key of an odd form")
    body = _answer()
    body["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "Not for a key of an odd form."}
    assert fail_once(openai_server, "raw", messages=_wanted(body)).message == "Not for [removed]."


@pytest.mark.parametrize("key", ["hunter", "Swordfish", "s3cr", "opensesame", 'it\'s "odd"'])
def test_a_short_key_of_any_form_is_taken_out_too(
    openai_server: OpenAIServer, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    body = _answer(f"tool_{key}", json.dumps({"path": f"Bearer {key}"}), f"Your key is {key}. Hunters open sesame.")
    reply = ask_once(openai_server, "raw", messages=_wanted(body))
    assert reply.text == "Your key is [removed]. Hunters open sesame."
    [call] = reply.calls
    assert (call.name, call.arguments) == ("tool_[removed]", {"path": "Bearer [removed]"})


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OPENAI_API_KEY", "none-needed"),
        ("OPENAI_API_KEY", "EMPTY"),
        ("OPENAI_API_KEY", "abc"),
        ("KEYBOARD_LAYOUT", "x11-standard"),
        ("SECRET", "standard"),
    ],
)
def test_words_that_are_no_keys_stay_in_answers(
    openai_server: OpenAIServer, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert ask_once(openai_server, "raw", messages=_wanted(_answer(content=value))).text == value


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(5, "5", id="a-number"),
        pytest.param({"done": True}, '{"done": true}', id="an-object"),
        pytest.param([{"type": "text", "text": "Well. "}, {"type": "text", "text": "Yes."}], "Well. Yes.", id="parts"),
        pytest.param([7, {"type": "image"}], "", id="no-parts"),
    ],
)
def test_V2_a_content_of_another_type_takes_nothing_from_a_call(
    openai_server: OpenAIServer, provider: str, content: Any, text: str
) -> None:
    reply = ask_once(openai_server, "raw", provider=provider, messages=_wanted(_answer(content=content)))
    assert (reply.text, [call.name for call in reply.calls]) == (text, ["tool_0"])
