"""Hosted models against a real HTTP server: what is sent, and what becomes of what comes back (rules E2, E4, E6)."""

from __future__ import annotations

import asyncio
import gc
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.servers.asking import HELLO, ask, ask_once, asking, fail_once, make_offer
from tests.servers.running import OpenAIServer
from toolbelt.catalog.frozen import freeze
from toolbelt.evals.conversation import Conversation, Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import Failure, ModelError, Sampling, Usage
from toolbelt.providers.endpoints import Transport
from toolbelt.providers.known_keys import PLACEHOLDER_KEY

pytestmark = pytest.mark.usefixtures("each_transport")
KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def _sent(server: OpenAIServer, model: str) -> dict[str, Any]:
    body: dict[str, Any] = server.requests(model)[-1]["body"]
    return body


def test_E2_a_call_is_read_with_its_arguments(openai_server: OpenAIServer) -> None:
    messages = [{"role": "user", "content": 'CALL tool_1 {"path": "ä"}'}]
    reply = ask_once(openai_server, "echo-tool", messages=messages)
    [call] = reply.calls
    assert (call.name, call.arguments, call.text) == ("tool_1", {"path": "ä"}, '{"path": "ä"}')
    assert (reply.finish_reason, reply.served_by, reply.text) == ("tool_calls", "echo-tool-2024", "")


def test_E2_text_alone_calls_nothing(openai_server: OpenAIServer) -> None:
    reply = ask_once(openai_server, "none")
    assert (reply.calls, reply.text, reply.finish_reason) == ((), "There is nothing to call.", "stop")


def test_E2_a_name_no_tool_has_comes_back_as_written(openai_server: OpenAIServer) -> None:
    reply = ask_once(openai_server, "echo-tool", messages=[{"role": "user", "content": "CALL made.up"}])
    assert [call.name for call in reply.calls] == ["made.up"]


@pytest.mark.parametrize(
    ("model", "names", "arguments"),
    [
        pytest.param("parallel", ["tool_0", "tool_1"], [{"x": 1}, {"x": 1}], id="several-at-once-in-order"),
        pytest.param("bad-arguments", ["tool_0"], [None], id="arguments-that-are-no-json"),
        pytest.param("object-arguments", ["tool_0"], [{"path": "ä"}], id="arguments-as-an-object"),
        pytest.param("duplicate-ids", ["tool_0", "tool_1", "tool_2"], [{}, {}, {}], id="ids-repeated"),
        pytest.param("no-ids", ["tool_0", "tool_1"], [{}, {}], id="ids-left-out"),
        pytest.param("function-call", ["tool_0"], [{"a": 1}], id="the-form-before-tool-calls"),
    ],
)
def test_E2_calls_of_every_shape(
    openai_server: OpenAIServer, model: str, names: list[str], arguments: list[object]
) -> None:
    calls = ask_once(openai_server, model).calls
    assert [call.name for call in calls] == names
    assert [call.arguments for call in calls] == arguments
    ids = [call.id for call in calls]
    assert len(set(ids)) == len(ids)
    assert all(ids)


def test_E1_nothing_offered_means_no_tools_in_the_request(openai_server: OpenAIServer) -> None:
    ask_once(openai_server, "none@nothing", offer=Offer(), sampling=Sampling(tool_choice="required"))
    assert set(_sent(openai_server, "none@nothing")) == {"model", "messages"}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (None, None),
        ("auto", "auto"),
        ("required", "required"),
        ("none", "none"),
        ("tool_2", {"type": "function", "function": {"name": "tool_2"}}),
    ],
)
def test_E2_the_tool_choice_is_sent(openai_server: OpenAIServer, choice: str | None, sent: object) -> None:
    model = f"none@choice-{choice}"
    ask_once(openai_server, model, sampling=Sampling(tool_choice=choice))
    assert _sent(openai_server, model).get("tool_choice") == sent


def test_E2_sampling_is_sent_and_what_is_left_open_is_not(openai_server: OpenAIServer) -> None:
    ask_once(openai_server, "none@set", sampling=Sampling(temperature=0.0, seed=7, max_tokens=99))
    body = _sent(openai_server, "none@set")
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 7, 99)
    ask_once(openai_server, "none@open")
    assert set(_sent(openai_server, "none@open")) == {"model", "messages", "tools"}


@pytest.mark.parametrize("provider", ["openai", "hosted_vllm", "lm_studio", "custom_openai", "llamafile"])
@pytest.mark.parametrize("choice", [None, "auto", "tool_1"], ids=str)
@pytest.mark.parametrize(
    "offer",
    [
        pytest.param(make_offer(), id="plain"),
        pytest.param(make_offer(2, additionalProperties=False, strict=True), id="with-what-vllm-does-not-get"),
    ],
)
def test_the_fast_route_sends_what_the_slow_one_does(
    openai_server: OpenAIServer, provider: str, choice: str | None, offer: Offer
) -> None:
    from toolbelt.providers.litellm_loading import load_litellm

    model = f"none@route-{provider}-{choice}-{id(offer)}"
    ask_once(openai_server, model, provider=provider, offer=offer, sampling=Sampling(tool_choice=choice, seed=1))
    ours = _sent(openai_server, model)
    named = choice if choice in (None, "auto") else {"type": "function", "function": {"name": choice}}
    arguments = {
        "model": f"{provider}/{model}",
        "messages": list(HELLO),
        "tools": json.loads(json.dumps(offer.definitions)),
        "seed": 1,
        "api_base": openai_server.url,
        "api_key": "x",
        **({} if named is None else {"tool_choice": named}),
    }

    async def plainly() -> None:
        await load_litellm().acompletion(**arguments)
        await open_and_close(openai_server)

    asyncio.run(plainly())
    plain = _sent(openai_server, model)
    assert openai_server.count(model) == 2
    assert ours == plain
    assert json.dumps(ours["tools"]) == json.dumps(plain["tools"])  # in the same order inside, too


async def open_and_close(server: OpenAIServer) -> None:
    """Have the last model of this loop that litellm asks closed, which closes what litellm keeps."""
    model = open_model("openai/none", ModelOptions(server.url, transport=Transport.LITELLM))
    await model.complete(Request(HELLO, Offer()))
    await model.close()


@pytest.mark.parametrize("provider", ["openai", "hosted_vllm", "lm_studio"])
def test_definitions_and_messages_are_left_as_they_were(openai_server: OpenAIServer, provider: str) -> None:
    offer = make_offer(3, additionalProperties=False)
    before = json.dumps(offer.definitions)
    messages = tuple(freeze(message) for message in HELLO)
    ask(openai_server, "parallel@unchanged", provider=provider, offer=offer, messages=messages, times=3)
    assert json.dumps(offer.definitions) == before


def test_a_conversation_goes_back_and_forth(openai_server: OpenAIServer) -> None:
    opening = ({"role": "user", "content": 'CALL tool_0 {"path": "a"}\nCALL tool_1'},)
    conversation = Conversation(opening)
    first = ask_once(openai_server, "echo-tool@talk", messages=conversation.to_messages())
    conversation = conversation.extended(first, ("one", "two"))
    second = ask_once(openai_server, "echo-tool@talk", messages=conversation.to_messages())
    assert (len(first.calls), second.calls) == (2, ())
    sent = _sent(openai_server, "echo-tool@talk")["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool"]
    assert [message["tool_call_id"] for message in sent[2:]] == [call.id for call in first.calls]


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        pytest.param({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, Usage(9, 2), id="plain"),
        pytest.param(
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "total_tokens": 11,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
            Usage(9, 2, 4),
            id="cached-as-openai-says-it",
        ),
        pytest.param(
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "total_tokens": 11,
                "cache_read_input_tokens": 4,
                "cache_creation_input_tokens": 3,
            },
            Usage(9, 2, 4, 3),
            id="cached-as-anthropic-says-it",
        ),
        pytest.param(
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "total_tokens": 11,
                "prompt_tokens_details": {"cached_tokens": 0},
            },
            Usage(9, 2, 0),
            id="nothing-cached-is-a-number",
        ),
        pytest.param(
            {
                "prompt_tokens": 9,
                "completion_tokens": 7,
                "total_tokens": 16,
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(9, 7, reasoning_tokens=5),
            id="reasoning-is-a-part-of-the-answer",
        ),
        pytest.param(None, Usage(), id="left-out-is-unknown"),
    ],
)
def test_E6_tokens_are_those_reported(openai_server: OpenAIServer, usage: object, read: Usage) -> None:
    body: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}],
    }
    if usage is not None:
        body["usage"] = usage
    reply = ask_once(openai_server, "raw", messages=[{"role": "user", "content": json.dumps({"body": body})}])
    assert reply.usage == read


def test_E6_cached_tokens_of_a_whole_exchange(openai_server: OpenAIServer) -> None:
    usage = ask_once(openai_server, "with-cache").usage
    assert usage.prompt_tokens is not None
    assert usage.cached_read_tokens == usage.prompt_tokens // 2 > 0


def test_E6_the_cost_is_the_tables_and_unknown_where_it_is(openai_server: OpenAIServer) -> None:
    usage = Usage(1_000_000, 1_000, 400_000)
    known = open_model("gpt-4o", asking(openai_server))
    assert known.cost_usd(usage) == pytest.approx(0.6 * 2.5 + 0.4 * 1.25 + 0.01)
    assert known.cost_usd(Usage()) is None
    assert open_model("openai/nobody-knows", asking(openai_server)).cost_usd(usage) is None


def test_E2_another_providers_form_goes_the_same_way(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    offer = make_offer()
    before = json.dumps(offer.definitions)

    async def go() -> tuple[Reply, float | None]:
        model = open_model(
            "claude-sonnet-4-5", replace(asking(openai_server), api_base=openai_server.url.removesuffix("/v1"))
        )
        reply = await model.complete(Request(HELLO, offer, Sampling(seed=1, tool_choice="required")))
        await model.close()
        return reply, model.cost_usd(reply.usage)

    reply, cost = asyncio.run(go())
    [call] = reply.calls
    assert (call.id, call.name, call.arguments, reply.text) == ("toolu_1", "tool_0", {"path": "a"}, "So be it.")
    assert replace(reply.usage, reasoning_tokens=None) == Usage(17, 2, 4, 3)
    assert not reply.usage.reasoning_tokens, "litellm writes 0 where nothing is reported"
    assert cost == pytest.approx((10 * 3 + 4 * 0.3 + 3 * 3.75 + 2 * 15) / 1e6)
    assert 0 <= reply.latency_seconds < 1
    sent = _sent(openai_server, "claude-sonnet-4-5")
    assert sent["tools"][0]["name"] == "tool_0"
    assert sent["tool_choice"] == {"type": "any"}
    assert "seed" not in sent  # it takes none
    assert json.dumps(offer.definitions) == before


def test_E2_what_a_provider_does_not_take_is_refused_and_not_left_out(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    error = fail_once(openai_server, "o1", sampling=Sampling(temperature=0.0))
    assert error.failure is Failure.BAD_REQUEST
    assert "temperature" in error.message
    assert openai_server.count("o1") == 0


FAILURES = [
    ("rate-limited-7", Failure.RATE_LIMIT, "Slow down."),
    ("overflow", Failure.CONTEXT_OVERFLOW, "maximum context length is 10 tokens"),
    ("window-20", Failure.CONTEXT_OVERFLOW, "maximum context length is 20 tokens"),
    ("unauthorized", Failure.AUTHENTICATION, "Incorrect API key provided"),
    ("forbidden", Failure.AUTHENTICATION, "may not use the model"),
    ("missing", Failure.NOT_FOUND, "does not exist"),
    ("bad-request", Failure.BAD_REQUEST, "Unknown parameter."),
    ("policy", Failure.REFUSED, "safety system"),
    ("filtered", Failure.REFUSED, "content filter"),
    ("refusal", Failure.REFUSED, "I will not help with that."),
    ("server-error-1", Failure.UNAVAILABLE, "Something broke."),
    ("reset", Failure.UNAVAILABLE, "onnection"),
    ("cut", Failure.BROKEN_ANSWER, ""),
    ("rubbish", Failure.BROKEN_ANSWER, ""),
    ("html", Failure.BROKEN_ANSWER, "Bad gateway of a proxy"),
    ("list", Failure.BROKEN_ANSWER, ""),
    ("empty", Failure.BROKEN_ANSWER, ""),
    ("no-choices", Failure.BROKEN_ANSWER, "no choices"),
]


@pytest.mark.parametrize("provider", ["openai", "hosted_vllm"])
@pytest.mark.parametrize(("model", "failure", "said"), FAILURES, ids=[row[0] for row in FAILURES])
def test_E4_what_goes_wrong_is_told_apart_and_asked_once(
    openai_server: OpenAIServer, provider: str, model: str, failure: Failure, said: str
) -> None:
    model = f"{model}@{provider}"
    error = fail_once(openai_server, model, provider=provider)
    assert error.failure is failure
    assert said in error.message
    assert openai_server.count(model) == 1, "retries behind the caller's back"
    assert error.latency_seconds < 5


@pytest.mark.parametrize("model", ["hang", "trickle"])
def test_E4_an_answer_that_does_not_come_is_a_timeout(openai_server: OpenAIServer, model: str) -> None:
    ask_once(openai_server, "none")  # litellm loads what it needs at its first request
    error = fail_once(openai_server, model, timeout_seconds=1.3)
    assert error.failure is Failure.TIMEOUT
    assert 1.2 < error.latency_seconds < 3
    assert "1.3 s" in error.message


def test_E4_nobody_there_is_unavailable(unused_port: int) -> None:
    model = open_model("openai/x", ModelOptions(f"http://127.0.0.1:{unused_port}/v1", 5))

    async def go() -> None:
        with pytest.raises(ModelError) as caught:
            await model.complete(Request(HELLO, Offer()))
        await model.close()
        assert caught.value.failure is Failure.UNAVAILABLE
        assert str(unused_port) in caught.value.message

    asyncio.run(go())


@pytest.fixture
def unused_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("model", "low", "high"),
    [("rate-limited-7", 7, 7), ("rate-limited-forever-0.5", 0.5, 0.5), ("rate-limited-until-30", 25, 30)],
)
def test_E4_the_time_a_server_asks_to_wait_is_told(
    openai_server: OpenAIServer, model: str, low: float, high: float
) -> None:
    wait = fail_once(openai_server, f"{model}@wait").retry_after_seconds
    assert wait is not None
    assert low <= wait <= high


def test_E4_afterwards_it_goes_on(openai_server: OpenAIServer) -> None:
    came = ask(openai_server, "server-error-2@on", times=3)
    assert [isinstance(one, Reply) for one in came] == [False, False, True]


@pytest.mark.parametrize("model", ["key-in-error", "unauthorized"])
@pytest.mark.parametrize("key", ["sk-test-0123456789abcdef", "a key of an odd form"])
def test_the_key_is_never_in_what_is_raised(
    openai_server: OpenAIServer,
    model: str,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    body = {"status": 400, "body": {"error": {"message": f"Header was: Bearer {key}; {key}.", "code": "x"}}}
    echoing = [{"role": "user", "content": json.dumps(body)}]
    for error in (fail_once(openai_server, f"{model}@key"), fail_once(openai_server, "raw@key", messages=echoing)):
        shown = f"{error!r} {error} {error.args} {error.__dict__}"
        assert key not in shown
        assert "sk-test" not in shown
        assert "[removed]" in error.message
        assert error.__cause__ is None
        assert error.__context__ is None
    assert key in str(openai_server.requests("raw@key")[-1]["headers"])  # it was really sent
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_without_a_key_an_endpoint_of_ones_own_is_sent_a_placeholder(
    openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    ask_once(openai_server, "none@keyless")
    assert openai_server.requests("none@keyless")[-1]["headers"]["Authorization"] == f"Bearer {PLACEHOLDER_KEY}"


def test_messages_are_one_short_line(openai_server: OpenAIServer) -> None:
    body = {"status": 400, "body": {"error": {"message": "no\n\tgood " * 200}}}
    error = fail_once(openai_server, "raw", messages=[{"role": "user", "content": json.dumps(body)}])
    assert error.message.startswith("no good no good")
    assert len(error.message) == 300
    assert "\n" not in error.message


def test_connections_are_kept_and_shared_by_models(openai_server: OpenAIServer) -> None:
    before = openai_server.connections()

    async def go() -> None:
        models = [open_model(f"{p}/none@shared", asking(openai_server)) for p in ("openai", "hosted_vllm")]
        for _ in range(5):
            for model in models:
                await model.complete(Request(HELLO, Offer()))
        await models[0].close()
        await models[1].complete(Request(HELLO, Offer()))  # the other's closing does not hurt it
        await models[1].close()
        await models[1].complete(Request(HELLO, Offer()))  # and it may be taken up again
        await models[1].close()
        await models[1].close()

    asyncio.run(go())
    assert openai_server.count("none@shared") == 12
    assert openai_server.connections() - before <= 3


def test_nothing_lingers_after_closing(openai_server: OpenAIServer) -> None:
    async def go() -> set[asyncio.Task[Any]]:
        model = open_model("openai/pick-first", asking(openai_server))
        await asyncio.gather(*(model.complete(Request(HELLO, make_offer())) for _ in range(20)))
        await model.close()
        await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(go()) == set()


def test_cancelling_passes_and_leaves_the_model_fit_for_use(openai_server: OpenAIServer) -> None:
    async def go() -> Reply:
        model = open_model("openai/slow-300@cancel", asking(openai_server))
        tasks = [asyncio.create_task(model.complete(Request(HELLO, make_offer()))) for _ in range(40)]
        await asyncio.sleep(0.1)  # some not yet sent, some under way
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended)
        reply = await model.complete(Request(HELLO, make_offer()))
        await model.close()
        return reply

    assert len(asyncio.run(go()).calls) == 1
    gc.collect()  # what was left behind would say so now
