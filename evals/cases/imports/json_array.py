"""The elements of a JSON array, one at a time, so that a long array need not fit into memory."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case_file import MAX_LINE
from toolbelt.findings import Finding, Severity
from toolbelt.sources import parse_json

_CHUNK = 1024 * 1024
_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
Element = tuple[int, Any, tuple[Finding, ...]]
"""The 1-based line where it begins, its value, and the findings if it has no usable value."""


def read_elements(handle: BinaryIO, source: str) -> Iterator[Element]:
    """Every element of the array in a file, from the beginning.

    An element with a mistake that leaves its end clear (a repeated key, half a surrogate pair) has findings, and
    reading goes on after it. If an element is not JSON, its end is unknown: it has one finding, and reading ends.

    Args:
        handle: At the beginning of the file.
        source: The path as the user wrote it.
    """
    text = _Text(handle)
    try:
        yield from _elements(text, source)
    except UnicodeDecodeError:
        message = "Not UTF-8 from somewhere after this line on; what follows was not read."
        yield text.line, None, (Finding("not-utf8", Severity.ERROR, message, source, text.line),)


def _elements(text: _Text, source: str) -> Iterator[Element]:
    text.expect("[")
    if text.peek() == "]":
        text.expect("]")
    else:
        while True:
            text.skip_blanks()
            line = text.line
            written = text.take_value()
            if isinstance(written, str) and written:
                yield _read(written, source, line)
            else:
                yield line, None, (Finding("syntax", Severity.ERROR, _cut_off(written) + text.rest(), source, line),)
                return
            mark = text.peek()
            if mark not in (",", "]"):
                message = "Not JSON: after an element comes `,` or `]`. What follows was not read." + text.rest()
                yield text.line, None, (Finding("syntax", Severity.ERROR, message, source, text.line),)
                return
            text.expect(mark)
            if mark == "]":
                break
    if text.peek():
        message = "Something stands after the end of the array; it was not read."
        yield text.line, None, (Finding("syntax", Severity.ERROR, message, source, text.line),)


def _read(written: str, source: str, line: int) -> Element:
    try:
        return line, parse_json(written, source).data, ()
    except InvalidFileError as error:
        moved = tuple(replace(finding, line=line + (finding.line or 1) - 1) for finding in error.findings)
        return line, None, moved


def _cut_off(reason: str | None) -> str:
    if reason is None:
        return f"An element of more than {MAX_LINE // 1024**2} million characters, or one that is no JSON."
    return "Not JSON, or it ends too early; what follows was not read."


class _Text:
    """The text of a file; memory has only the element that is being read and what follows in its chunk."""

    def __init__(self, handle: BinaryIO) -> None:
        self._handle = handle
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._held = ""
        self._at = 0
        self._ended = False
        self.line = 1

    def rest(self) -> str:
        """A sentence on how many bytes were not read; empty if none."""
        here = self._handle.tell()
        left = self._handle.seek(0, 2) - here + len(self._held[self._at :].encode(errors="replace"))
        self._handle.seek(here)
        return f" That is about {left:,} bytes, in which there may be sound elements." if left > 0 else ""

    def peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        self.skip_blanks()
        return self._held[self._at : self._at + 1]

    def expect(self, mark: str) -> None:
        """Skip a mark that `peek` returned."""
        self.skip_blanks()
        self._move(self._at + len(mark))

    def skip_blanks(self) -> None:
        """Move to the next character that is not blank."""
        while True:
            match = _BLANK.match(self._held, self._at)
            self._move(match.end() if match else self._at)
            if self._at < len(self._held) or not self._more():
                return

    def take_value(self) -> str | None:
        """The text of the next value; empty if it is not JSON, `None` if its end is further than `MAX_LINE`."""
        growth = 0
        while True:
            try:
                _, end = _DECODER.raw_decode(self._held, self._at)
            except json.JSONDecodeError:
                end = -1
            except (RecursionError, ValueError):  # too deep, or a number of thousands of digits: its end is unknown
                return ""
            if end > 0 and (end < len(self._held) or self._ended):
                written = self._held[self._at : end]
                self._move(end)
                return written
            held = len(self._held) - self._at
            if self._ended:
                return ""
            if held > MAX_LINE:
                return None
            growth = max(growth * 2, _CHUNK)  # doubled, so that a long element is not parsed again and again
            while len(self._held) - self._at < held + growth and self._more():
                pass

    def _move(self, to: int) -> None:
        self.line += self._held.count("\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        if self._ended:
            return False
        raw = self._handle.read(_CHUNK)
        self._ended = not raw
        self._held = self._held[self._at :] + self._decoder.decode(raw, final=self._ended)
        self._at = 0
        return not self._ended
