"""The tools by which an agent sees what it has, finds what else there is, and gets it (rule L14)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Protocol

from toolbelt.catalog import Tool
from toolbelt.runtime.executable import ExecutableTool

PAGE_SIZE = 20
"""Plugins on one page of `discover_tools`."""
Answer = dict[str, Any]
"""What a model is told, as JSON; it always has a `status`."""


class CapabilityRole(StrEnum):
    """What a capability tool is for; the value is the name it goes by."""

    LIST = "capability_list"
    DISCOVER = "discover_tools"
    ACTIVATE = "activate_tool"


_HINTS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
CAPABILITY_TOOLS: Mapping[CapabilityRole, Tool] = MappingProxyType(
    {
        CapabilityRole.LIST: Tool(
            CapabilityRole.LIST.value,
            "List the plugins you can use now: name, category and names of the tools of each. Says also how many more "
            "plugins discover_tools can show you.",
            {"type": "object", "properties": {}, "additionalProperties": False},
            _HINTS,
        ),
        CapabilityRole.DISCOVER: Tool(
            CapabilityRole.DISCOVER.value,
            "Find plugins that you do not have yet and may get: name, category, description and names of the tools of "
            f"each, {PAGE_SIZE} plugins a page. Call this when none of your tools does what is asked, then call "
            "activate_tool with the plugin that fits.",
            {
                "type": "object",
                "properties": {
                    "category": {"type": ["string", "null"], "description": "Only plugins of this category."},
                    "keyword": {
                        "type": ["string", "null"],
                        "description": "Only tools in whose name, description or plugin each of these words occurs.",
                    },
                    "page": {"type": ["integer", "null"], "minimum": 1, "description": "Which page; 1 if left out."},
                },
                "additionalProperties": False,
            },
            _HINTS,
        ),
        CapabilityRole.ACTIVATE: Tool(
            CapabilityRole.ACTIVATE.value,
            "Get the tools of one plugin that discover_tools showed you. Answers with their names; from your next "
            "message on you can call them like any other tool.",
            {
                "type": "object",
                "properties": {
                    "plugin": {
                        "type": "string",
                        "description": "The name of a plugin as discover_tools lists it, or plugin/tool for one tool.",
                    }
                },
                "required": ["plugin"],
                "additionalProperties": False,
            },
            _HINTS,
        ),
    }
)
"""What a model is shown of the three."""


class Capabilities(Protocol):
    """What answers the capability tools."""

    def list_active(self) -> Answer:
        """The answer to `capability_list`."""
        ...

    def discover(self, category: str | None = None, keyword: str | None = None, page: int = 1) -> Answer:
        """The answer to `discover_tools`."""
        ...

    def activate(self, plugin: str) -> Answer:
        """The answer to `activate_tool`."""
        ...


def capability_tools(capabilities: Capabilities) -> tuple[ExecutableTool, ...]:
    """The three, answered by `capabilities`."""

    # Coroutine functions, so that they run on the loop: a registry is not to be changed from another thread.
    async def list_active() -> Answer:
        return capabilities.list_active()

    # Null is as good as left out: some models fill every argument in. To a schema, 2.0 is an integer.
    async def discover(category: str | None = None, keyword: str | None = None, page: float | None = None) -> Answer:
        return capabilities.discover(category, keyword, 1 if page is None else int(page))

    async def activate(plugin: str) -> Answer:
        return capabilities.activate(plugin)

    return (
        _make(CapabilityRole.LIST, list_active),
        _make(CapabilityRole.DISCOVER, discover),
        _make(CapabilityRole.ACTIVATE, activate),
    )


def _make(role: CapabilityRole, function: Callable[..., Awaitable[Answer]]) -> ExecutableTool:
    shown = CAPABILITY_TOOLS[role]
    return ExecutableTool(
        name=shown.name,
        description=shown.description,
        parameters=shown.parameters,
        annotations=shown.annotations,
        function=function,
        always_include=True,
        toolset="capabilities",
        of_session=True,
    )
