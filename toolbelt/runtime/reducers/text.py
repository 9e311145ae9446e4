"""Shortens text so that it states what was left out, and keeps the lines that look like errors."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from toolbelt.runtime.results import ToolResult

_NOTE = "[reduced: "
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-Za-z]|[=>78cDEHMNOZ])")
_TO_LINE_START = re.compile(r"\x1b\[[01]?G")
_MAX_ERROR_CHARS = 400


def add_note(note: str, body: str) -> str:
    """The body under a line that states how it was reduced."""
    return f"{_NOTE}{note}]\n{body}"


def has_note(text: str) -> bool:
    """Whether a text is already reduced."""
    return text.startswith(_NOTE)


def count_lines(text: str) -> int:
    """The number of lines; a newline at the end begins no further line."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def format_count(count: int, noun: str) -> str:
    """A number with its noun: `1 line`, `1,200 lines`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def clean(text: str) -> str:
    """What a terminal shows in the end: no colours, and only the last state of an overwritten line.

    The number of lines stays the same. Overwritten text stays if it looks like an error.
    """
    if "\x1b" in text:
        text = _ESCAPE.sub("", _TO_LINE_START.sub("\r", text))
    if "\r" not in text:
        return text
    return "\n".join(_last_state(line) if "\r" in line else line for line in text.split("\n"))


def _last_state(line: str) -> str:
    states = [state for state in line.split("\r") if state.strip()]
    overwritten = "\n".join(states[:-1])
    errors = find_error_lines(overwritten, 0, len(overwritten)) if overwritten else {}
    return " ".join([*(states[number] for number in sorted(errors)), *states[-1:]])


def excerpt(lines: Sequence[str], cap: int, numbers: Sequence[int] | None = None) -> str:
    """The head and the tail of a text, and the lines between them that look like errors.

    Cut at line borders, or within a line if it is so long that a border would cost half of the space.

    Args:
        lines: Without their newlines.
        cap: Size limit of the answer in characters, notes included; at least 400.
        numbers: Of the lines in the original output, from 1; by default 1, 2, 3 ...

    Returns:
        The whole text if it fits.
    """
    text = "\n".join(lines)
    if len(text) <= cap:
        return text
    space = cap - 200  # the rest is for the notes
    start, end = _ends(text, space * 2 // 5, space * 3 // 5)
    if not find_error_lines(text, start, end):
        return _join_around(text, start, end, ())
    start, end = _ends(text, space * 3 // 10, space * 2 // 5)
    errors = find_error_lines(text, start, end)
    left = space - start - (len(text) - end)
    shown = []
    for position, at in sorted(errors.items()):
        line = f"{position + 1 if numbers is None else numbers[position]}: {_line_around(text, at, start, end)}"
        if len(line) < left:
            left -= len(line) + 1
            shown.append(line)
    return _join_around(text, start, end, shown, len(errors))


def _ends(text: str, head: int, tail: int) -> tuple[int, int]:
    """Where the head ends and the tail begins; at line borders where one is near enough."""
    start = text.rfind("\n", head // 2, head) + 1 or head
    end = text.find("\n", len(text) - tail, len(text) - tail // 2) + 1 or len(text) - tail
    return start, end


def _join_around(text: str, start: int, end: int, shown: Iterable[str], error_count: int = 0) -> str:
    middle = text[start:end]
    within = not middle.endswith("\n") or (start > 0 and text[start - 1] != "\n")
    count = middle.count("\n") if not within else sum(1 for _ in middle.split("\n")[1:-1])
    lines = f"{format_count(count, 'line')}, " if count else ""
    parts = " within lines" if within else ""
    note = f"[... {lines}{format_count(len(middle), 'character')}{parts} left out ...]"
    if shown := list(shown):
        all_errors = format_count(error_count, "line")
        errors = all_errors if error_count == len(shown) else f"{len(shown):,} of {all_errors}"
        note = f"{note[:-5]}; {errors} of it that may be errors, by number:]"
        note = "\n".join((note, *shown, "[...]"))
    before, after = text[:start].removesuffix("\n"), text[end:]
    return f"{before}\n{note}\n{after}"


def _line_around(text: str, at: int, start: int, end: int) -> str:
    """The line at a position, or the part of a long line around it."""
    begin = max(start, at - _MAX_ERROR_CHARS // 4)
    stop = min(end, at + _MAX_ERROR_CHARS)
    first = text.rfind("\n", begin, at) + 1
    last = text.find("\n", at, stop)
    before = "" if first or begin in (0, start) else "..."
    after = "" if last >= 0 or stop == end else "..."
    return f"{before}{text[first or begin : last if last >= 0 else stop]}{after}"


def replace_if_shorter(result: ToolResult, value: str) -> ToolResult:
    """The result with another value if that is shorter, else unchanged."""
    return replace(result, value=value) if len(value) < len(result.value) else result


def find_document(result: ToolResult) -> dict[str, Any] | None:
    """The JSON object of a result's text; `None` if the tool returned plain text, whatever that contains."""
    if not isinstance(result.structured, Mapping) or not result.value.lstrip().startswith("{"):
        return None
    document = read_json(result.value)
    return document if isinstance(document, dict) else None


def read_json(text: str) -> Any:
    """The value of a JSON text; `None` if it is invalid or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def reduce_fields(
    document: Mapping[str, Any], fields: Iterable[str], reduce: Callable[[str], str]
) -> dict[str, Any] | None:
    """The object with some of its texts reduced; `None` if nothing changed."""
    reduced = {
        key: reduce(value) if key in fields and isinstance(value, str) else value for key, value in document.items()
    }
    return reduced if reduced != document else None


_ANYWHERE = ("error", "exception", "traceback", "✕", "✗", "✖", "●")
"""Also at the end of a word, as in `ValueError`."""
_BEGINNING = (
    *("fail", "fatal", "panic", "warn", "denied", "cannot ", "not found", "no such file", "unable to", "undefined"),
    *("conflict", "killed", "segmentation", "exit code", "exit status", "exited with", "aborted"),
)
"""At the beginning of a word."""
_SPELLED = tuple(
    (spelled, word in _ANYWHERE)
    for word in (*_ANYWHERE, *_BEGINNING)
    for spelled in dict.fromkeys((word, word.capitalize(), word.upper()))
)
# Looking for each spelling in turn is ten times quicker than one pattern that ignores case.
_DETAIL = "\nE   "
"""How pytest begins the lines with the details of a failure."""


def looks_like_error(line: str) -> bool:
    """Whether a line looks like an error or a warning."""
    return bool(find_error_lines(line, 0, len(line)))


def find_error_lines(text: str, start: int, end: int) -> dict[int, int]:
    """The lines in a part of a text that look like errors; takes linear time.

    Returns:
        Positions of the words that look like errors, by line number from 0.
    """
    positions: dict[int, int] = {}
    begins: list[int] = []
    for word, anywhere in ((_DETAIL, True), *_SPELLED):
        at = text.find(word, start, end)
        while at >= 0:
            begins = begins or _find_begins(text)
            line = bisect_right(begins, at if word is not _DETAIL else at + 1) - 1
            if line not in positions and _is_error(text, at, anywhere):
                positions[line] = at if word is not _DETAIL else at + 1
            after = at + len(word)
            if line in positions:  # one word per line is enough
                after = max(after, begins[line + 1]) - 1 if line + 1 < len(begins) else end
            at = text.find(word, after, end)
    return positions


def _find_begins(text: str) -> list[int]:
    return list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))[:-1]


def _is_error(text: str, at: int, anywhere: bool) -> bool:
    """Not the middle of another word, and not `0 errors`."""
    before = text[max(0, at - 4) : at].lower()
    if before.endswith((" 0 ", " no ")) or before in ("0 ", "no ") or before[-3:] in ("\n0 ", "(0 ", ",0 "):
        return False
    return anywhere or not before[-1:].isalnum()
