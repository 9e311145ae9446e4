"""Files read whole: their size, and their first lines (rule R5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.text import (
    count_lines,
    find_document,
    is_noted,
    noted,
    reduce_fields,
    replace_value,
    tell_count,
)
from toolbelt.runtime.results import ToolResult

MAX_LINES = 200
MAX_CHARS = 24_000
"""As much as the lines have if each is as long as a line of code may be."""
_LEAST_OF_A_LINE = 1_000
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_OF_A_RANGE = re.compile(
    r"(?!(?:view|num|max)$)(?:(?:line|range|offset|limit|start|begin|end|first|last|from|to|head|tail|skip|page|view|num"
    r"|max)s?)+"
)
"""A word in the name of an argument that asks for a part of a file, also several in one: `line_start`, `endline`."""
_OF_A_LINE = frozenset({"width", "length", "wrap"})
"""Words that make such a name one of something else: `line_length`."""
_CONTENT_FIELDS = ("content", "contents", "text")


@dataclass(frozen=True, slots=True)
class ReadFileReducer:
    """Cuts a file that was read whole, and says above it how large it is.

    A file that is small enough stays as it is, and so does the part of one that a model asked for. Any argument that
    names a side of a range (`line_start`, `endLine`, `offset`, `view_range`, ...) asks for a part. One that is null,
    empty or 0 does not: it asks for what the tool gives anyway.

    Attributes:
        tool_name: The tool whose results these are.
        max_lines: Lines that are shown.
        max_chars: Characters that are shown, where lines are long; each then shows as much of it as is its share.
    """

    tool_name: str = "read_file"
    max_lines: int = MAX_LINES
    max_chars: int = MAX_CHARS

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
        """The result with at most so many lines of the file, if it was read whole."""
        if not result.ok or is_noted(result.value) or asks_for_range(info.args):
            return result
        call_with_time_limit = _how_to_ask(info.args)
        document = find_document(result)
        if document is None:
            return replace_value(result, self._shorten(result.value, call_with_time_limit))
        made = reduce_fields(document, _CONTENT_FIELDS, lambda text: self._shorten(text, call_with_time_limit))
        return result if made is None else replace_value(result, json.dumps(made, ensure_ascii=False))

    def _shorten(self, text: str, call_with_time_limit: str) -> str:
        total = count_lines(text)
        if is_noted(text) or (total <= self.max_lines and len(text) <= self.max_chars):
            return text
        size = f"{tell_count(total, 'line')}, {tell_count(len(text), 'character')} in all"
        head = text.split("\n", self.max_lines)[: self.max_lines][:total]
        if sum(map(len, head)) + len(head) <= self.max_chars:
            return self._above(
                text, noted(f"{size}; lines 1-{len(head)} shown; {call_with_time_limit}", "\n".join(head))
            )
        share = max(self.max_chars // max(len(head), 1), min(_LEAST_OF_A_LINE, self.max_chars))
        shown = list(_take(head, share, self.max_chars))
        which = "line 1" if len(shown) == 1 else f"lines 1-{len(shown)}"
        long = "" if shown == head[: len(shown)] else f", long ones up to {share:,} characters"
        return self._above(text, noted(f"{size}; {which} shown{long}; {call_with_time_limit}", "\n".join(shown)))

    @staticmethod
    def _above(text: str, made: str) -> str:
        return made if len(made) < len(text) else text


def _take(lines: Sequence[str], share: int, cap: int) -> Iterator[str]:
    for position, line in enumerate(lines):
        cap -= min(len(line), share) + 1
        if position and cap < 0:
            return
        yield line if len(line) <= share else f"{line[:share]}[... {len(line) - share:,} characters left out]"


def _how_to_ask(args: Mapping[str, Any]) -> str:
    # Those that are there and say nothing; a yes or no, or a text, is what some other argument is about.
    names = [key for key in _range_keys(args) if args[key] == "" or not isinstance(args[key], bool | str)]
    return f"give {' and '.join(names)} to read another part" if names else "ask for a range of lines to read the rest"


def asks_for_range(args: Mapping[str, Any]) -> bool:
    """Whether arguments ask for a part of a file; a range of nulls does not."""
    return any(_says_something(args[key]) for key in _range_keys(args))


def _range_keys(args: Mapping[str, Any]) -> list[str]:
    keys = [key for key in args if isinstance(key, str)] if isinstance(args, Mapping) else []
    return [key for key in keys if _names_a_range([word.casefold() for word in _WORD.findall(key)])]


def _names_a_range(words: Sequence[str]) -> bool:
    return any(map(_OF_A_RANGE.fullmatch, words)) and _OF_A_LINE.isdisjoint(words)


def _says_something(value: Any) -> bool:
    """Null, 0, a yes or no and words without a number say nothing of where a part begins or ends."""
    if isinstance(value, str):
        return re.search("[1-9]", value) is not None
    if isinstance(value, Mapping):
        return any(map(_says_something, value.values()))
    if isinstance(value, Sequence):
        return any(map(_says_something, value))
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0
