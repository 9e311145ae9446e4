"""What a model does not take of how it is asked, by the facts about it (rule V5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from toolbelt.models.facts import ModelFacts

_TIED = frozenset({"openai", "azure"})
"""Providers whose models that reason take a temperature only while they do not: litellm's `gpt_5_transformation`."""
_THINKS_OR = ("claude", "deepseek")
"""Models that cannot be made to call while they reason: `Thinking may not be enabled when tool_choice forces tool use`
(Anthropic, mastra-ai/mastra #7507; DeepSeek alike, cloudwego/eino #994)."""
_UNFORCED = (None, "auto", "none")
_LIKE_TEMPERATURE = ("top_p", "top_k")
"""Fields that models refuse which refuse a temperature, but for what has no effect."""


def find_refusal(
    facts: ModelFacts,
    temperature: float | None = None,
    effort: str | None = None,
    tool_choice: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> str | None:
    """Why a model refuses every request that is asked so, with the option to change; `None` where nothing is known.

    Args:
        facts: About the model.
        temperature: `None` for the provider's.
        effort: `None` for the provider's.
        tool_choice: `auto`, `required`, `none`, a tool's name, or `None`.
        params: Further fields of its requests.
    """
    name, efforts = facts.name, facts.efforts
    reasons = effort not in (None, "none")
    is_forced = tool_choice not in _UNFORCED
    draws = [f"--temperature {temperature:g}"] if temperature not in (None, 1) else []
    if facts.sampling is False or "claude" not in name.lower():  # a Claude that reasons does take some top_p
        draws += [f"`{key}` of its `params`" for key in _LIKE_TEMPERATURE if (params or {}).get(key) not in (None, 1)]
    if effort is not None and efforts is not None and effort not in efforts:
        return f"{name} takes no --effort {effort}: {f'it takes {join(efforts)}' if efforts else 'leave it out'}."
    if draws and facts.sampling is False:
        return f"{name} takes no {join(draws)}: leave it out."
    if draws and facts.sampling is None and _is_tied(facts, effort):
        way = "leave it out"
        if efforts is not None and "none" in efforts:
            way += ", or ask with --effort none"
        return f"{name} takes no {join(draws)} while it reasons: {way}."
    if is_forced and facts.tool_choice is False:
        return f"{name} cannot be made to call a tool: leave out --tool-choice {tool_choice}."
    if is_forced and reasons and any(maker in name.lower() for maker in _THINKS_OR):
        return f"{name} cannot be made to call a tool while it reasons: leave out --tool-choice or --effort."
    return None


def _is_tied(facts: ModelFacts, effort: str | None) -> bool:
    """Whether the model reasons where it is asked so, and takes no temperature then."""
    if "claude" in facts.name.lower():
        return effort not in (None, "none")
    return facts.provider in _TIED and facts.reasoning is True and (effort or facts.default_effort) != "none"


def join(words: Collection[str]) -> str:
    """`low, medium and high`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
