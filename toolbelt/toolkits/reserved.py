"""The names of the control tools of dynamic toolkits, which nothing else may bear (rules D1, D2)."""

from __future__ import annotations

from enum import StrEnum

DYNAMIC_TOOLS = "dynamic_tools"
"""What the three go by together; every answer of theirs says so."""


class MetaRole(StrEnum):
    """What a meta-tool is for; the value is the name it goes by."""

    LIST = "list_toolkits"
    LOAD = "load_tools"
    UNLOAD = "unload_tools"


RESERVED = frozenset({DYNAMIC_TOOLS, *(role.value for role in MetaRole)})
"""What no toolkit and no tool of an agent may be called, in any case."""
