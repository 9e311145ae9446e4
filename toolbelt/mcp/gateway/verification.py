"""Whether a server still has the tools that were synced (rule M5)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.catalog.definitions import Definition
from toolbelt.mcp.gateway.surface import ServedTool

_COMPARED = ("description", "inputSchema", "title", "outputSchema", "annotations", "execution")
"""Fields by which a model or client decides, or that decide what a call means; `_meta` and icons do not."""
_SINCE = {"annotations": "2025-03-26", "title": "2025-06-18", "outputSchema": "2025-06-18"}
"""The version of the protocol that brought a field; servers leave it out for clients of earlier ones."""
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


def verify_tools(served: Iterable[ServedTool], listed: Iterable[Mapping[str, Any]], version: str) -> Verification:
    """Compare the synced tools of one server with its list.

    Args:
        served: Tools of that server.
        listed: As `tools/list` gave it, all pages.
        version: Of the protocol in which it was listed; empty for one that has all fields.
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
        elif differences := find_differences(tool.definition, live[name], version):
            changed[name] = f"{', '.join(differences)} changed since the last sync"
    return Verification(live, changed)


def find_differences(synced: Mapping[str, Any], live: Mapping[str, Any], version: str = "") -> tuple[str, ...]:
    """Names of the fields in which two definitions differ, compared as JSON.

    Args:
        synced: As the catalog has it.
        live: As the server sends it now.
        version: Of the protocol in which it does.
    """
    return tuple(
        key
        for key in _COMPARED
        if _is_sent(key, synced, live, version) and _canonical(synced, key) != _canonical(live, key)
    )


def _is_sent(key: str, synced: Mapping[str, Any], live: Mapping[str, Any], version: str) -> bool:
    """Whether a field that one of the two lacks is missing for another reason than the version of the protocol."""
    if key == "execution":  # which one version alone has, so that either list may lack it
        return key in synced and key in live
    return not version or version >= _SINCE.get(key, "") or key in live


def _canonical(definition: Mapping[str, Any], key: str) -> str:
    value = definition.get(key)
    # `true` is not `1`, and `1` is not `1.0`, as Python's own comparison has it.
    return json.dumps(_EMPTY.get(key) if value is None else value, sort_keys=True)
