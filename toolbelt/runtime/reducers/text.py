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
_LONGEST_MATTER = 400


def noted(what: str, body: str) -> str:
    """A body under the line that says how it was reduced."""
    return f"{_NOTE}{what}]\n{body}"


def is_noted(text: str) -> bool:
    """Whether a text says that it was reduced, so that nothing is reduced twice."""
    return text.startswith(_NOTE)


def count_lines(text: str) -> int:
    """Lines as an editor counts them: a newline at the end begins no further one."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def tell_count(count: int, what: str) -> str:
    """A number with its noun: `1 line`, `1,200 lines`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def clean(text: str) -> str:
    """What a terminal shows in the end: no colours, and of a line that was written over only the last state.

    Lines stay as many as they were. What was written over stays where it looks like an error.
    """
    if "\x1b" in text:
        text = _ESCAPE.sub("", _TO_LINE_START.sub("\r", text))
    if "\r" not in text:
        return text
    return "\n".join(_last_state(line) if "\r" in line else line for line in text.split("\n"))


def _last_state(line: str) -> str:
    states = [state for state in line.split("\r") if state.strip()]
    gone = "\n".join(states[:-1])
    kept = find_matters(gone, 0, len(gone)) if gone else {}
    return " ".join([*(states[number] for number in sorted(kept)), *states[-1:]])


def excerpt(lines: Sequence[str], cap: int, numbers: Sequence[int] | None = None) -> str:
    """The head and the tail of a text, and of what lies between the lines that look like errors.

    Cut at line borders; within a line where that is so long that a border would cost half of what fits.

    Args:
        lines: Without their newlines.
        cap: Characters that the answer has at most, what it says of itself included; from 400 on.
        numbers: Of the lines in what was printed, from 1; by default as they come here.

    Returns:
        All of it where that fits.
    """
    text = "\n".join(lines)
    if len(text) <= cap:
        return text
    room = cap - 200  # for what is said in between
    start, end = _ends(text, room * 2 // 5, room * 3 // 5)
    if not find_matters(text, start, end):
        return _around(text, start, end, ())
    start, end = _ends(text, room * 3 // 10, room * 2 // 5)
    found = find_matters(text, start, end)
    left = room - start - (len(text) - end)
    shown = []
    for position, at in sorted(found.items()):
        told = f"{position + 1 if numbers is None else numbers[position]}: {_line_around(text, at, start, end)}"
        if len(told) < left:
            left -= len(told) + 1
            shown.append(told)
    return _around(text, start, end, shown, len(found))


def _ends(text: str, head: int, tail: int) -> tuple[int, int]:
    """Where the head ends and the tail begins; at line borders where one is near enough."""
    start = text.rfind("\n", head // 2, head) + 1 or head
    end = text.find("\n", len(text) - tail, len(text) - tail // 2) + 1 or len(text) - tail
    return start, end


def _around(text: str, start: int, end: int, shown: Iterable[str], found: int = 0) -> str:
    middle = text[start:end]
    within = not middle.endswith("\n") or (start > 0 and text[start - 1] != "\n")
    count = middle.count("\n") if not within else sum(1 for _ in middle.split("\n")[1:-1])
    lines = f"{tell_count(count, 'line')}, " if count else ""
    parts = " within lines" if within else ""
    told = f"[... {lines}{tell_count(len(middle), 'character')}{parts} left out ...]"
    if shown := list(shown):
        of = tell_count(found, "line") if found == len(shown) else f"{len(shown):,} of {tell_count(found, 'line')}"
        told = f"{told[:-5]}; {of} of it that may be errors, by number:]"
        told = "\n".join((told, *shown, "[...]"))
    before, after = text[:start].removesuffix("\n"), text[end:]
    return f"{before}\n{told}\n{after}"


def _line_around(text: str, at: int, start: int, end: int) -> str:
    """The line that is at a place, or what is near the place where the line is long."""
    begin = max(start, at - _LONGEST_MATTER // 4)
    stop = min(end, at + _LONGEST_MATTER)
    first = text.rfind("\n", begin, at) + 1
    last = text.find("\n", at, stop)
    before = "" if first or begin in (0, start) else "..."
    after = "" if last >= 0 or stop == end else "..."
    return f"{before}{text[first or begin : last if last >= 0 else stop]}{after}"


def replace_value(result: ToolResult, value: str) -> ToolResult:
    """The result with a shorter value; the result itself where that is no shorter."""
    return replace(result, value=value) if len(value) < len(result.value) else result


def find_document(result: ToolResult) -> dict[str, Any] | None:
    """The object that a result's text is the JSON of; `None` where the tool returned plain text, whatever is in it."""
    if not isinstance(result.structured, Mapping) or not result.value.lstrip().startswith("{"):
        return None
    document = read_json(result.value)
    return document if isinstance(document, dict) else None


def read_json(text: str) -> Any:
    """What a JSON text says; `None` where it is none, or nested beyond reading."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def reduce_fields(
    document: Mapping[str, Any], fields: Iterable[str], reduce: Callable[[str], str]
) -> dict[str, Any] | None:
    """An object with some of its texts reduced; `None` where it has none of them, or nothing came of it."""
    made = {
        key: reduce(value) if key in fields and isinstance(value, str) else value for key, value in document.items()
    }
    return made if made != document else None


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
"""What pytest begins the lines with that say what was not as expected."""


def matters(line: str) -> bool:
    """Whether a line looks like an error or a warning."""
    return bool(find_matters(line, 0, len(line)))


def find_matters(text: str, start: int, end: int) -> dict[int, int]:
    """The lines in a part of a text that look like errors; takes time by its length alone.

    Returns:
        By the number of the line in the text, from 0, the place of what makes it look so.
    """
    found: dict[int, int] = {}
    begins: list[int] = []
    for word, anywhere in ((_DETAIL, True), *_SPELLED):
        at = text.find(word, start, end)
        while at >= 0:
            begins = begins or _find_begins(text)
            line = bisect_right(begins, at if word is not _DETAIL else at + 1) - 1
            if line not in found and _is_meant(text, at, anywhere):
                found[line] = at if word is not _DETAIL else at + 1
            after = at + len(word)
            if line in found:  # what else it has does not count
                after = max(after, begins[line + 1]) - 1 if line + 1 < len(begins) else end
            at = text.find(word, after, end)
    return found


def _find_begins(text: str) -> list[int]:
    return list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))[:-1]


def _is_meant(text: str, at: int, anywhere: bool) -> bool:
    """Neither the middle of another word, nor `0 errors`."""
    before = text[max(0, at - 4) : at].lower()
    if before.endswith((" 0 ", " no ")) or before in ("0 ", "no ") or before[-3:] in ("\n0 ", "(0 ", ",0 "):
        return False
    return anywhere or not before[-1:].isalnum()
