"""The protocol of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolbelt.evals.conversation import Message, Reply
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import PROVIDER_DEFAULTS, Sampling, Usage


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model's API.

    Attributes:
        messages: The conversation so far, in OpenAI's form.
        offer: The tools to choose from.
        sampling: How to ask.
    """

    messages: Sequence[Message]
    offer: Offer
    sampling: Sampling = PROVIDER_DEFAULTS


class Model(Protocol):
    """Something that can be asked to choose tools."""

    @property
    def name(self) -> str:
        """As it is written on the command line: `local/bm25`, `gpt-4o`."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer one request, once: no retries behind the caller's back.

        Raises:
            ModelError: it did not; nothing else is raised for what a provider or a network may do.
        """
        ...

    def cost_usd(self, usage: Usage) -> float | None:
        """What tokens cost; 0 for what runs here, `None` where the price, or the number of tokens, is unknown."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
