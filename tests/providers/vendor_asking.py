"""Asking the server of `tests.servers.vendors` over each API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.servers.vendors import VendorServer
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Message, Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.chat import ModelError, Sampling
from toolbelt.providers.endpoints import Transport
from toolbelt.providers.litellm_table import ModelTable

OWN = tuple(ProjectModel(f"openai/of-{api}", provider="openai", api=api) for api in ("chat", "responses"))
MODELS = {"messages": "anthropic/claude-of-the-day", "responses": "openai/of-responses", "chat": "openai/of-chat"}
"""By API."""
HELLO: tuple[Message, ...] = ({"role": "user", "content": "Hello."},)


def offer_of(*tools: Tool) -> Offer:
    """All tools of one plugin."""
    catalog = Catalog(plugins=(Plugin(name="plugin", tools=tools),))
    return ToolRenderer(catalog, EstimateCounter()).offer([tool.id for tool in catalog.tools])


TWO = offer_of(*(Tool(name=name, description="Does it.", parameters={"type": "object"}) for name in ("read", "write")))


def ask(
    server: VendorServer,
    api: str,
    messages: Sequence[Message] = HELLO,
    *,
    offer: Offer = TWO,
    sampling: Sampling | None = None,
    transport: Transport = Transport.AUTO,
    model: str | None = None,
) -> Reply:
    """One request; raises `ModelError`."""
    api_base = server.url if api == "messages" else f"{server.url}/v1"
    options = ModelOptions(api_base, 30.0, ModelTable(own=OWN), transport)
    hosted = open_model(model or MODELS[api], options)

    async def go() -> Reply:
        try:
            return await hosted.complete(Request(messages, offer, sampling or Sampling()))
        finally:
            await hosted.close()

    return asyncio.run(go())


def outcome(server: VendorServer, api: str, **how: Any) -> str:
    """What comes of it: the finish reason of a reply, or the failure."""
    try:
        return ask(server, api, **how).finish_reason
    except ModelError as error:
        return str(error.failure)
