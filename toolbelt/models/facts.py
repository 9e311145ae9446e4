"""The known facts about a model, as a value. Nothing here is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.models.token_rates import TokenRate, rate_data
from toolbelt.text import plural

DEFAULT_RESERVE = 4096
"""Default number of tokens reserved for an answer.

A selection takes some hundred tokens, and an answer in words seldom more than this. A model's longest answer is no
measure: for a third of the models in litellm's table it is as long as the whole window.
"""
NOTICE_DAYS = 90
"""A model that is switched off within so many days is not current, and users are warned of it."""
BY_RULES = "provider rules"
"""The source of a limit that belongs to the API, not to the model."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""How much a model may be asked to reason, in the words of providers, least first; each model takes some of them."""
APIS = ("chat", "messages", "responses")
"""Over what a model may be asked: OpenAI's chat completions, Anthropic's Messages, OpenAI's Responses."""
LARGEST_RESERVE = 0.25
"""The default reserve is at most this share of the window: 4k and 8k windows would have little or nothing left."""


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
    """The known facts about a model; `None` means unknown, not no.

    Attributes:
        name: As the user named it.
        known_as: Its name, or that of its base, in litellm's table; `None` if the table has neither.
        provider: Whose API it is asked through, in litellm's words; `None` if unknown.
        mode: What it is for, in litellm's words: `chat`, `responses`, `completion`, `embedding`, ...
        context_window: Tokens that a prompt takes at most. With most providers the answer has to fit into them, too;
            the table does not say with which, so that a reserve is always to be kept.
        output_limit: Tokens of the longest answer.
        output_reserve: Tokens to keep free for an answer; `None` only where whoever made this left it out.
        max_tools: The most tools that a request may hold.
        tool_calling: Whether it calls tools.
        parallel_calls: Whether it makes several calls at once.
        tool_choice: Whether it can be made to call.
        reasoning: Whether it can reason before it answers.
        efforts: How much it may be asked to reason, of `EFFORTS`; empty if it takes no effort.
        default_effort: How much it reasons if it is not asked.
        sampling: Whether it takes a temperature.
        caching: Whether the provider caches prompts.
        tool_search: Whether the provider has a tool search of its own for it.
        prices: `None` if unknown.
        token_rate: What definitions come to in its prompt, where the project states it, see `find_model_rate`.
        toolset: What the project gives it, by the name of a toolset; `None` if it does not say.
        api: Over which of `APIS` its provider is to be asked; `None` for chat completions, or litellm's choice.
        alias_of: The model that the name stands for, by the table; it has the facts of that model.
        deprecation_date: The day on which its provider switches it off, ISO 8601.
        successor: The model that takes its place, and is not gone itself.
        days_left: From today to that day; below 1 it is gone.
        asked_as: The name by which it is asked, where `name` is a label of the project's.
        sources: Where each fact that is known comes from, by the names of these attributes: `toolbelt.yaml`,
            `litellm`, `name`, `default`, `toolbelt`, `provider rules`; of a base, with its name in parentheses.
    """

    name: str
    known_as: str | None = None
    provider: str | None = None
    mode: str | None = None
    context_window: int | None = None
    output_limit: int | None = None
    output_reserve: int | None = None
    max_tools: int | None = None
    tool_calling: bool | None = None
    parallel_calls: bool | None = None
    tool_choice: bool | None = None
    reasoning: bool | None = None
    efforts: tuple[str, ...] | None = None
    default_effort: str | None = None
    sampling: bool | None = None
    caching: bool | None = None
    tool_search: bool | None = None
    prices: ModelPrices | None = None
    token_rate: TokenRate | None = None
    toolset: str | None = None
    api: str | None = None
    alias_of: str | None = None
    deprecation_date: str | None = None
    successor: str | None = None
    days_left: int | None = None
    asked_as: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)


def default_reserve(context_window: int | None, output_limit: int | None) -> int:
    """The number of tokens to reserve for an answer if nothing sets it.

    Args:
        context_window: Of the model; `None` if unknown.
        output_limit: Tokens of its longest answer; `None` if unknown.

    Returns:
        The least of 4,096, the longest answer, and a quarter of the window.
    """
    bounds = [DEFAULT_RESERVE]
    if output_limit is not None:
        bounds.append(output_limit)
    if context_window is not None:
        bounds.append(int(context_window * LARGEST_RESERVE))
    return min(bounds)


def describe_end(facts: ModelFacts, *, with_days: bool = True) -> str | None:
    """A warning of a model that is gone, or is switched off within `NOTICE_DAYS`; `None` of any other."""
    if facts.days_left is None or facts.days_left > NOTICE_DAYS:
        return None
    name = facts.name if facts.alias_of is None else f"{facts.name}, which is {facts.alias_of},"
    when = f"was switched off on {facts.deprecation_date}"
    if facts.days_left > 0:
        when = f"is switched off on {facts.deprecation_date}"
        when += f", in {plural(facts.days_left, 'day')}" if with_days else ""
    return f"{name} {when}{'.' if facts.successor is None else f'; its successor is {facts.successor}.'}"


def facts_data(facts: ModelFacts) -> dict[str, Any]:
    """Facts as plain values."""
    return {
        "name": facts.name,
        "known_as": facts.known_as,
        "provider": facts.provider,
        "mode": facts.mode,
        "context_window": facts.context_window,
        "output_limit": facts.output_limit,
        "output_reserve": facts.output_reserve,
        "max_tools": facts.max_tools,
        "tool_calling": facts.tool_calling,
        "parallel_calls": facts.parallel_calls,
        "tool_choice": facts.tool_choice,
        "reasoning": facts.reasoning,
        "efforts": None if facts.efforts is None else list(facts.efforts),
        "default_effort": facts.default_effort,
        "sampling": facts.sampling,
        "caching": facts.caching,
        "tool_search": facts.tool_search,
        "prices": None if facts.prices is None else prices_data(facts.prices),
        "token_rate": None if facts.token_rate is None else rate_data(facts.token_rate),
        "toolset": facts.toolset,
        "api": facts.api,
        "alias_of": facts.alias_of,
        "deprecation_date": facts.deprecation_date,
        "successor": facts.successor,
        "days_left": facts.days_left,
        "asked_as": facts.asked_as,
        "sources": dict(facts.sources),
    }


def prices_data(prices: ModelPrices) -> dict[str, float | None]:
    """Prices as plain values, USD for a million tokens."""
    return {
        "input": prices.input,
        "output": prices.output,
        "cache_read": prices.cache_read,
        "cache_write": prices.cache_write,
    }
