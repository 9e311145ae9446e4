"""Tools ranked by a pattern, as Anthropic's `tool_search_tool_regex` takes one: `re.search`, 200 characters at most."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from toolbelt.catalog.ranking.ranker import Field, QueryError, QueryProblem, SearchHit
from toolbelt.catalog.ranking.text import STOP_WORDS, split_as_written
from toolbelt.catalog.tool import Tool

MAX_PATTERN_CHARS = 200
"""Characters of a pattern, as in Anthropic's documentation."""
MAX_SECONDS = 1.0
"""For one search: a pattern may take exponential time."""
_LEAST_SECONDS = 1e-4
_QUICK = re.compile(r"[^(*+?{]*(?:[*+?][+?]?|\()?[^(*+?{]*")
"""Patterns that take quadratic time at the most: they repeat one thing, or have one group."""
_SHORT = 500
"""Characters of a text that such a pattern needs no limit for; a limit takes ten times as long as most searches."""
_MAX_MATCH_CHARS = 100
_SCORES = MappingProxyType({Field.NAME: 3.0, Field.DESCRIPTION: 2.0, Field.ARGUMENTS: 1.0})


def make_pattern(text: str) -> str:
    """A pattern for a text that is none: any of its words matches.

    Stop words are left out, and words for which there is no room; empty if no word is left.
    """
    written = (word for word, (form, *_) in split_as_written(text) if form not in STOP_WORDS)
    return join_pattern(dict.fromkeys(written))


def join_pattern(words: Iterable[str]) -> str:
    """A pattern that any of the words matches; words for which there is no room are left out."""
    pattern = ""
    for word in map(re.escape, words):
        longer = f"{pattern}|{word}" if pattern else word
        if len(longer) <= MAX_PATTERN_CHARS:
            pattern = longer
    return pattern


class RegexRanker:
    """Ranks by a pattern in Python's syntax; upper and lower case are the same, except in `(?-i:…)`."""

    name = "regex"

    def index(self, tools: Sequence[Tool]) -> RegexIndex:
        """An index of tools."""
        return RegexIndex(tools)


class RegexIndex:
    """Tools that can be searched by a pattern.

    A tool is found if the pattern matches its name, its description, or the name or description of an argument. Tools
    whose names match come first, then those whose descriptions match; equals keep their order.

    Args:
        tools: Their ids are unique.
        max_seconds: Of one search.
    """

    def __init__(self, tools: Sequence[Tool], max_seconds: float = MAX_SECONDS) -> None:
        self._tools = tuple(tools)
        self._max_seconds = max_seconds

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """The first `k` tools that a pattern matches.

        Raises:
            QueryError: the pattern is too long, has a mistake, or takes too much time.
        """
        import regex  # `re` cannot be stopped once it has begun

        if len(text) > MAX_PATTERN_CHARS:
            message = f"The pattern has more than {MAX_PATTERN_CHARS} characters."
            raise QueryError(QueryProblem.PATTERN_TOO_LONG, message)
        try:
            pattern = regex.compile(text, regex.IGNORECASE)
        except (regex.error, RecursionError, OverflowError, ValueError) as error:
            raise QueryError(QueryProblem.INVALID_PATTERN, f"The pattern {text!r} is invalid: {error}.") from None
        is_quick = _QUICK.fullmatch(text) is not None
        hits: list[SearchHit] = []
        end = time.monotonic() + self._max_seconds
        try:
            for tool in self._tools if text else ():
                matched: dict[Field, tuple[str, ...]] = {}
                for field, part in _read_parts(tool):
                    if field in matched:
                        continue
                    left = max(end - time.monotonic(), _LEAST_SECONDS)
                    if is_quick and len(part) <= _SHORT and left > _LEAST_SECONDS:
                        match = pattern.search(part)
                    else:
                        match = pattern.search(part, timeout=left)
                    if match is not None:
                        matched[field] = (match[0][:_MAX_MATCH_CHARS],)
                if matched:
                    hits.append(SearchHit(tool, max(_SCORES[field] for field in matched), MappingProxyType(matched)))
        except TimeoutError:
            message = f"The pattern {text!r} takes too long; write a simpler one."
            raise QueryError(QueryProblem.TIMEOUT, message) from None
        return tuple(sorted(hits, key=lambda hit: -hit.score)[: max(k, 0)])

    def within(self, ids: Collection[str]) -> RegexIndex:
        """The same over a part of the tools."""
        return RegexIndex([tool for tool in self._tools if tool.id in ids], self._max_seconds)


@lru_cache(maxsize=4096)
def _read_parts(tool: Tool) -> tuple[tuple[Field, str], ...]:
    """What a pattern is matched against, each as it is written."""
    parts = [(Field.NAME, tool.name), (Field.DESCRIPTION, tool.description)]
    properties = tool.parameters.get("properties")
    for key, schema in properties.items() if isinstance(properties, Mapping) else ():
        parts.append((Field.ARGUMENTS, str(key)))
        if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
            parts.append((Field.ARGUMENTS, schema["description"]))
    return tuple(parts)
