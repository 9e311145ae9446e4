"""A parsed text, with the line each value came from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from toolbelt.findings import Finding, Severity

Key = str | int
MAX_DEPTH = 100
"""Levels of nesting that are read; real schemas stay below 20."""
_MAX_SHOWN = 60
"""Characters of a wrong value that a message repeats."""
_PLAIN_KEY = r"[\w-]+"
HALF_PAIR = "Half a surrogate pair is no character."


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """A parsed text.

    Attributes:
        data: dicts, lists, strings, numbers, booleans and `None`.
        source: The path as the user wrote it, or another name for where the text is from.
        lines: 1-based line by place; of JSON, found only when first asked for.
        is_json: Whether it was JSON; messages then use the words of JSON.
    """

    data: Any
    source: str
    _text: str = field(default="", repr=False)
    lines: dict[tuple[Key, ...], int] = field(default_factory=dict, repr=False)
    is_json: bool = False

    def find_line(self, *keys: Key) -> int | None:
        """1-based line of the value under `keys`, or of the nearest thing around it that is known."""
        if not self.lines and self._text:
            self.lines.update(locate_json(self._text)[0])
        for end in range(len(keys), 0, -1):
            if (line := self.lines.get(keys[:end])) is not None:
                return line
        return self.lines.get(())

    def finding(self, rule: str, message: str, *keys: Key, severity: Severity = Severity.ERROR) -> Finding:
        """A finding placed at the value under `keys`."""
        return Finding(rule, severity, message, self.source, self.find_line(*keys))


def too_deep(source: str, line: int | None = None) -> Finding:
    """The finding about a text that is nested deeper than is read."""
    return Finding("too-deep", Severity.ERROR, f"Nested more than {MAX_DEPTH} levels deep.", source, line)


def has_surrogate(text: str) -> bool:
    """Whether `text` has half a surrogate pair, which no file can hold."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def describe_value(value: object, *, is_json: bool = False) -> str:
    """A wrong value in the words of an error message; one that is long by its beginning.

    Args:
        value: As it was read.
        is_json: Whether it was written in JSON, where nothing is `null` and a mapping is an object.
    """
    match value:
        case None:
            return "null" if is_json else "nothing"
        case bool():
            return str(value).lower() + ("" if is_json else " (put it in quotes if it is a name)")
        case dict():
            return "an object" if is_json else "a mapping"
        case list():
            return "a list" if value else "an empty list"
        case str() if not value.strip():
            return "blank text"
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def format_path(path: Iterable[Key]) -> str:
    """A path as people write it: `agents.code.allowed_toolkits[0]`."""
    text = ""
    for key in path:
        if isinstance(key, str) and re.fullmatch(_PLAIN_KEY, key):
            text += f".{key}" if text else key
        else:
            text += f"[{json.dumps(key, ensure_ascii=False)}]"
    return text


_JSON_MARK = r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+'


def locate_json(text: str) -> tuple[dict[tuple[Key, ...], int], list[tuple[int, str]]]:
    """The lines of a text that `json` has read without complaint.

    Returns:
        1-based line by place (of a member, where its key stands), and `(line, key)` for each key that stands again
        in one object.
    """
    lines: dict[tuple[Key, ...], int] = {}
    repeated: list[tuple[int, str]] = []
    place: list[Key] = []
    keys_seen: list[set[str] | None] = []  # of each object still open; None for a list
    wants_key = False
    line, end = 1, 0
    for token in re.finditer(_JSON_MARK, text, re.DOTALL):
        line += text.count("\n", end, token.start())
        end = token.start()
        mark = token[0]
        if mark in ("}", "]"):
            keys_seen.pop()
            place.pop()
            wants_key = False
        elif mark == ",":
            wants_key = keys_seen[-1] is not None
            if isinstance(place[-1], int):
                place[-1] += 1
        elif wants_key and (seen := keys_seen[-1]) is not None:
            key = json.loads(mark)
            if key in seen:
                repeated.append((line, key))
            seen.add(key)
            place[-1] = key
            lines[tuple(place)] = line  # of a key that stands twice, the last, whose value `json` keeps
            wants_key = False
        elif mark != ":":
            lines.setdefault(tuple(place), line)
            if wants_key := mark == "{":
                place.append("")
                keys_seen.append(set())
            elif mark == "[":
                place.append(0)
                keys_seen.append(None)
    return lines, repeated
