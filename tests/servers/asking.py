"""Asking a hosted model from a test."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import pytest

from tests.servers.running import OpenAIServer
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Message, Reply
from toolbelt.evals.models.model import Model, Request
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.providers.chat import ModelError, Sampling
from toolbelt.providers.endpoints import Transport

_transport: ContextVar[Transport] = ContextVar("transport", default=Transport.AUTO)


@pytest.fixture(params=list(Transport), ids=str)
def each_transport(request: pytest.FixtureRequest, openai_server: OpenAIServer) -> Iterator[Transport]:
    """Ask directly, then through litellm, a server that remembers nothing."""
    openai_server.reset()
    token = _transport.set(request.param)
    yield request.param
    _transport.reset(token)


def asking(server: OpenAIServer, timeout_seconds: float = 20.0) -> ModelOptions:
    """How its models are asked, over the transport of the test."""
    return ModelOptions(server.url, timeout_seconds, transport=_transport.get())


HELLO: tuple[Message, ...] = ({"role": "user", "content": "Hello."},)


def make_offer(count: int = 3, **schema: Any) -> Offer:
    """Tools named `tool_0` and so on."""
    parameters = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where.", "minLength": 1},
            "how": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}], "default": None},
            "deep": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer"}}}},
        },
        "required": ["path"],
        **schema,
    }
    tools = tuple(Tool(name=f"tool_{n}", description="Does it – quickly.", parameters=parameters) for n in range(count))
    catalog = Catalog(plugins=(Plugin(name="plugin", tools=tools),))
    return ToolRenderer(catalog, EstimateCounter()).offer([tool.id for tool in catalog.tools])


def ask(
    server: OpenAIServer,
    model: str,
    *,
    provider: str = "openai",
    offer: Offer | None = None,
    messages: Sequence[Message] = HELLO,
    sampling: Sampling | None = None,
    timeout_seconds: float = 20.0,
    times: int = 1,
) -> list[Reply | ModelError]:
    """What comes of asking a model of the server so many times, one after the other."""
    hosted = open_model(f"{provider}/{model}", asking(server, timeout_seconds))
    request = Request(messages, make_offer() if offer is None else offer, sampling or Sampling())
    return asyncio.run(_ask(hosted, request, times))


async def _ask(model: Model, request: Request, times: int) -> list[Reply | ModelError]:
    came: list[Reply | ModelError] = []
    try:
        for _ in range(times):
            try:
                came.append(await model.complete(request))
            except ModelError as error:
                came.append(error)
    finally:
        await model.close()
    return came


def ask_once(server: OpenAIServer, model: str, **settings: Any) -> Reply:
    """Its reply; raises `ModelError` if there is none."""
    [came] = ask(server, model, **settings)
    if isinstance(came, ModelError):
        raise came
    return came


def fail_once(server: OpenAIServer, model: str, **settings: Any) -> ModelError:
    """Its error."""
    with pytest.raises(ModelError) as caught:
        ask_once(server, model, **settings)
    return caught.value
