"""The protocol of a model, and the ways it may fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from toolbelt.evals.conversation import Message, Reply, Usage
from toolbelt.evals.offers import Offer

NOTHING_REPORTED = Usage()
"""Of a provider that says nothing."""


TOOL_CHOICES = ("auto", "required", "none")
"""What a model may be told about calling; anything else is a tool's name."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is asked; `None` leaves it to the provider.

    Attributes:
        temperature: 0 for the likeliest answer.
        seed: For providers that take one.
        tool_choice: `auto`, `required`, `none`, or a tool's wire name.
        max_tokens: The longest answer, in tokens.
    """

    temperature: float | None = None
    seed: int | None = None
    tool_choice: str | None = None
    max_tokens: int | None = None


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
    sampling: Sampling = Sampling()


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


class Failure(StrEnum):
    """Why a model did not answer."""

    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    """Connection refused or reset, or a status of 500 and above."""
    BROKEN_ANSWER = "broken_answer"
    """What came back was cut short or is no answer of this API."""
    CONTEXT_OVERFLOW = "context_overflow"
    REFUSED = "refused"
    """The provider's content filter, or the model, would not."""
    AUTHENTICATION = "authentication"
    """Missing or wrong key, or no right to this model."""
    NOT_FOUND = "not_found"
    """No such model there."""
    BAD_REQUEST = "bad_request"
    """The provider says the request is wrong."""
    QUOTA = "quota"
    """What was paid for is used up: no credit, or a limit of the account that waiting does not lift."""

    @property
    def is_passing(self) -> bool:
        """Whether asking again may help."""
        return self in (Failure.RATE_LIMIT, Failure.TIMEOUT, Failure.UNAVAILABLE, Failure.BROKEN_ANSWER)

    @property
    def is_for_good(self) -> bool:
        """Whether no other request of this model can do better."""
        return self in (Failure.AUTHENTICATION, Failure.NOT_FOUND, Failure.QUOTA)


class ModelError(Exception):
    """A model did not answer.

    Attributes:
        failure: Why.
        message: What the provider said, on one line, without keys.
        retry_after_seconds: How long it asks to wait; `None` if it does not say.
        latency_seconds: How long that took.
        usage: What it cost in tokens, where the provider reports that of a refusal.
    """

    def __init__(
        self,
        failure: Failure,
        message: str,
        retry_after_seconds: float | None = None,
        latency_seconds: float = 0.0,
        usage: Usage = NOTHING_REPORTED,
    ) -> None:
        self.failure = failure
        self.message = message
        self.retry_after_seconds = retry_after_seconds
        self.latency_seconds = latency_seconds
        self.usage = usage
        super().__init__(f"{failure}: {message}")
