"""Foreign text made safe to show.

Names and descriptions come from servers and files of other people. Raw, they could move the cursor, recolour the
screen, hide text or set the window's title; shown, every such character is spelled out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

CONTROL = "\\x00-\\x1f\\x7f-\\x9f"
"""Control characters, the escape that terminals obey among them."""
INVISIBLE = (
    "\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb"
    "\\ud800-\\udfff\\U000e0000-\\U000e0fff"
)
"""Invisible ones, those that turn text around, half characters, and tags that only a model would read."""
UNSAFE = re.compile(f"[{CONTROL}{INVISIBLE}]")
"""What is never shown raw."""
_ANYWHERE = r"#(?=#(?:vso|teamcity)?\[)"
_COMMAND = re.compile(rf"(?<!\S):(?=:)|{_ANYWHERE}", re.IGNORECASE)
"""GitHub's runner reads `::` where a line begins, after blanks, too; a word may begin a line once text is wrapped. In
any place it reads `##[`, Azure Pipelines `##vso[`, and TeamCity `##teamcity[`."""
_ADDRESS = re.compile(r"(?<=[\w)\]]) at 0x[0-9a-fA-F]+(?=[ >])")
"""As Python writes objects: `<Tool object at 0x7f3c>`."""
_LONGEST_VALUE = 200
_UNSAFE_IN_TABLE = re.compile(f"(?![\\t\\r\\n])[{CONTROL}{INVISIBLE}]")
_UNSAFE_IN_JSON = re.compile(f"[\\x7f-\\x9f{INVISIBLE}]|{_ANYWHERE}", re.IGNORECASE)  # the others JSON escapes itself


def visible(text: str) -> str:
    """`text` on one line with every unsafe character spelled out (`\\x1b`); white space is folded."""
    return without_commands(UNSAFE.sub(_spell, re.sub(r"[\t\r\n ]+", " ", text).strip()))


def visible_lines(text: str) -> str:
    """As `visible`, with line breaks kept."""
    lines = (UNSAFE.sub(_spell, line.expandtabs(4).rstrip()) for line in re.split(r"\r\n|\n|\r", text))
    return without_commands("\n".join(lines))


def without_commands(text: str) -> str:
    """`text` with what CI systems take for a command of a step spelled out: GitHub, Azure Pipelines and TeamCity."""
    return _COMMAND.sub(_spell, text) if "::" in text or "##" in text else text


def whole(text: str) -> str:
    """`text` with half characters replaced: models write them, and no file, database or screen holds them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_addresses(text: str) -> str:
    """`text` without the addresses of Python's objects, which differ in every process and say nothing."""
    return _ADDRESS.sub("", text) if "<" in text else text


def show_value(value: object) -> str:
    """A wrong value in the words of a message: as Python writes it, without an address; a long one by its beginning."""
    shown = repr(value) if isinstance(value, str) else without_addresses(repr(value))
    return shown if len(shown) <= _LONGEST_VALUE else f"{shown[:_LONGEST_VALUE]}…"


def visible_table(text: str) -> str:
    """CSV with every unsafe character spelled out, but for the white space that it is made of."""
    return without_commands(_UNSAFE_IN_TABLE.sub(_spell, text))


def json_text(data: Any) -> str:
    """`data` as JSON that is safe to show: readable where that does no harm, escaped where it might."""
    return "".join(json_pieces(data, ascii_only=False))


_PIECES = 10_000
"""Values or so to a piece of a document."""


def json_pieces(data: Any, *, ascii_only: bool) -> Iterator[str]:
    """The text of `json_text` in pieces: a large document takes several times the memory of its data as one text."""
    tokens = json.JSONEncoder(ensure_ascii=ascii_only, indent=2).iterencode(data)
    while piece := "".join(islice(tokens, _PIECES)):
        yield _UNSAFE_IN_JSON.sub(_escape, piece)


def _spell(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape(match: re.Match[str]) -> str:
    return "\\u0023" if match.group() == "#" else json.dumps(match.group())[1:-1]


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 tool`, `2,000 tools`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
