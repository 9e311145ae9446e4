"""Whether a model has to call something, and what: in our words and in those of providers (rule K5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from toolbelt.errors import NotFoundError

REQUIRED = "required"
"""The `tool_choice` that makes a model call something; it wins over every other."""
AUTO = "auto"
"""The `tool_choice` that lets a model call something or not."""
NONE = "none"
"""The `tool_choice` that keeps a model from calling anything."""
CHOICES = (REQUIRED, AUTO, NONE)
"""Those that are words; every other is a tool."""


def format_tool_choice(
    choice: str | None, form: str, names: Mapping[str, str] | None = None
) -> str | dict[str, Any] | None:
    """A `tool_choice` as the request of a provider takes it.

        format_tool_choice("search", "litellm")       # {"type": "function", "function": {"name": "search"}}
        format_tool_choice("search", "anthropic")     # {"type": "tool", "name": "search"}
        format_tool_choice("required", "anthropic")   # {"type": "any"}

    Args:
        choice: `required`, `auto`, `none`, or a tool; `None` is `None`, and then nothing is to be sent.
        form: `openai`, `litellm` or `anthropic`, as for definitions; what lists tools without asking a model takes no
            choice.
        names: What tools are shown as, where `choice` is a key that differs from it.

    Raises:
        NotFoundError: another form, with the nearest.
    """
    if form not in _FORMS:
        raise NotFoundError("form of a tool choice", form, _FORMS)
    if choice is None:
        return None
    return _FORMS[form](choice, choice if choice in CHOICES else (names or {}).get(choice, choice))


def _openai(choice: str, name: str) -> str | dict[str, Any]:
    return choice if choice in CHOICES else {"type": "function", "function": {"name": name}}


def _anthropic(choice: str, name: str) -> dict[str, Any]:
    if choice in CHOICES:
        return {"type": "any" if choice == REQUIRED else choice}
    return {"type": "tool", "name": name}


_FORMS: Mapping[str, Callable[[str, str], str | dict[str, Any]]] = MappingProxyType(
    {"openai": _openai, "litellm": _openai, "anthropic": _anthropic}
)
