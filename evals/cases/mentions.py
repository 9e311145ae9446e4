"""Whether a query gives away the tool that is to be found."""

from __future__ import annotations

import re
from functools import lru_cache

from toolbelt.catalog.search import split_name

_PART = re.compile(r"[^\W_]+")
_QUOTES = "`'\"‘’‚“”„«»‹›「」『』"
_BETWEEN = r"[\s_\-./:]*"
_START, _END = "(?<![a-z0-9_])", "(?![a-z0-9_])"
"""Of a name; letters of writing without blanks may stand right beside it."""
_BY = r"(?:use|using|via|call|calling|invoke|run)\s+(?:the\s+)?"
_MOST_KEPT = 20_000
"""Names whose patterns are kept: those of a very large catalog."""


def names_tool(query: str, name: str) -> bool:
    """Whether a query names a tool, case aside.

    A name of several parts, such as `git_push` or `getWeather`, counts however the parts are set apart. One of a single
    part, such as `search`, is mostly a word like any other: it counts in quotes, before or after the word "tool", and
    after "use", "call" and the like where it stands as a tool would, with nothing of its own behind it.
    """
    if (known := _pattern(name)) is None:
        return False
    said = query.casefold()
    return known[0] in said and known[1].search(said) is not None


@lru_cache(_MOST_KEPT)
def _pattern(name: str) -> tuple[str, re.Pattern[str]] | None:
    """What must stand in a text for it to be worth a look, and what is looked for; both in lower case."""
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
