"""Latency is the transport's, not the queue's (rule E6)."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time

import pytest

from tests.servers.asking import HELLO, ask_once, asking, make_offer
from tests.servers.running import OpenAIServer
from toolbelt.evals.models.model import Request
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.providers.endpoints import Transport


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")


async def _measure(
    server: OpenAIServer, model_name: str, concurrency: int, count: int
) -> tuple[list[float], list[float]]:
    """Latencies as reported, and as a clock around the call has them."""
    # A direct client is so quick that 64 of its requests at a time wait at the server.
    model = open_model(model_name, ModelOptions(server.url, transport=Transport.LITELLM))
    request = Request(HELLO, make_offer(30))
    await model.complete(request)
    measured, around = [], []
    numbers = iter(range(count))

    async def work() -> None:
        for _ in numbers:
            began = time.perf_counter()
            measured.append((await model.complete(request)).latency_seconds)
            around.append(time.perf_counter() - began)

    await asyncio.gather(*(work() for _ in range(concurrency)))
    await model.close()
    return measured, around


@pytest.mark.parametrize("provider", ["openai", "hosted_vllm"])
def test_E6_latency_of_one_at_a_time_is_the_servers(openai_server: OpenAIServer, provider: str) -> None:
    measured, _ = asyncio.run(_measure(openai_server, f"{provider}/slow-50", 1, 8))
    assert 0.04 < statistics.median(measured) < 0.075


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's clock is Linux's")
@pytest.mark.parametrize("provider", ["openai", "hosted_vllm"])
def test_E6_latency_does_not_grow_with_the_queue(openai_server: OpenAIServer, provider: str) -> None:
    measured, around = asyncio.run(_measure(openai_server, f"{provider}/slow-50", 64, 256))
    assert min(measured) > 0.04
    # The server takes 50 ms; 64 at a time keep each waiting for some time beyond that before its turn comes here, the
    # longer the slower this machine is, and of that next to nothing is measured.
    waited, measured_beyond = (statistics.median(seconds) - 0.05 for seconds in (around, measured))
    assert waited > 0.05
    assert measured_beyond < waited / 5


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's clock is Linux's")
@pytest.mark.usefixtures("each_transport")
def test_E6_an_answer_that_waits_for_this_process_came_when_it_came(openai_server: OpenAIServer) -> None:
    async def go() -> float:
        model = open_model("openai/slow-50", asking(openai_server))
        request = Request(HELLO, make_offer(3))
        await model.complete(request)
        asked = asyncio.create_task(model.complete(request))
        await asyncio.sleep(0.03)  # it is under way
        time.sleep(0.3)
        latency = (await asked).latency_seconds
        await model.close()
        return latency

    assert 0.04 < asyncio.run(go()) < 0.15


@pytest.mark.usefixtures("each_transport")
def test_E6_a_body_in_parts_ends_with_its_last_byte(openai_server: OpenAIServer) -> None:
    began = time.perf_counter()
    reply = ask_once(openai_server, "parts-200@wire")
    assert 0.18 < reply.latency_seconds < time.perf_counter() - began
