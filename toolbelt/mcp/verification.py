"""Whether a server still has the tools that were synced (rule M5)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.catalog.definitions import Definition
from toolbelt.mcp.surface import ServedTool

_COMPARED = ("description", "inputSchema", "title", "outputSchema", "annotations", "execution")
"""Fields by which a model or client decides, or that decide what a call means; `_meta` and icons do not."""
_EMPTY = {"description": "", "annotations": {}}
"""Values that stand for a field which is not there."""


@dataclass(frozen=True)
class Verification:
    """What a server lists now, compared with what was synced.

    Attributes:
        live: Definitions as the server sends them now, by the name that the server knows.
        changed: Why a tool is not what was synced, by the name that the server knows.
    """

    live: Mapping[str, Definition] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)


def verify_tools(served: Iterable[ServedTool], listed: Iterable[Mapping[str, Any]]) -> Verification:
    """Compare the synced tools of one server with its list.

    Args:
        served: Tools of that server.
        listed: As `tools/list` gave it, all pages.
    """
    live: dict[str, Definition] = {}
    twice: set[str] = set()
    for definition in listed:
        name = str(definition.get("name", ""))
        if name in live:
            twice.add(name)
        live.setdefault(name, dict(definition))
    changed: dict[str, str] = {}
    for tool in served:
        name = tool.upstream_name
        if name not in live:
            changed[name] = "its server no longer lists it"
        elif name in twice:
            changed[name] = "its server lists it more than once"
        elif differences := find_differences(tool.definition, live[name]):
            changed[name] = f"{', '.join(differences)} changed since the last sync"
    return Verification(live, changed)


def find_differences(synced: Mapping[str, Any], live: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the fields in which two definitions differ, compared as JSON."""
    return tuple(
        key
        for key in _COMPARED
        # The 2026 protocol has no `execution`: the same server sends it to some clients, and not to others.
        if (key != "execution" or (key in synced and key in live)) and _canonical(synced, key) != _canonical(live, key)
    )


def _canonical(definition: Mapping[str, Any], key: str) -> str:
    value = definition.get(key)
    # `true` is not `1`, and `1` is not `1.0`, as Python's own comparison has it.
    return json.dumps(_EMPTY.get(key) if value is None else value, sort_keys=True)
