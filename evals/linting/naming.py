"""Whether a query names the tool that is to be found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolbelt.catalog import Tool
from toolbelt.catalog.search import split_name
from toolbelt.evals.cases.case import Case
from toolbelt.findings import Finding, Severity

EASY = "easy"
"""The tag of cases whose query is meant to name the tool."""
_PART = re.compile(r"[^\W_]+")
_QUOTES = "`'\"‘’‚“”„«»‹›「」『』"
_BETWEEN = r"[\s_\-./:]*"
_START, _END = "(?<![a-z0-9_])", "(?![a-z0-9_])"
"""Of a name; letters of writing without blanks may stand right beside it."""
_BY = r"(?:use|using|via|call|calling|invoke|run)\s+(?:the\s+)?"


class Leaks:
    """Finds names of tools in queries.

    A name of several parts, such as `git_push` or `getWeather`, counts however the parts are set apart. One of a single
    part, such as `search`, is mostly a word like any other: it counts in quotes, before or after the word "tool", and
    after "use", "call" and the like where it stands as a tool would, with nothing of its own behind it.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._known: dict[str, tuple[str, re.Pattern[str]] | None] = {}

    def look(self, case: Case) -> Iterator[Finding]:
        """A finding for each name."""
        if EASY in case.tags:
            return
        said = "\n".join(spoken(case)).casefold()
        named = {self._tools[tool_id].name for answer in case.answers for call in answer for tool_id in call.tools}
        for name in sorted(named):
            if name not in self._known:
                self._known[name] = _pattern(name)
            if (known := self._known[name]) is not None and known[0] in said and known[1].search(said):
                message = f"The query names the tool {name!r} that is to be found; reword it, or tag the case {EASY!r}."
                yield Finding("name-in-query", Severity.WARNING, message)


def spoken(case: Case) -> Iterator[str]:
    """Each text that the user says."""
    for message in case.messages:
        if message.get("role") == "user":
            yield text_of(message.get("content"))


def text_of(content: object) -> str:
    """The text of a message, be it one or in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


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
