"""The two meta-tools by which a model finds and loads the other tools (rules T1, T2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.frozen import FrozenDict


class TierMetaRole(StrEnum):
    """The meta-tools; the value is the name."""

    BROWSE = "browse_tools"
    LOAD = "load_tools"


_HINTS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
META_TOOLS: Mapping[TierMetaRole, Tool] = MappingProxyType(
    {
        TierMetaRole.BROWSE: Tool(
            TierMetaRole.BROWSE.value,
            "List the categories of further tools, which are not shown to you yet: name, description and number of "
            "tools of each. Call this first when none of the tools you have does what is asked, then call load_tools "
            "with the category that fits.",
            {"type": "object", "properties": {}, "additionalProperties": False},
            _HINTS,
        ),
        TierMetaRole.LOAD: Tool(
            TierMetaRole.LOAD.value,
            "Load all tools of one category. Answers with their names; from your next message on you can call them "
            "like any other tool, until this conversation ends. Several categories may be loaded.",
            {
                "type": "object",
                "properties": {
                    "category": {"type": "string", "description": "The name of a category, as browse_tools lists it."}
                },
                "required": ["category"],
                "additionalProperties": False,
            },
            _HINTS,
        ),
    }
)
"""The meta-tools for a catalog without its own."""


@dataclass(frozen=True)
class MetaTools:
    """The meta-tools of a catalog.

    Attributes:
        browse: Lists the categories.
        load: Loads one.
        extras: Those of the two that the catalog does not have itself, by required wire name.
    """

    browse: Tool
    load: Tool
    extras: Mapping[str, Tool]

    @classmethod
    def of(cls, catalog: Catalog) -> MetaTools:
        """The catalog's own meta-tools, and `META_TOOLS` for the missing ones."""
        own = {role: catalog.get_tool(tool_id) for tool_id, role in own_meta_tools(catalog).items()}
        taken = {tool.id for tool in catalog.tools}
        tools = {role: own.get(role) or _with_free_id(META_TOOLS[role], taken) for role in TierMetaRole}
        extras = {role.value: tool for role, tool in tools.items() if role not in own}
        return cls(tools[TierMetaRole.BROWSE], tools[TierMetaRole.LOAD], FrozenDict(extras))

    def find_role(self, tool_id: str) -> TierMetaRole | None:
        """The role of a tool; `None` if it is no meta-tool."""
        if tool_id == self.browse.id:
            return TierMetaRole.BROWSE
        return TierMetaRole.LOAD if tool_id == self.load.id else None


def own_meta_tools(catalog: Catalog) -> dict[str, TierMetaRole]:
    """Ids of the core tools that are a catalog's own meta-tools, each with its role.

    The name decides; a `load_tools` without a `category` loads something else and is an ordinary tool.
    """
    ids: dict[TierMetaRole, str] = {}
    for tool_id in catalog.core:
        tool = catalog.get_tool(tool_id)
        if tool.name in _ROLES:
            role = _ROLES[tool.name]
            properties = tool.parameters.get("properties")
            if role is TierMetaRole.BROWSE or (isinstance(properties, Mapping) and "category" in properties):
                ids.setdefault(role, tool.id)
    return {tool_id: role for role, tool_id in ids.items()}


_ROLES: Mapping[str, TierMetaRole] = MappingProxyType({role.value: role for role in TierMetaRole})


def _with_free_id(tool: Tool, taken: Collection[str]) -> Tool:
    tool_id = tool.name
    while tool_id in taken:
        tool_id = f"toolbelt:{tool_id}"
    return replace(tool, id=tool_id)
