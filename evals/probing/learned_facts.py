"""Facts that a probe shows of a model, compared with what is known, as an entry for `toolbelt.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.probing.checks import FIRST, TOOL_COUNTS, tools_key
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult
from toolbelt.evals.probing.stated_limits import find_limit, find_window
from toolbelt.models.facts import ModelFacts
from toolbelt.models.project_models import ProjectModel, project_model_data
from toolbelt.sources import format_yaml
from toolbelt.text import UNSAFE


def learned_facts(result: ProbeResult) -> dict[str, Any]:
    """The facts that a probe shows; facts that it leaves open are missing.

    Args:
        result: Of a probe, finished or not.

    Returns:
        Some of these, by the names of `ProjectModel`'s attributes:

        - `context_window`, if the provider stated it when it refused a check.
        - `tool_calling` and `parallel_calls`.
        - `tool_choice`, if both ways to require a call had the same outcome.
        - `max_tools`, only if the API stated it when it refused more: a number that was taken is no limit.
        - `caching`, only if cached tokens were reported: without them, a longer prompt may still be cached.
    """
    shown: dict[str, Any] = {}
    if (window := _stated_window(result)) is not None:
        shown["context_window"] = window
    if result.outcome(FIRST) is CheckOutcome.REFUSED:
        return {**shown, "tool_calling": False}
    if any(check.outcome.is_usable for check in result.checks if check.key in _BY_CALLING):
        shown["tool_calling"] = True
    parallel = result.outcome("parallel_calls")
    if parallel in (CheckOutcome.WORKS, CheckOutcome.PARTLY):
        shown["parallel_calls"] = parallel is CheckOutcome.WORKS
    demanded = {result.outcome("choice_required"), result.outcome("choice_named")}
    if demanded in ({CheckOutcome.WORKS}, {CheckOutcome.REFUSED}):
        shown["tool_choice"] = CheckOutcome.WORKS in demanded
    if (limit := find_limit(result)) is not None and limit.stated is not None:
        shown["max_tools"] = limit.stated
    if result.outcome("cached_tokens") is CheckOutcome.WORKS:
        shown["caching"] = True
    return shown


_BY_CALLING = frozenset(
    {
        FIRST, "parallel_calls", "choice_required", "choice_named", "nested_arguments", "enum_arguments", "unicode",
        "long_name", "empty_parameters", "after_result", "growing_tools", "retired_tool", *map(tools_key, TOOL_COUNTS),
    }
)  # fmt: skip
"""Checks that succeed only if the model called a tool."""


def _stated_window(result: ProbeResult) -> int | None:
    """The window that the provider stated; `None` if it stated none, or several that differ."""
    refusals = (check for check in result.checks if check.outcome is CheckOutcome.TOO_LARGE and check.requests)
    windows = {window for check in refusals if (window := find_window(check.said)) is not None}
    return windows.pop() if len(windows) == 1 else None


_NEEDS_CALLING = ("parallel_calls", "tool_choice", "max_tools")
"""Facts that a model without tool calling cannot have."""
_SAME_WINDOW = 0.01
"""A stated window may differ by this share: some providers state one token less than they document."""


@dataclass(frozen=True, slots=True)
class News:
    """A fact that a probe showed and that was unknown or different before.

    Attributes:
        key: Of the fact, as in `ProjectModel`.
        known: The value before; `None` if it was unknown.
        source: Where that value came from; empty if it was unknown.
        seen: The value that the probe showed.
        note: A remark on that value, in words; may be empty.
    """

    key: str
    known: Any
    source: str
    seen: Any
    note: str = ""

    @property
    def is_contradiction(self) -> bool:
        """Whether another value was known before."""
        return self.known is not None


def find_news(result: ProbeResult, facts: ModelFacts) -> tuple[News, ...]:
    """The facts about a model that a probe showed and that were not known before.

    Args:
        result: Of the probe.
        facts: The known facts about the model.
    """
    shown, notes = learned_facts(result), {}
    if (least := _least_tools(result, facts.max_tools)) is not None and "max_tools" not in shown:
        shown["max_tools"], notes["max_tools"] = least
    window, known = shown.get("context_window"), facts.context_window
    if window is not None and known is not None and abs(window - known) <= known * _SAME_WINDOW:
        del shown["context_window"]
    return tuple(
        News(key, getattr(facts, key), facts.sources.get(key, ""), seen, notes.get(key, ""))
        for key, seen in shown.items()
        if getattr(facts, key) != seen
    )


def _least_tools(result: ProbeResult, known: int | None) -> tuple[int, str] | None:
    """The most tools taken, with a note, if the known limit is wrong and nobody stated the right one."""
    if known is None:
        return None
    taken = [count for count in TOOL_COUNTS if (outcome := result.outcome(tools_key(count))) and outcome.is_usable]
    limit = find_limit(result)
    if taken and max(taken) > known:
        return max(taken), "it may take more" if limit is None else f"it {limit}"
    if limit is not None and known >= limit.refused and limit.taken >= TOOL_COUNTS[0]:
        return limit.taken, f"it {limit}"
    return None


def seen_beside(result: ProbeResult, facts: ModelFacts) -> dict[str, Any]:
    """What a probe showed, by fact: confirmed values and news, but no limit that it is only compatible with."""
    news = {item.key: item.seen for item in find_news(result, facts)}
    confirmed = {key: seen for key, seen in learned_facts(result).items() if getattr(facts, key) == seen}
    return confirmed | news


def make_entry(model: str, news: Sequence[News], own: ProjectModel | None) -> dict[str, Any]:
    """The model's entry for `models` in `toolbelt.yaml`: the project's present entry, updated with the news.

    Args:
        model: Its name.
        news: At least one.
        own: The project's present entry, if there is one.
    """
    stated = {} if own is None else project_model_data(own)
    if "prices" in stated:
        stated["prices"] = {key: price for key, price in stated["prices"].items() if price is not None}
    entry = {"name": model} | {**stated, "name": model} | {item.key: item.seen for item in news}
    if own is not None and own.calls_tools:
        entry.setdefault("tool_calling", True)  # said through another key, which may say otherwise now
    if entry.get("output_reserve", 0) >= entry.get("context_window", float("inf")):
        del entry["output_reserve"]  # it belongs to another window
    if entry.get("tool_calling") is False:
        entry = {key: value for key, value in entry.items() if not (key in _NEEDS_CALLING and value)}
    return entry


def format_entry(entry: Mapping[str, Any]) -> str:
    """An entry as YAML, as an item of the list `models`; unsafe characters are escaped for the terminal."""
    shows = UNSAFE.search(str(entry.get("name", ""))) is None
    return format_yaml([dict(entry)], allow_unicode=shows, width=10_000)


def news_data(news: Sequence[News]) -> list[dict[str, Any]]:
    """As plain values; `known` is `null` if nothing was known."""
    return [
        {
            "fact": item.key,
            "known": item.known,
            "source": item.source or None,
            "seen": item.seen,
            "contradicts": item.is_contradiction,
            "note": item.note or None,
        }
        for item in news
    ]
