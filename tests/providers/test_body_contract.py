"""What is sent directly is what litellm would send, but for one table of differences (rule X1)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.servers.asking import make_offer
from tests.servers.running import OpenAIServer
from toolbelt.evals.conversation import Conversation, Exchange, Message, Reply, ToolUse
from toolbelt.evals.models.model import Request
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.providers.chat import Sampling
from toolbelt.providers.endpoints import PASS_ON, Transport

DOCS = Path(__file__).resolve().parents[2] / "docs" / "evals.md"


def _without_null_content(body: dict[str, Any]) -> dict[str, Any]:
    messages = [
        {key: value for key, value in message.items() if value is not None or key != "content"}
        for message in body["messages"]
    ]
    return {**body, "messages": messages}


ALLOWED: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType(
    {"`content` of an assistant's message that only calls": _without_null_content}
)
"""The allowed differences, each with what takes it out of a body. The documentation has a row for each."""


def _said(text: str, arguments: str) -> tuple[Message, ...]:
    use = ToolUse.from_text("call_1", "tool_0", arguments)
    user: Message = {"role": "user", "content": "Hé 😀, half a pair: \ud800"}
    return tuple(Conversation((user,), (Exchange(Reply(text, (use,)), ("ok",), "and now?"),)).to_messages())


MESSAGES: Mapping[str, tuple[Message, ...]] = {
    "a-question": ({"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello."}),
    "a-call-with-words": _said("I read it.", '{"path": "a"}'),
    "a-call-alone": _said("", '{"path": "\\ud800"}'),
    "arguments-that-are-no-json": _said("", '{"path": '),
}
SAMPLINGS = (
    Sampling(),
    Sampling(0.0, 7, "required", 99),
    Sampling(tool_choice="tool_1"),
    Sampling(0.5, tool_choice="auto"),
    Sampling(effort="high"),
    Sampling(1.0, effort="none", params={"top_p": 0.9, "chat_template_kwargs": {"enable_thinking": False}}),
)
OFFERS = (make_offer(0), make_offer(3), make_offer(2, additionalProperties=False))


def _bodies(server: OpenAIServer, provider: str, transport: Transport, messages: tuple[Message, ...]) -> list[Any]:
    model = f"none@bodies-{transport}"

    async def ask() -> None:
        hosted = open_model(f"{provider}/{model}", ModelOptions(server.url, 20.0, transport=transport))
        for sampling, offer in itertools.zip_longest(SAMPLINGS, OFFERS, fillvalue=OFFERS[1]):
            await hosted.complete(Request(messages, offer, sampling))  # type: ignore[arg-type]
        await hosted.close()

    server.reset()
    asyncio.run(ask())
    return [{**request["body"], "model": ""} for request in server.requests(model)]


@pytest.mark.parametrize("messages", MESSAGES.values(), ids=MESSAGES)
@pytest.mark.parametrize("provider", sorted(PASS_ON))
def test_X1_bodies_are_equal_but_for_the_table_of_differences(
    provider: str, messages: tuple[Message, ...], openai_server: OpenAIServer
) -> None:
    direct, litellm = (_bodies(openai_server, provider, transport, messages) for transport in Transport)
    assert len(direct) == len(SAMPLINGS)
    for take_out in ALLOWED.values():
        direct, litellm = list(map(take_out, direct)), list(map(take_out, litellm))
    assert direct == litellm


@pytest.mark.parametrize("difference", ALLOWED)
def test_X1_each_difference_is_documented_and_there(difference: str, openai_server: OpenAIServer) -> None:
    assert f"| {difference} |" in DOCS.read_text(encoding="utf-8")
    direct, litellm = (_bodies(openai_server, "openai", transport, MESSAGES["a-call-alone"]) for transport in Transport)
    assert direct != litellm
