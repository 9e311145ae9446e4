"""Whether a query mentions a tool by its name."""

from __future__ import annotations

import re
from functools import lru_cache

from toolbelt.catalog.ranking.text import split_name

_PART = re.compile(r"[^\W_]+")
_QUOTES = "`'\"‘’‚“”„«»‹›「」『』"
_BETWEEN = r"[\s_\-./:]*"
_START, _END = "(?<![a-z0-9_])", "(?![a-z0-9_])"
"""Of a name; letters of scripts without blanks may stand right beside it."""
_BY = r"(?:use|using|via|call|calling|invoke|run)\s+(?:the\s+)?"
_MOST_KEPT = 20_000
"""Cached patterns: enough for the names of a very large catalog."""


def mentions_tool(query: str, name: str) -> bool:
    """Whether a query mentions a tool; upper and lower case are the same.

    A name of several parts, such as `git_push` or `getWeather`, counts with any separator between them. A name of one
    part, such as `search`, is usually an ordinary word: it counts in quotes, before or after the word "tool", and
    after "use", "call" and the like, where it has no object.
    """
    if (known := _pattern(name)) is None:
        return False
    first_part, pattern = known
    text = query.casefold()
    return first_part in text and pattern.search(text) is not None


@lru_cache(_MOST_KEPT)
def _pattern(name: str) -> tuple[str, re.Pattern[str]] | None:
    """A part that must occur, for a quick check, and the pattern; both in lower case. `None` without any letter."""
    parts = [part.casefold() for part in _PART.findall(split_name(name))]
    if not parts:
        return None
    if len(parts) > 1:
        return parts[0], re.compile(rf"{_START}{_BETWEEN.join(map(re.escape, parts))}{_END}")
    word = re.escape(parts[0])
    ways = (
        rf"[{_QUOTES}]{word}(?:\(\))?[{_QUOTES}]",
        rf"{_START}{word}[\s-]tool{_END}",
        rf"{_START}tool(?:\s+(?:called|named))?\s+{word}{_END}",
        rf"{_START}{_BY}{word}(?=\s+(?:to|for|and|on|with|in|from)\s|\s*[.,;:!?]|\s*$)",
    )
    return parts[0], re.compile("|".join(ways))
