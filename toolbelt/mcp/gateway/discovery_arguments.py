"""Reads the arguments of the meta-tools (rule M6); what cannot be used is an error for the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbelt.mcp.gateway.meta_tools import MAX_DESCRIBED
from toolbelt.runtime.arguments import ArgumentsError, read_arguments


class DiscoveryArgumentsError(ValueError):
    """Arguments of a meta-tool that cannot be used; the message is for the model."""


def read_text(arguments: Mapping[str, Any], key: str) -> str:
    """A text, without spaces around it; empty if it is not given."""
    value = arguments.get(key)
    if value is not None and not isinstance(value, str):
        raise DiscoveryArgumentsError(f"The argument {key!r} must be a string.")
    return (value or "").strip()


def read_page(arguments: Mapping[str, Any]) -> int:
    """The number of a page, from 1."""
    value = arguments.get("page")
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 1:
        raise DiscoveryArgumentsError("The argument 'page' must be a whole number from 1.")
    return int(value)


def read_names(arguments: Mapping[str, Any]) -> list[str]:
    """The names of tools, `MAX_DESCRIBED` at most."""
    value = arguments.get("names")
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DiscoveryArgumentsError("The argument 'names' must be a list of names of tools.")
    if len(names) > MAX_DESCRIBED:
        raise DiscoveryArgumentsError(f"At most {MAX_DESCRIBED} tools can be described at once.")
    return names


def read_call(arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of a tool, and the arguments for it."""
    name = arguments.get("name")
    if not isinstance(name, str) or not name.strip():
        raise DiscoveryArgumentsError("The argument 'name' must be the name of a tool.")
    try:
        return name.strip(), read_arguments(arguments.get("arguments") or {})  # some models write JSON text
    except ArgumentsError as error:
        raise DiscoveryArgumentsError(f"The argument 'arguments' cannot be used: {error}") from None
