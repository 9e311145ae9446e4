"""How a fault of arguments is told: one sentence, short whatever was given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

LONGEST_VALUE = 80
"""Characters of a value that are shown."""
LONGEST_NAME = 60
"""Characters of a name that are shown."""
MOST_VALUES = 3
"""Accepted values that are shown."""


def missing(name: str) -> str:
    """An argument that should be there is not."""
    return f"argument {show_name(name)} is missing"


def unexpected(name: str) -> str:
    """An argument is there that should not be."""
    return f"argument {show_name(name)} is not expected"


def differs(name: str, given: Any, accepted: Sequence[Any]) -> str:
    """An argument has none of the accepted values."""
    shown = [show_value(value) for value in accepted[:MOST_VALUES]]
    if more := len(accepted) - len(shown):
        shown.append(f"{more} more")
    if not shown:
        return f"argument {show_name(name)} is {show_value(given)}, and no value is accepted"
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
    return f"argument {show_name(name)} is {show_value(given)}, not {listed}"


def show_value(value: Any) -> str:
    """As JSON on one line, cut."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return cut(text, LONGEST_VALUE)


def show_name(name: str) -> str:
    """In quotes, on one line, cut."""
    return repr(cut(name, LONGEST_NAME))


def cut(text: str, longest: int) -> str:
    """At most `longest` characters, with an ellipsis where some were left out."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
