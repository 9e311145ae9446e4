"""Browsing and loading: which category of tools to load for words that no tool at hand fits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.models.local.fit import Ranking, words_of
from toolbelt.evals.models.local.history import History

BROWSE = "browse_tools"
"""The meta-tool that lists the categories."""
LOAD = "load_tools"
"""The meta-tool that loads one."""
MOST_LOADED = 3
"""Categories that are loaded for one message at the most."""


@dataclass(frozen=True, slots=True)
class _Category:
    name: str
    description: str
    tool_count: int


def find_next_step(history: History, wanted: Sequence[Sequence[str]]) -> tuple[str, Mapping[str, Any]] | None:
    """The next call of a meta-tool; `None` where there is nothing more to look for.

    Browses first. Then loads the category whose name and description fit best what is wanted, the first wish first.
    Where no category describes itself, and no name has a word of what is wanted, it loads the largest: that is the
    likeliest to hold anything.

    Args:
        history: The conversation.
        wanted: The words of each wish.
    """
    answers = [answer for (name, _), answer in zip(history.calls, history.answers, strict=True) if name == BROWSE]
    if not answers:
        return BROWSE, {}
    categories = next((found for answer in reversed(answers) if (found := _read_categories(answer))), [])
    tried = {str(arguments.get("category")) for name, arguments in history.calls if name == LOAD}
    left = [index for index, category in enumerate(categories) if category.name not in tried]
    if not left or len(tried) >= MOST_LOADED:
        return None
    ranking = Ranking([words_of(category.name, category.description, {}) for category in categories])
    for words in wanted:
        if (match := ranking.find_best(words, left)) is not None:
            return LOAD, {"category": categories[match.position].name}
    if tried or any(category.description.strip() for category in categories):
        return None
    largest = max(left, key=lambda index: categories[index].tool_count)
    return LOAD, {"category": categories[largest].name}


def _read_categories(answer: str) -> list[_Category]:
    """What `browse_tools` answered; empty where that cannot be read."""
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        return []
    entries = data.get("categories") if isinstance(data, dict) else None
    return [
        _Category(entry["name"], _text(entry.get("description")), count if isinstance(count, int) else 0)
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
        for count in (entry.get("tool_count"),)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
