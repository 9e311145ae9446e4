"""Where each value of a JSON text stands, which `json` does not tell; only looked for when something is amiss."""

from __future__ import annotations

import json
import re

from toolbelt.sources.document import Key

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)


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
    for token in _TOKEN.finditer(text):
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
