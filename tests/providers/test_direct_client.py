"""What the direct client does by itself: the rest is held by the tests of hosted models, over each transport."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web

from tests.servers.running import OpenAIServer
from toolbelt.providers import direct_http
from toolbelt.providers.chat import ChatReply, ChatRequest, Failure, ModelError, ToolDefinitions
from toolbelt.providers.direct_client import DirectClient
from toolbelt.providers.endpoints import find_endpoint
from toolbelt.providers.litellm_table import ModelTable

HELLO = ChatRequest(({"role": "user", "content": "Hello."},), ToolDefinitions())
ANSWER = {
    "model": "m",
    "choices": [{"message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
}
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def open_client(address: str, timeout_seconds: float = 10.0) -> DirectClient:
    endpoint = find_endpoint("openai/m", address, ModelTable())
    assert endpoint is not None
    return DirectClient(endpoint, timeout_seconds)


async def serve_once(handler: Handler, path: str = "v1", times: int = 1) -> list[ChatReply | ModelError]:
    """What comes of asking a server so many times, one after the other."""
    runner = web.ServerRunner(web.Server(handler, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    client = open_client(f"http://127.0.0.1:{runner.addresses[0][1]}/{path}")
    came: list[ChatReply | ModelError] = []
    for _ in range(times):
        try:
            came.append(await client.complete(HELLO))
        except ModelError as error:
            came.append(error)
    await client.close()
    await runner.cleanup()
    return came


def _fails(came: ChatReply | ModelError) -> ModelError:
    assert isinstance(came, ModelError)
    return came


@pytest.mark.cold
def test_X1_a_run_over_the_direct_path_never_imports_litellm(openai_server: OpenAIServer, tmp_path: Path) -> None:
    code = (
        "import sys; from toolbelt.evals import run_eval\n"
        "run = run_eval('assistant', 'hosted_vllm/pick-first@direct', 'full', limit=3, store='runs.db', "
        f"api_base={openai_server.url!r})\n"
        "from toolbelt.evals.models.opening import ModelOptions, open_price\n"
        "print(run.end.value, run.summary.scored, 'litellm' in sys.modules, 'openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=100)
    assert (done.stdout.split(), done.stderr) == (["finished", "3", "False", "False"], "")
    assert openai_server.count("pick-first@direct") >= 3


@pytest.mark.parametrize("status", [307, 308])
def test_X1_a_redirect_that_keeps_the_request_is_followed(status: int) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith("/old"):
            return web.Response(status=status, headers={"Location": "/v1/chat/completions"})
        body = json.loads(await request.read())
        return web.json_response({**ANSWER, "model": body["model"]})

    [reply] = asyncio.run(serve_once(handle, "old"))
    assert isinstance(reply, ChatReply)
    assert reply.served_by == "m"


@pytest.mark.parametrize("status", [301, 302, 303])
def test_X1_a_redirect_that_loses_the_request_names_the_other_address(status: int) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path.startswith("/old"):
            return web.Response(status=status, headers={"Location": "/v1/chat/completions"})
        return web.json_response(ANSWER)

    [error] = asyncio.run(serve_once(handle, "old"))
    assert _fails(error).failure is Failure.BAD_REQUEST
    assert "/v1/chat/completions" in _fails(error).message


def test_X1_a_redirect_to_another_host_does_not_take_the_key_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    seen: list[bool] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        seen.append("Authorization" in request.headers)
        if request.path.startswith("/old"):
            return web.Response(status=307, headers={"Location": f"http://localhost:{request.url.port}/v1/x"})
        return web.json_response(ANSWER)

    asyncio.run(serve_once(handle, "old"))
    assert seen == [True, False]


def test_X1_a_body_that_does_not_end_is_left_at_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct_http, "LONGEST_ANSWER", 1_000_000)

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while request.transport is not None:
            await response.write(b" " * 100_000)
        return response

    [error] = asyncio.run(serve_once(handle))
    assert _fails(error).failure is Failure.BROKEN_ANSWER
    assert "1,000,000" in _fails(error).message


def test_X1_a_connection_that_was_closed_while_idle_is_an_error_and_nothing_is_sent_twice() -> None:
    asked = 0

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        if asked == 2:  # as a server that drops a connection just when a request comes over it
            assert request.transport is not None
            request.transport.close()
        return web.json_response(ANSWER)

    first, second, third = asyncio.run(serve_once(handle, times=3))
    assert (isinstance(first, ChatReply), isinstance(third, ChatReply)) == (True, True)
    assert _fails(second).failure is Failure.UNAVAILABLE
    assert asked == 3


def test_X1_the_proxy_of_the_environment_is_used(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{openai_server.port}")

    async def go() -> ChatReply:
        client = open_client("http://models.invalid/v1")
        try:
            return await client.complete(HELLO)
        finally:
            await client.close()

    assert asyncio.run(go()).text


def test_X1_a_certificate_that_nobody_trusts_is_unavailable(openai_server: OpenAIServer) -> None:
    async def go() -> ModelError:
        client = open_client(openai_server.url.replace("http:", "https:"))
        with pytest.raises(ModelError) as caught:
            await client.complete(HELLO)
        await client.close()
        return caught.value

    assert asyncio.run(go()).failure is Failure.UNAVAILABLE


ODD = {
    "a-stream-of-events": (f"data: {json.dumps(ANSWER)}\n\ndata: [DONE]\n\n", Failure.BROKEN_ANSWER),
    "bytes-that-are-no-text": (json.dumps(ANSWER).encode().replace(b'"a"', b'"\xff"'), Failure.BROKEN_ANSWER),
    "nothing": ("", Failure.BROKEN_ANSWER),
    "null": ("null", Failure.BROKEN_ANSWER),
    "lists-in-lists": ("[" * 100_000, Failure.BROKEN_ANSWER),
    "an-error-with-status-200": ('{"error": {"message": "Rate limit reached."}}', Failure.RATE_LIMIT),
    "an-error-as-a-text": ('{"error": "the prompt exceeds the context window"}', Failure.CONTEXT_OVERFLOW),
    "choices-that-are-none": ('{"choices": 5}', Failure.BROKEN_ANSWER),
    "a-choice-that-is-none": ('{"choices": [5]}', Failure.BROKEN_ANSWER),
    "a-call-that-is-none": ('{"choices": [{"message": {"tool_calls": [5]}}]}', Failure.BROKEN_ANSWER),
    "a-function-that-is-none": ('{"choices": [{"message": {"tool_calls": [{"function": 5}]}}]}', Failure.BROKEN_ANSWER),
    "a-reason-that-is-none": ('{"choices": [{"message": {}, "finish_reason": 5}]}', Failure.BROKEN_ANSWER),
}


@pytest.mark.parametrize(("body", "failure"), ODD.values(), ids=ODD)
def test_E4_a_body_that_is_no_answer(body: str | bytes, failure: Failure) -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body, content_type="application/json")

    [error] = asyncio.run(serve_once(handle))
    assert _fails(error).failure is failure


def test_X1_a_mark_of_the_byte_order_and_compression_are_read() -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.Response(body=b"\xef\xbb\xbf" + json.dumps(ANSWER).encode())
        response.enable_compression(web.ContentCoding.gzip)
        return response

    [reply] = asyncio.run(serve_once(handle))
    assert isinstance(reply, ChatReply)
    assert reply.text == "a"


def test_X1_a_body_that_comes_in_several_parts_is_read_whole() -> None:
    body = json.dumps(ANSWER).encode()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for start in range(0, len(body), 30):
            await response.write(body[start : start + 30])
            await asyncio.sleep(0.01)
        return response

    [reply] = asyncio.run(serve_once(handle))
    assert isinstance(reply, ChatReply)
    assert reply.text == "a"
