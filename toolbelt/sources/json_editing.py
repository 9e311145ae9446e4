"""Changing an object within a JSON text, so that everything else stays as somebody wrote it, comments included."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.sources.json_text import only_blank_comments

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


@dataclass(frozen=True)
class _Member:
    key: str
    start: int
    value_token: int
    end: int
    comma: int | None
    """Where the comma after it stands."""


@dataclass(frozen=True)
class _Object:
    start: int
    end: int
    """Where its closing brace stands."""
    members: tuple[_Member, ...]


def edit_object(text: str, path: Sequence[str], *, remove: Collection[str], key: str, value: Any) -> str:
    """Remove members of an object, and put another one in front.

    Args:
        text: JSON with comments that has been read without a mistake; its top level is an object.
        path: Keys that lead to the object; what is not there is made.
        remove: Keys of members; those that are not there do not matter.
        key: Of the new member.
        value: Of the new member.
    """
    scanner = _Scanner(text)
    target, depth = scanner.find_deepest(path)
    for missing in reversed(path[depth:]):
        key, value = missing, {key: value}
    members = target.members if depth == len(path) else ()
    removed = [member for member in members if member.key in remove]
    remaining = [member for member in target.members if member not in removed]
    cuts = [
        _line_around(text, member.start, member.end if member.comma is None else member.comma + 1) for member in removed
    ]
    last = remaining[-1] if remaining else None
    if last is not None and last.comma is not None and target.members[-1].comma is None:
        cuts.append((last.comma, last.comma + 1))  # the last had no comma, and the new last has none
    edited = text[: target.start + 1] + _new_member(text, target, scanner.unit, key, value, is_last=not remaining)
    position = target.start + 1
    for start, end in sorted(cuts):
        edited += text[position:start]
        position = max(position, end)
    return edited + text[position:]


class _Scanner:
    """Finds objects in a text by its tokens."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_TOKEN.finditer(only_blank_comments(text)))

    @property
    def unit(self) -> str:
        """What the text is indented by: what stands before its first key; two blanks where there are no lines."""
        members = self._object(0).members
        before = _indentation(self._text, members[0].start) if members else None
        return before or "  "

    def find_deepest(self, path: Sequence[str]) -> tuple[_Object, int]:
        """The object at a path, or the last one on the way to it, and how many keys of the path lead there."""
        target, depth = self._object(0), 0
        for key in path:
            member = next((member for member in target.members if member.key == key), None)
            if member is None or self._tokens[member.value_token][0] != "{":
                break
            target, depth = self._object(member.value_token), depth + 1
        return target, depth

    def _object(self, index: int) -> _Object:
        start = self._tokens[index].start()
        members: list[_Member] = []
        index += 1
        while (token := self._tokens[index])[0] != "}":
            value = index + 2
            after = self._after(value)
            comma = self._tokens[after].start() if self._tokens[after][0] == "," else None
            members.append(_Member(json.loads(token[0]), token.start(), value, self._tokens[after - 1].end(), comma))
            index = after if comma is None else after + 1
        return _Object(start, token.start(), tuple(members))

    def _after(self, index: int) -> int:
        """The token after the value that begins at one."""
        depth = 0
        while True:
            mark = self._tokens[index][0]
            depth += (mark in "{[") - (mark in "}]")
            index += 1
            if depth == 0:
                return index


def _new_member(text: str, around: _Object, unit: str, key: str, value: Any, *, is_last: bool) -> str:
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    outer = _indentation(text, around.end) if around.members else _indentation_of_line(text, around.start)
    first = _indentation(text, around.members[0].start) if around.members else None
    outer = (first or "").removesuffix(unit) if outer is None else outer
    inner = outer + unit if first is None else first
    written = json.dumps({key: value}, indent=unit, ensure_ascii=False)
    lines = [line.removeprefix(unit) for line in written.split("\n")[1:-1]]
    added = "".join(f"{end_of_line}{inner}{line}" for line in lines)
    if not is_last:
        return f"{added},"
    return added if around.members else f"{added}{end_of_line}{outer}"


def _indentation(text: str, position: int) -> str | None:
    """The blanks before a position; `None` where something else stands before it on its line."""
    before = text[text.rfind("\n", 0, position) + 1 : position]
    return before if not before.strip() and position > len(before) else None


def _indentation_of_line(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_around(text: str, start: int, end: int) -> tuple[int, int]:
    """A span with the rest of its lines, if only blanks stand there."""
    before = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    if after >= 0 and not text[before:start].strip() and not text[end:after].strip():
        return before, after + 1
    return start, end
