"""A parsed text, with the line each value came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolbelt.findings import Finding, Severity

Key = str | int
MAX_DEPTH = 100
"""Levels of nesting that are read; real schemas stay below 20."""
HALF_PAIR = "Half a surrogate pair is no character."


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """A parsed text.

    Attributes:
        data: dicts, lists, strings, numbers, booleans and `None`.
        source: The path as the user wrote it, or another name for where the text is from.
        lines: 1-based line by place; of JSON, found only when first asked for.
    """

    data: Any
    source: str
    _text: str = field(default="", repr=False)
    lines: dict[tuple[Key, ...], int] = field(default_factory=dict, repr=False)

    def find_line(self, *keys: Key) -> int | None:
        """1-based line of the value under `keys`, or of the nearest thing around it that is known."""
        if not self.lines and self._text:
            from toolbelt.sources.json_places import locate_json

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
