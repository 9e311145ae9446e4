"""What is stored and counted of each form of reply, the same over each transport (rules V2, E4, X1, X2)."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.servers.running import OpenAIServer, openai_server
from toolbelt.evals import run_eval
from toolbelt.evals.conversation import ToolUse
from toolbelt.evals.scoring.outcome import Ending, SelectedTool
from toolbelt.evals.scoring.reasons import wrong_arguments
from toolbelt.evals.views.figures import status_lines
from toolbelt.providers.chat import ChatReply, ModelError
from toolbelt.providers.chat_reply import make_reply
from toolbelt.providers.direct_answers import NotAnAnswer, normalise
from toolbelt.providers.endpoints import Transport
from toolbelt.providers.provider_errors import make_answer_error
from toolbelt.text import whole

__all__ = ["openai_server"]
TOOLS = [
    {
        "name": "refund",
        "description": "Pay back.",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    },
    {"name": "parcel", "description": "Say where a parcel is."},
]
CALL = {"id": "c", "type": "function", "function": {"name": "refund", "arguments": '{"order": "A-1"}'}}


def choice(finish: Any = "stop", *, text: str | None = "No.", calls: Any = None, index: int = 0, **more: Any) -> Any:
    message = {"role": "assistant", "content": text, **({} if calls is None else {"tool_calls": calls})}
    return {"index": index, "message": message, "finish_reason": finish, **more}


def answer(*choices: Any, tokens: int = 60, **more: Any) -> Any:
    usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": choices,
        "usage": usage,
    } | more


def called(arguments: Any = '{"order": "A-1"}', finish: str = "tool_calls", name: str = "refund", **more: Any) -> Any:
    call = {**CALL, "function": {"name": name, "arguments": arguments}}
    return answer(choice(finish, text=None, calls=[call], **more))


def error(message: str, code: Any = None, kind: str = "invalid_request_error") -> Any:
    return {"error": {"message": message, "type": kind, "code": code}}


FAILS = ("error", "error", 2)
"""Asked twice, where one retry is allowed, and then an error."""
BROKEN = ("broken_call", "broken_call", 1)
FORMS: dict[str, tuple[int, Any, tuple[str, str, int]]] = {
    "a-call": (200, called(), ("correct", "steps", 1)),
    "a-call-that-says-stop": (200, called(finish="stop"), ("correct", "steps", 1)),
    "a-call-that-says-eos": (200, called(finish="eos"), ("correct", "steps", 1)),
    "a-call-of-another-tool": (200, called("{}", name="parcel"), ("wrong_tool", "steps", 1)),
    "a-call-of-no-tool": (200, called(name="nonsense"), ("hallucinated_tool", "steps", 1)),
    "arguments-as-an-object": (200, called({"order": "A-1"}), ("correct", "steps", 1)),
    "arguments-encoded-twice": (200, called(json.dumps('{"order": "A-1"}')), ("correct", "steps", 1)),
    "arguments-that-are-no-json": (200, called('{"order": '), ("invalid_arguments", "steps", 1)),
    "half-a-character": (200, called('{"order": "\\ud83d"}'), ("wrong_arguments", "steps", 1)),
    "text": (200, answer(choice()), ("missing_call", "no_call", 1)),
    "tokens-that-cannot-be": (200, answer(choice(), tokens=10**11), ("missing_call", "no_call", 1)),
    "text-of-anthropic": (200, answer(choice("end_turn")), ("missing_call", "no_call", 1)),
    "text-without-a-reason": (200, answer(choice(None)), ("missing_call", "no_call", 1)),
    "text-cut": (200, answer(choice("length")), ("truncated", "truncated", 1)),
    "text-cut-in-another-word": (200, answer(choice("MAX_TOKENS")), ("truncated", "truncated", 1)),
    "filtered": (200, answer(choice("content_filter", text="")), ("refused", "refused", 1)),
    "index-1-comes-first": (
        200,
        answer(choice(index=1), choice("tool_calls", text=None, calls=[CALL])),
        ("correct", "steps", 1),
    ),
    "ended-with-error": (200, answer(choice("error")), FAILS),
    "ended-with-network-error": (200, answer(choice("network_error")), FAILS),
    "ended-with-abort": (200, answer(choice("abort")), FAILS),
    "ended-with-cancelled": (200, answer(choice("cancelled")), FAILS),
    "ended-with-a-new-word": (200, answer(choice("eaten_by_bears")), FAILS),
    "a-call-ended-with-error": (200, called(finish="error"), FAILS),
    "out-of-resources": (200, answer(choice("insufficient_system_resource")), FAILS),
    "an-error-in-the-choice": (200, answer(choice(error={"code": 502, "message": "Upstream is down."})), FAILS),
    "an-error-beside-the-choices": (200, answer(choice()) | error("Upstream is down.", 503), FAILS),
    "an-error-in-place-of-choices": (200, error("Provider returned error"), FAILS),
    "an-error-of-another-form": (200, answer(choice(error={"type": "server_error"})), FAILS),
    "an-error-in-the-message": (
        200,
        answer(choice() | {"message": {"role": "assistant", "content": "", "error": {"message": "Down."}}}),
        FAILS,
    ),
    "a-provider's-error-behind-a-gateway": (200, answer(choice(native_finish_reason="ERROR")), FAILS),
    "no-choices": (200, answer(), FAILS),
    "no-object": (200, "[1, 2]", FAILS),
    "409": (409, error("Conflict."), FAILS),
    "425": (425, error("Too early."), FAILS),
    "500": (500, error("Something broke.", kind="server_error"), FAILS),
    "529": (529, error("Overloaded", kind="overloaded_error"), FAILS),
    "400": (400, error("Unknown parameter."), ("error", "error", 1)),
    "overflow": (400, error("No.", "context_length_exceeded"), ("context_overflow", "context_overflow", 1)),
    "policy": (400, error("No.", "content_policy_violation"), ("refused", "refused", 1)),
    "groq-could-not-read-the-call": (400, error("Failed to call a function.", "tool_use_failed"), BROKEN),
    "arguments-could-not-be-parsed": (400, error("Failed to parse tool call arguments as JSON"), BROKEN),
    "llama.cpp-could-not-parse": (
        500,
        error("Failed to parse input at pos 5: <tool_call>", 500, "server_error"),
        BROKEN,
    ),
    "ollama-could-not-parse": (500, error("error parsing tool call: raw='{', err=unexpected end"), BROKEN),
    "llama.cpp-expected-another-format": (
        500,
        error("The model produced output that does not match the expected peg-gemma4 format", 500, "server_error"),
        BROKEN,
    ),
    "a-model's-invalid-call": (400, error("The model generated an invalid tool call."), BROKEN),
    "an-invalid-call-in-the-history": (400, error("Invalid tool call in messages."), ("error", "error", 1)),
    "malformed-behind-a-gateway": (
        200,
        answer(choice("error", native_finish_reason="MALFORMED_FUNCTION_CALL", text=None)),
        BROKEN,
    ),
    "gemini-malformed": (200, answer(choice("MALFORMED_FUNCTION_CALL", text=None)), BROKEN),
}
BEYOND = "Fri, 31 Dec 99999 23:59:59 GMT"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "none-needed")
    catalog = {"name": "shop", "plugins": [{"name": "shop", "tools": TOOLS}]}
    (tmp_path / "catalog.json").write_text(json.dumps(catalog))
    wanted = {"tool": "refund", "args": {"order": "A-1"}}
    cases = [
        {
            "id": name,
            "query": json.dumps({"status": status, "body": body, "headers": {"Retry-After": BEYOND}}),
            "expected": [wanted],
        }
        for name, (status, body, _) in FORMS.items()
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    return tmp_path


@pytest.mark.parametrize("transport", list(Transport), ids=str)
def test_V2_each_form_of_reply_is_stored_and_counted_alike(
    openai_server: OpenAIServer, shop: Path, transport: Transport
) -> None:
    run = run_eval(
        shop,
        f"hosted_vllm/raw@{transport}",
        "full",
        api_base=openai_server.url,
        transport=transport,
        store=shop / "runs.db",
        max_retries=1,
        max_concurrency=32,
    )
    with sqlite3.connect(run.store) as connection:
        trials = {
            name: (outcome, ending, requests)
            for name, outcome, ending, requests in connection.execute(
                "SELECT case_id, outcome, ending, "
                "(SELECT count(*) FROM requests WHERE requests.run = trials.run AND requests.trial = trials.trial) "
                "FROM trials WHERE run = ?",
                (run.id,),
            )
        }
    assert trials == {name: stored for name, (*_, stored) in FORMS.items()}
    unscored = sum(outcome in ("error", "context_overflow") for outcome, *_ in trials.values())
    assert run.summary.scored == len(FORMS) - unscored
    assert (run.summary.encoded_twice, run.summary.impossible) == (1, 1)
    lines = status_lines(run.summary)
    assert "Arguments that were encoded twice, as a text in JSON, were read: in 1 answer." in lines
    assert any("cannot be, in 1 answer, count as not reported" in line for line in lines)
    with sqlite3.connect(run.store) as connection:
        query = "SELECT message, prompt_tokens, completion_tokens FROM requests WHERE message LIKE '%cannot be%'"
        [(note, prompt, completion)] = connection.execute(query).fetchall()
    assert note.startswith("figures that cannot be: 100,000,000,000 prompt tokens for ")
    assert (prompt, completion) == (None, 5)


def test_E4_a_broken_call_is_wrong_whatever_was_called_before() -> None:
    assert not Ending.BROKEN_CALL.is_error
    assert Ending.CALL_IN_TEXT.is_error


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PLACES = (
    ("choices",),
    ("choices", 0),
    ("choices", 0, "index"),
    ("choices", 0, "finish_reason"),
    ("choices", 0, "error"),
    ("choices", 0, "message"),
    ("choices", 0, "message", "content"),
    ("choices", 0, "message", "refusal"),
    ("choices", 0, "message", "tool_calls"),
    ("choices", 0, "message", "tool_calls", 0),
    ("choices", 0, "message", "tool_calls", 0, "id"),
    ("choices", 0, "message", "tool_calls", 0, "function"),
    ("choices", 0, "message", "tool_calls", 0, "function", "name"),
    ("choices", 0, "message", "tool_calls", 0, "function", "arguments"),
    ("error",),
    ("model",),
    ("usage",),
    ("usage", "prompt_tokens"),
    ("usage", "prompt_tokens_details"),
)


def put(place: tuple[Any, ...], value: Any) -> Any:
    """An answer with this value there."""
    data = json.loads(json.dumps(called()))
    inner = data
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return data


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), JSON)
def test_V2_whatever_stands_in_an_answer_it_is_a_reply_or_a_failure(place: tuple[Any, ...], value: Any) -> None:
    for is_direct in (True, False):
        data = put(place, value)
        try:
            reply = make_reply(normalise(data) if is_direct else data, 0.0, (), 0.0)
        except (ModelError, NotAnAnswer):
            continue
        assert isinstance(reply, ChatReply)
        for call in reply.calls:
            use = ToolUse.from_text(call.id, call.name, call.arguments)
            json.dumps(use.message_part)
            shown = whole(wrong_arguments(SelectedTool(0, use.name, None, False, use.arguments), use.text))
            shown.encode()


@settings(max_examples=200, deadline=None)
@given(JSON, st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "x-should-retry"]), st.text()))
def test_X2_whatever_an_error_holds_it_is_classified(body: Any, headers: dict[str, str]) -> None:
    for holder in (body, {"error": body}, {"error": {"message": body, "code": body}}):
        made = make_answer_error(400, headers, json.dumps(holder).encode(), (), 0.0)
        assert made.message
        whole(made.message).encode()


def test_E4_an_answer_of_20000_calls_is_scored(openai_server: OpenAIServer, shop: Path) -> None:
    case = {"id": "many", "query": "Pay it back.", "expected": [{"tool": "refund"}]}
    (shop / "cases.jsonl").write_text(json.dumps(case) + "\n")
    start = time.perf_counter()
    run = run_eval(shop, "hosted_vllm/many-20000", "full", api_base=openai_server.url, store=shop / "runs.db")
    assert run.summary.arms[0].outcomes == {"extra_call": 1}
    assert time.perf_counter() - start < 60, "in proportion to the calls; it was minutes where time grew by the square"
