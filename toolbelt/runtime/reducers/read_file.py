"""The reducer of files that were read whole: their size and first lines (rule R5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.text import (
    add_note,
    count_lines,
    find_document,
    format_count,
    has_note,
    reduce_fields,
    replace_if_shorter,
)
from toolbelt.runtime.results import ToolResult

MAX_LINES = 200
MAX_CHARS = 24_000
"""The size of `MAX_LINES` lines of the usual line length of code, 120."""
_MIN_LINE_CHARS = 1_000
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RANGE_WORD = re.compile(
    r"(?!(?:view|num|max)$)(?:(?:line|range|offset|limit|start|begin|end|first|last|from|to|head|tail|skip|page|view|num"
    r"|max)s?)+"
)
"""Words in the names of arguments that ask for a part of a file: `line_start`, `endline`."""
_OTHER_WORDS = frozenset({"width", "length", "wrap"})
"""Words that give such a name another meaning: `line_length`."""
_CONTENT_FIELDS = ("content", "contents", "text")


@dataclass(frozen=True, slots=True)
class ReadFileReducer:
    """Cuts a file that was read whole, and states its size above it.

    A small file stays as it is, and so does a part that the model asked for. Any argument that names a side of a range
    (`line_start`, `endLine`, `offset`, `view_range`, ...) asks for a part, unless it is null, empty or 0.

    Attributes:
        tool_name: The tool whose results these are.
        max_lines: Lines that are shown.
        max_chars: Characters that are shown. Where lines are long, each shows its share of them.
    """

    tool_name: str = "read_file"
    max_lines: int = MAX_LINES
    max_chars: int = MAX_CHARS

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
        """The result with at most `max_lines` lines, if the file was read whole."""
        if not result.ok or has_note(result.value) or asks_for_range(info.args):
            return result
        hint = _describe_range_arguments(info.args)
        document = find_document(result)
        if document is None:
            return replace_if_shorter(result, self._shorten(result.value, hint))
        reduced = reduce_fields(document, _CONTENT_FIELDS, lambda text: self._shorten(text, hint))
        return result if reduced is None else replace_if_shorter(result, json.dumps(reduced, ensure_ascii=False))

    def _shorten(self, text: str, hint: str) -> str:
        total = count_lines(text)
        if has_note(text) or (total <= self.max_lines and len(text) <= self.max_chars):
            return text
        size = f"{format_count(total, 'line')}, {format_count(len(text), 'character')} in all"
        head = text.split("\n", self.max_lines)[: self.max_lines][:total]
        if sum(map(len, head)) + len(head) <= self.max_chars:
            return self._shorter(text, add_note(f"{size}; lines 1-{len(head)} shown; {hint}", "\n".join(head)))
        share = max(self.max_chars // max(len(head), 1), min(_MIN_LINE_CHARS, self.max_chars))
        shown = list(_take(head, share, self.max_chars))
        shown_lines = "line 1" if len(shown) == 1 else f"lines 1-{len(shown)}"
        long = "" if shown == head[: len(shown)] else f", long ones up to {share:,} characters"
        return self._shorter(text, add_note(f"{size}; {shown_lines} shown{long}; {hint}", "\n".join(shown)))

    @staticmethod
    def _shorter(text: str, reduced: str) -> str:
        return reduced if len(reduced) < len(text) else text


def _take(lines: Sequence[str], share: int, cap: int) -> Iterator[str]:
    for position, line in enumerate(lines):
        cap -= min(len(line), share) + 1
        if position and cap < 0:
            return
        yield line if len(line) <= share else f"{line[:share]}[... {len(line) - share:,} characters left out]"


def _describe_range_arguments(args: Mapping[str, Any]) -> str:
    # Arguments without a value; a boolean or a text belongs to an argument with another meaning.
    names = [key for key in _range_keys(args) if args[key] == "" or not isinstance(args[key], bool | str)]
    return f"give {' and '.join(names)} to read another part" if names else "ask for a range of lines to read the rest"


def asks_for_range(args: Mapping[str, Any]) -> bool:
    """Whether arguments ask for a part of a file; a range of nulls does not."""
    return any(_sets_a_bound(args[key]) for key in _range_keys(args))


def _range_keys(args: Mapping[str, Any]) -> list[str]:
    keys = [key for key in args if isinstance(key, str)] if isinstance(args, Mapping) else []
    return [key for key in keys if _names_a_range([word.casefold() for word in _WORD.findall(key)])]


def _names_a_range(words: Sequence[str]) -> bool:
    return any(map(_RANGE_WORD.fullmatch, words)) and _OTHER_WORDS.isdisjoint(words)


def _sets_a_bound(value: Any) -> bool:
    """Null, 0, booleans and words without a number state no beginning or end."""
    if isinstance(value, str):
        return re.search("[1-9]", value) is not None
    if isinstance(value, Mapping):
        return any(map(_sets_a_bound, value.values()))
    if isinstance(value, Sequence):
        return any(map(_sets_a_bound, value))
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0
