"""Hosted models: models of providers, and of servers that speak OpenAI's API."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import ChatClient, ChatReply, ChatRequest, Failure, ModelError, ToolDefinitions, Usage
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.prices import Prices, find_prices

_definitions: WeakKeyDictionary[Offer, ToolDefinitions] = WeakKeyDictionary()
"""The definitions of an offer, whose JSON is written once."""


@dataclass(frozen=True)
class PricedModel:
    """A hosted model that is not asked: only its price is known. It needs no key and no client.

    Attributes:
        name: A litellm name.
        table: What is known of models.
    """

    name: str
    table: ModelTable = field(default_factory=ModelTable, compare=False)

    async def complete(self, request: Request) -> Reply:  # noqa: ARG002  the protocol's
        """Raises `ModelError`, always."""
        raise ModelError(Failure.BAD_REQUEST, "only the price of this model was opened")

    def cost_usd(self, usage: Usage) -> float | None:
        """By toolbelt.yaml, else litellm's table; `None` where the price, or the number of tokens, is unknown."""
        prices = self._prices
        if prices is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        return prices.cost_usd(
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cached_read_tokens or 0,
            usage.cached_write_tokens or 0,
            usage.reasoning_tokens or 0,
        )

    async def close(self) -> None:
        """Nothing was opened."""

    @cached_property
    def _prices(self) -> Prices | None:
        return find_prices(self.name, self.table)


@dataclass(frozen=True)
class HostedModel(PricedModel):
    """A hosted model that is asked over a client.

    Attributes:
        client: How the model is asked.
    """

    client: ChatClient = field(kw_only=True, compare=False)

    async def complete(self, request: Request) -> Reply:
        """Ask once; raises `ModelError` and nothing else."""
        reply = await self.client.complete(ChatRequest(request.messages, _define(request.offer.sent), request.sampling))
        return to_reply(reply)

    async def close(self) -> None:
        """Release the connections."""
        await self.client.close()


def to_reply(reply: ChatReply) -> Reply:
    """A client's reply as part of a conversation."""
    return Reply(
        text=reply.text,
        calls=tuple(ToolUse.from_text(call.id, call.name, call.arguments) for call in reply.calls),
        usage=reply.usage,
        finish_reason=reply.finish_reason,
        served_by=reply.served_by,
        latency_seconds=reply.latency_seconds,
        fingerprint=reply.fingerprint,
        hold_seconds=reply.hold_seconds,
        thoughts=reply.thoughts,
        turn=reply.turn,
        dropped=reply.dropped,
    )


def _define(offer: Offer) -> ToolDefinitions:
    definitions = _definitions.get(offer)
    if definitions is None:
        definitions = _definitions[offer] = ToolDefinitions(offer.definitions)
    return definitions
