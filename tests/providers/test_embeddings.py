"""Embeddings over both transports: batches, order, retries, what is refused, and what they cost (rules X1, X3, S2)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from aiohttp import web

from tests.wording import mentions
from toolbelt.errors import ToolbeltError
from toolbelt.providers import embeddings
from toolbelt.providers.chat import Failure
from toolbelt.providers.embeddings import (
    AT_ONCE,
    BATCH,
    EmbeddingError,
    EmbeddingOptions,
    Embeddings,
    embed_texts,
    estimate_embeddings,
    open_embedder,
)
from toolbelt.providers.endpoints import Transport

Answering = Callable[[dict[str, Any], int], web.Response]
EACH = pytest.mark.parametrize("transport", list(Transport), ids=str)
MODEL = "openai/embedder"


def vector_of(text: str) -> list[float]:
    """Halves and quarters, which four bytes hold exactly."""
    return [1.0 + byte / 4 for byte in hashlib.sha256(text.encode()).digest()[:4]]


def answer(body: dict[str, Any], _: int) -> web.Response:
    """What a server says; backwards, as only the numbers count."""
    data = [
        {"object": "embedding", "index": number, "embedding": vector_of(text)}
        for number, text in enumerate(body["input"])
    ]
    usage = {"prompt_tokens": len(body["input"]), "total_tokens": len(body["input"])}
    return web.json_response({"object": "list", "model": body["model"], "data": data[::-1], "usage": usage})


class Served:
    """A server of embeddings in this process, and what it was asked."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.asked: list[dict[str, Any]] = []
        self.paths: set[str] = set()
        self.at_once = self.most_at_once = 0

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            self.paths.add(request.path)
            body = json.loads(await request.read())
            self.asked.append(body)
            times = len(self.asked)
            await asyncio.sleep(0.01)  # so that others come meanwhile
            return self.answering(body, times)
        finally:
            self.at_once -= 1

    def embed(self, texts: Sequence[str], transport: Transport, **settings: Any) -> Embeddings:
        async def go() -> Embeddings:
            runner = web.ServerRunner(web.Server(self.handle, access_log=None))
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            base = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            embedder = open_embedder(MODEL, EmbeddingOptions(base, 10.0, transport=transport))
            try:
                return await embedder.embed(texts, **settings)
            finally:
                await embedder.close()
                await runner.cleanup()

        return asyncio.run(go())


@EACH
def test_S2_texts_are_asked_in_batches_and_come_back_in_their_order(transport: Transport) -> None:
    texts = [f"text {number}" for number in range(BATCH * 5 + 3)]
    served, steps = Served(answer), list[int]()
    made = served.embed(texts, transport, advance=steps.append)
    assert [list(vector) for vector in made.vectors] == [vector_of(text) for text in texts]
    assert (made.usage.prompt_tokens, made.requests) == (len(texts), 6)
    assert sorted(text for body in served.asked for text in body["input"]) == sorted(texts)
    assert max(len(body["input"]) for body in served.asked) == BATCH
    assert (steps[-1], steps == sorted(steps)) == (len(texts), True)
    assert 1 < served.most_at_once <= AT_ONCE


def test_X1_both_transports_send_the_same_bodies() -> None:
    bodies = []
    for transport in Transport:
        served = Served(answer)
        served.embed(["half a pair \ud800", "é – 漢 😀"], transport)
        bodies.append((served.asked, served.paths))
    assert bodies[0] == bodies[1]
    assert bodies[0] == ([{"model": "embedder", "input": ["half a pair \ufffd", "é – 漢 😀"]}], {"/v1/embeddings"})


@EACH
def test_X2_what_may_pass_is_asked_again(transport: Transport) -> None:
    def answering(body: dict[str, Any], times: int) -> web.Response:
        if times == 1:
            return web.json_response({"error": {"message": "Slow down."}}, status=429, headers={"Retry-After": "0"})
        if times == 2:
            return web.Response(status=503, headers={"Retry-After": "0.01"})
        return answer(body, times)

    served = Served(answering)
    assert served.embed(["a"], transport).requests == len(served.asked) == 3


REFUSED = {
    "a-wrong-key": (401, {"error": {"message": "Wrong key."}}, Failure.AUTHENTICATION),
    "no-such-model": (404, {"error": {"message": "No such model."}}, Failure.NOT_FOUND),
    "a-text-that-is-too-long": (
        400,
        {"error": {"message": "This model's maximum context length is 8192 tokens, however you requested 9000."}},
        Failure.CONTEXT_OVERFLOW,
    ),
}


@EACH
@pytest.mark.parametrize(("status", "body", "failure"), REFUSED.values(), ids=REFUSED)
def test_X2_what_does_not_pass_is_asked_once(status: int, body: object, failure: Failure, transport: Transport) -> None:
    served = Served(lambda *_: web.json_response(body, status=status))
    with pytest.raises(EmbeddingError) as caught:
        served.embed(["a"], transport)
    assert (caught.value.failure, caught.value.exit_code, len(served.asked)) == (failure, 3, 1)
    assert mentions(str(caught.value), MODEL)


ODD: dict[str, object] = {
    "one-too-few": {"data": [{"index": 0, "embedding": [1.0]}]},
    "a-number-twice": {"data": [{"index": 0, "embedding": [1.0]}] * 2},
    "true-as-a-number": {"data": [{"index": 0, "embedding": [1.0]}, {"index": True, "embedding": [1.0]}]},
    "lengths-that-differ": {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]},
    "no-direction": {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [0.0]}]},
    "beyond-four-bytes": {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1e39]}]},
    "texts-for-numbers": {"data": [{"index": 0, "embedding": ["1"]}, {"index": 1, "embedding": ["1"]}]},
    "empty-vectors": {"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]},
    "no-data": {"data": None},
    "an-answer-of-a-chat": {"choices": []},
    "not-a-number": '{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1.0]}]}',
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_E4_an_answer_that_holds_no_vectors_is_an_error(body: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "MAX_RETRIES", 0)
    text = body if isinstance(body, str) else json.dumps(body)
    served = Served(lambda *_: web.Response(text=text, content_type="application/json"))
    with pytest.raises(EmbeddingError) as caught:
        served.embed(["a", "b"], Transport.AUTO)
    assert caught.value.failure is Failure.BROKEN_ANSWER


def test_E4_vectors_that_differ_in_length_between_requests_are_an_error() -> None:
    def answering(body: dict[str, Any], times: int) -> web.Response:
        data = [{"index": number, "embedding": [1.0] * times} for number in range(len(body["input"]))]
        return web.json_response({"data": data})

    with pytest.raises(EmbeddingError, match="differ in length"):
        Served(answering).embed(["a"] * (BATCH + 1), Transport.AUTO)


def test_servers_that_leave_out_numbers_and_usage_are_understood() -> None:
    def answering(body: dict[str, Any], _: int) -> web.Response:
        return web.json_response({"data": [{"embedding": vector_of(text)} for text in body["input"]]})

    made = Served(answering).embed(["a", "b"], Transport.AUTO)
    assert [list(vector) for vector in made.vectors] == [vector_of("a"), vector_of("b")]
    assert made.usage.prompt_tokens is None


def test_X3_offline_opens_no_socket_and_names_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda *there: opened.append(there))
    options = EmbeddingOptions("http://127.0.0.1:9/v1", is_offline=True)
    with pytest.raises(ToolbeltError) as caught:
        embed_texts(MODEL, ["a", "b"], options)
    assert mentions(str(caught.value), "--offline", MODEL, "2 texts")
    assert embed_texts(MODEL, [], options).vectors == ()
    assert not opened


def test_a_caller_that_cannot_wait_gets_its_vectors_inside_a_running_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def go() -> Embeddings:
        runner = web.ServerRunner(web.Server(Served(answer).handle, access_log=None))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        options = EmbeddingOptions(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", 10.0)

        def inside_a_loop() -> Embeddings:
            async def blocking() -> Embeddings:
                return embed_texts(MODEL, ["a"], options)

            return asyncio.run(blocking())

        try:
            return await asyncio.to_thread(inside_a_loop)
        finally:
            await runner.cleanup()

    assert list(asyncio.run(go()).vectors[0]) == vector_of("a")


def test_a_blank_text_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="words"):
        Served(answer).embed(["a", " \n"], Transport.AUTO)


@pytest.mark.parametrize("name", ["", " "])
def test_a_model_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(ToolbeltError):
        open_embedder(name)


def test_a_model_that_chats_makes_no_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with pytest.raises(ToolbeltError) as caught:
        open_embedder("gpt-4o-mini")
    assert mentions(str(caught.value), "gpt-4o-mini", "embeddings")


def test_S2_the_cost_is_known_before_anything_is_asked() -> None:
    texts = ["three little words"] * 40
    estimate = estimate_embeddings("text-embedding-3-small", texts)
    assert (estimate.texts, estimate.requests, estimate.tokens) == (40, 2, 120)
    assert estimate.cost_usd == pytest.approx(120 * 0.02 / 1e6)  # OpenAI's page of prices: $0.02 for a million
    assert mentions(str(estimate), "40 texts", "2 requests", "120 tokens", "$")
    assert estimate_embeddings("mistral/mistral-embed", texts).cost_usd  # its entry has no price of answers
    assert estimate_embeddings(MODEL, texts).cost_usd is None
