"""What is known of a model, as a value: nothing here is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ModelPrices:
    """USD for a million tokens, of the first price step.

    Attributes:
        input: Of a prompt.
        output: Of an answer.
        cache_read: Of a prompt token read from the provider's cache; `None` if unknown.
        cache_write: Of one written to it; `None` if unknown or not charged apart.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model; `None` is unknown, which is not no.

    Attributes:
        name: As the user named it.
        known_as: What litellm's table calls it; `None` if it does not know it.
        provider: Whose API it is asked through, in litellm's words; `None` if unknown.
        context_window: Tokens that prompt and, where `shares_window`, answer take together at most.
        output_limit: Tokens of the longest answer.
        output_reserve: Tokens to keep free for an answer.
        tool_calling: Whether it calls tools.
        parallel_calls: Whether it makes several calls at once.
        tool_choice: Whether it can be made to call.
        caching: Whether the provider caches prompts.
        prices: `None` if unknown.
        sources: Where each fact that is known comes from: `litellm`, `toolbelt.yaml`, `provider rules`, by the names of
            these attributes.
    """

    name: str
    known_as: str | None = None
    provider: str | None = None
    context_window: int | None = None
    output_limit: int | None = None
    output_reserve: int | None = None
    tool_calling: bool | None = None
    parallel_calls: bool | None = None
    tool_choice: bool | None = None
    caching: bool | None = None
    prices: ModelPrices | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
