"""Lines that a model wants to see whatever else is left out: they look like errors and warnings."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

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
