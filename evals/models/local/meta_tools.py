"""Meta-tools: which category or toolkit to load for words that no tool at hand fits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.catalog.ranking.text import split_name
from toolbelt.evals.models.local.history import History
from toolbelt.evals.models.local.ranking import Ranking, parameters_of, words_of_group
from toolbelt.evals.offers import Offer

MOST_LOADED = 3
"""Categories or toolkits that are loaded for one message at the most."""
_Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class KnownMetaTools:
    """The tools by which more tools are found and loaded.

    Attributes:
        browse: Lists what can be loaded, and takes no arguments.
        load: Loads one.
        argument: What `load` calls it.
        entries: What the answer of `browse` calls all of them.
        names: Of every meta-tool: none of them is an answer to anything.
        at_once: Whether the tools are there in the next request, and not only with the user's next message.
    """

    browse: str
    load: str
    argument: str
    entries: str
    names: frozenset[str]
    at_once: bool


BY_CATEGORY = KnownMetaTools(
    "browse_tools", "load_tools", "category", "categories", frozenset({"browse_tools", "load_tools"}), at_once=True
)
"""The meta-tools of `tiered`."""
BY_TOOLKIT = KnownMetaTools(
    "list_toolkits",
    "load_tools",
    "toolkit",
    "toolkits",
    frozenset({"list_toolkits", "load_tools", "unload_tools"}),
    at_once=False,
)
"""The meta-tools of `dynamic`."""


def find_meta_tools(offer: Offer) -> KnownMetaTools | None:
    """The meta-tools that are offered; `load_tools` is in both sets, and its parameters show which one it is."""
    for meta in (BY_TOOLKIT, BY_CATEGORY):
        if meta.browse in offer.by_name and meta.load in offer.by_name:
            properties = parameters_of(offer.by_name[meta.load]).get("properties")
            if meta is BY_CATEGORY or (isinstance(properties, Mapping) and meta.argument in properties):
                return meta
    return None


def find_next_steps(history: History, wanted_tools: Sequence[Sequence[str]], meta: KnownMetaTools) -> list[_Call]:
    """The next calls of meta-tools; none where there is nothing more to look for.

    The first call browses. Then the entries that fit the wanted tools best, by name, description and the tools they
    name, are loaded. If loaded tools are available at once, one entry is loaded for the first wanted tool. Otherwise
    one entry for each is loaded at the same time, as each further message costs a turn. If no entry has a description,
    and no name has a word of a wanted tool, the largest entry is loaded, as it most likely holds a fitting tool.

    Args:
        history: The conversation.
        wanted_tools: The words of each.
        meta: The meta-tools to call.
    """
    answered = list(zip(history.calls, history.answers, strict=True))
    answers = [answer for (name, _), answer in answered if name == meta.browse]
    if not answers:
        return [(meta.browse, {})]
    entries = next((parsed for answer in reversed(answers) if (parsed := _read_entries(answer, meta.entries))), [])
    tried = {str(arguments.get(meta.argument)) for name, arguments in history.calls if name == meta.load}
    left = [index for index, entry in enumerate(entries) if entry.name not in tried and not entry.is_loaded]
    loads_left = MOST_LOADED - len(tried)
    if not left or loads_left <= 0:
        return []
    ranking = Ranking([words_of_group(entry.name, entry.text) for entry in entries])
    best = (match.position for words in wanted_tools if (match := ranking.find_best(words, left)) is not None)
    chosen = list(dict.fromkeys(best))[: 1 if meta.at_once else loads_left]
    if not chosen and not tried and not any(entry.text.strip() for entry in entries):
        chosen = [max(left, key=lambda index: entries[index].size)]
    return [(meta.load, {meta.argument: entries[index].name}) for index in chosen]


def find_loaded(history: History, meta: KnownMetaTools) -> list[str]:
    """What was loaded since the user's last message and comes with the next, in order; empty where it comes at once."""
    if meta.at_once:
        return []
    calls = list(zip(history.calls, history.answers, strict=True))[history.turn :]
    return [
        str(arguments.get(meta.argument))
        for (name, arguments), answer in calls
        if name == meta.load and _read(answer).get("status") == "loaded"
    ]


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    text: str
    size: int
    is_loaded: bool


def _read_entries(answer: str, key: str) -> list[_Entry]:
    """What can be loaded, as it was listed; empty where that cannot be read."""
    entries = _read(answer).get(key)
    return [
        _read_entry(entry)
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    ]


def _read_entry(entry: Mapping[str, Any]) -> _Entry:
    description, count, tools = (entry.get(key) for key in ("description", "tool_count", "tools"))
    names = [split_name(tool) for tool in tools if isinstance(tool, str)] if isinstance(tools, list) else []
    text = " ".join([description if isinstance(description, str) else "", *names])
    return _Entry(entry["name"], text, count if isinstance(count, int) else len(names), entry.get("loaded") is True)


def _read(answer: str) -> Mapping[str, Any]:
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
