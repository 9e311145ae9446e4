"""Markdown that foreign text cannot break."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolbelt.text import visible

_CALLING = re.compile(r"(?<![\w`])@(?=\w)|#(?=\d)|(?<!\w)gh-(?=\d)", re.IGNORECASE)
"""What GitHub takes for a person to be told, or for an issue to be linked from."""
_SPECIAL = re.compile(r"[\\`*\[\]|~$!]|(?<![^\W_])_|_(?![^\W_])")


def escaped(text: str) -> str:
    """Foreign text that Markdown and HTML leave alone, on one line; posted as a comment it calls nobody."""
    return _quiet(_SPECIAL.sub(lambda match: "\\" + match.group(), _plain(text)))


def escaped_html(text: str) -> str:
    """As `escaped`, for the text of an HTML element within Markdown, where a backslash would be shown."""
    return _quiet(_SPECIAL.sub(lambda match: f"&#x{ord(match.group()):x};", _plain(text)))


def markdown_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> str:
    """A table of foreign text, which keeps its shape.

    Args:
        headers: One a column.
        rows: Cells, as many as headers.
        right: Numbers of the columns set to the right.
    """
    lines = [headers, *rows]
    shown = ["| " + " | ".join(escaped(cell) for cell in line) + " |" for line in lines]
    rule = "|" + "|".join("---:" if place in right else "---" for place in range(len(headers))) + "|"
    return "\n".join([shown[0], rule, *shown[1:]])


def _plain(text: str) -> str:
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quiet(text: str) -> str:
    return _CALLING.sub(lambda match: f"{match.group()}<!-- -->", text)
