"""The text of a message's content."""

from __future__ import annotations

from collections.abc import Mapping


def text_of(content: object) -> str:
    """The text of a content: text itself, or the texts of its parts, a line each; nothing where there is none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))
