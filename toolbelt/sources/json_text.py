"""Strict JSON and JSON Lines, and JSON with comments."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, Severity
from toolbelt.sources.document import HALF_PAIR, MAX_DEPTH, Document, Key, has_surrogate, locate_json, too_deep

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|(?<=[^\s\[{{,])(\s*),(?=\s*[\]}}])")


def blank_comments(text: str) -> str:
    """JSON with comments as plain JSON: comments, and the comma after the last item, become blanks.

    Nothing moves, so that lines and columns are those of the original; what is in strings stays.
    """
    return _LAST_COMMA.sub(lambda match: match[1] or f"{match[2]} ", only_blank_comments(text))


def only_blank_comments(text: str) -> str:
    """JSON with comments, each of them as blanks; commas stay."""
    if "//" not in text and "/*" not in text:
        return text
    return _COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)


_CONTAINERS = (dict, list)  # `dict | list` would be made anew for each value of a catalog


Members = list[tuple[str, Any]]


class _Reader:
    """Reads JSON values, and notes what `json` takes and JSON has not."""

    def __init__(self, make_dict: Callable[[Members], dict[str, Any]]) -> None:
        self.has_duplicates = self.has_odd_numbers = False

        def unique(pairs: Members) -> dict[str, Any]:
            members = make_dict(pairs)
            if len(members) != len(pairs):
                self.has_duplicates = True
            return members

        self._decoder = json.JSONDecoder(
            object_pairs_hook=unique, parse_float=self._number, parse_constant=self._number
        )

    def _number(self, word: str) -> float:
        value = float(word)
        self.has_odd_numbers = self.has_odd_numbers or not math.isfinite(value)
        return value

    def read(self, text: str) -> Any:
        self.has_duplicates = self.has_odd_numbers = False
        if text.startswith("\ufeff"):
            raise json.JSONDecodeError("Unexpected byte-order mark", text, 0)
        return self._decoder.decode(text)


def parse_json(text: str, source: str) -> Document:
    """One JSON value; duplicate keys, NaN and lone surrogates are mistakes.

    Raises:
        InvalidFileError: every mistake found.
    """
    return _parse(text, source, _Reader(dict))


def examine_json(text: str, source: str) -> tuple[Document, list[Finding]]:
    """One JSON value with what is wrong about it, for who has more to say about the rest.

    Returns:
        The document without what was wrong, and the mistakes; of a key that stands twice, the last counts.

    Raises:
        InvalidFileError: it cannot be read at all.
    """
    reader = _Reader(dict)
    document = _read(text, source, reader)
    findings = []
    for place, finding in _find_mistakes(document, text, reader):
        findings.append(finding)
        if place:
            *parents, key = place
            del reduce(getitem, parents, document.data)[key]
    return document, sorted(findings, key=lambda finding: finding.line or 0)


def _parse(text: str, source: str, reader: _Reader) -> Document:
    document = _read(text, source, reader)
    if findings := [finding for _, finding in _find_mistakes(document, text, reader)]:
        raise InvalidFileError(sorted(findings, key=lambda finding: finding.line or 0))
    return document


def _read(text: str, source: str, reader: _Reader) -> Document:
    try:
        data = reader.read(text)
    except json.JSONDecodeError as error:
        message = f"Not JSON: {error.msg} (column {error.colno})."
        raise InvalidFileError([Finding("syntax", Severity.ERROR, message, source, error.lineno)]) from None
    except RecursionError:
        raise InvalidFileError([too_deep(source)]) from None
    except ValueError as error:
        raise InvalidFileError([Finding("syntax", Severity.ERROR, f"Not JSON: {error}.", source)]) from None
    document = Document(data, source, text, is_json=True)
    is_deep = text.count("{") + text.count("[") > MAX_DEPTH  # or else it cannot be
    if is_deep and _depth_exceeds(data, MAX_DEPTH):
        raise InvalidFileError([too_deep(source)])
    return document


def _find_mistakes(document: Document, text: str, reader: _Reader) -> Iterator[tuple[tuple[Key, ...], Finding]]:
    """Each mistake with the place that has it, which is empty for a repeated key; later items of a list first."""
    if reader.has_duplicates:
        for line, key in locate_json(text)[1]:
            message = f"The key {key!r} stands here twice."
            yield (), Finding("duplicate-key", Severity.ERROR, message, document.source, line)
    if reader.has_odd_numbers or "\\ud" in text or "\\uD" in text or has_surrogate(text):
        yield from _check_json_values(document)


def parse_json_lines(
    text: str, source: str, make_dict: Callable[[Members], dict[str, Any]] = dict
) -> Iterator[tuple[int, Any, Finding | None]]:
    """One `(line number, value, None)` per line that holds something, or `(line number, None, finding)` per mistake.

    Args:
        text: The lines.
        source: What to call them.
        make_dict: Makes each object of its members, of which the last of a name counts.
    """
    reader = _Reader(make_dict)
    # Not splitlines(): U+2028 and its like may stand raw inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, _parse(line, source, reader).data, None
        except InvalidFileError as error:
            for mistake in error.findings:
                yield number, None, Finding(mistake.rule, mistake.severity, mistake.message, source, number)


def _check_json_values(document: Document) -> Iterator[tuple[tuple[Key, ...], Finding]]:
    pending: list[tuple[tuple[Key, ...], Any]] = [((), document.data)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            bad = [key for key in value if has_surrogate(key)]
            pending.extend(((*place, key), item) for key, item in value.items() if key not in bad)
            for key in bad:
                yield (*place, key), document.finding("bad-character", HALF_PAIR, *place)
        elif isinstance(value, list):
            pending.extend(((*place, index), item) for index, item in enumerate(value))
        elif isinstance(value, str) and has_surrogate(value):
            yield place, document.finding("bad-character", HALF_PAIR, *place)
        elif isinstance(value, float) and not math.isfinite(value):
            yield place, document.finding("not-json", f"{value} has no form in JSON.", *place)


def _depth_exceeds(data: Any, limit: int) -> bool:
    level = [data] if isinstance(data, _CONTAINERS) else []
    for _ in range(limit):
        level = [
            child
            for value in level
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, _CONTAINERS)
        ]
        if not level:
            return False
    return True
