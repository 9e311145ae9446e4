"""The protocol of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from toolbelt.evals.conversation import Message, Reply
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import PROVIDER_DEFAULTS, Sampling, Usage

WORD_MATCHING = "local/bm25"
"""The offline baseline that matches words; it is not an LLM."""


def is_word_matching(model: str) -> bool:
    """Whether a model of that name is the word-matching baseline, not an LLM."""
    return model == WORD_MATCHING


@dataclass(frozen=True, slots=True)
class Request:
    """One call of a model's API.

    Attributes:
        messages: The conversation so far, in OpenAI's form.
        offer: The tools to choose from.
        sampling: How to ask.
        epoch: Which time this is that the case is asked, 0-based. It is not sent.
        case: Id of the case; not sent, as the next.
        number: Which request of its trial this is, 0-based.
    """

    messages: Sequence[Message]
    offer: Offer
    sampling: Sampling = PROVIDER_DEFAULTS
    epoch: int = 0
    case: str = ""
    number: int = 0


class Model(Protocol):
    """Something that can be asked to choose tools."""

    @property
    def name(self) -> str:
        """As it is written on the command line: `local/bm25`, `openai/NAME`."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer one request, once: no retries behind the caller's back.

        Raises:
            ModelError: there is no answer; every failure of a provider or a network raises this.
        """
        ...

    def cost_usd(self, usage: Usage) -> float | None:
        """USD for the tokens; 0 for local models, `None` if the price or the number of tokens is unknown."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
