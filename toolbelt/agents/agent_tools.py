"""The tools that one agent has and may get under one loadout, and the capability tools that show them (rule L14)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from toolbelt.agents.scoping import register, resolve_registry
from toolbelt.catalog import Plugin, Tool
from toolbelt.errors import InvalidDefinitionError, nearest
from toolbelt.loadouts import Resolution, Status, ToolLoadoutRegistry
from toolbelt.patterns import fold
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import find_unavailability
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.tiers import OTHER

PAGE_SIZE = 20
"""Plugins on one page of `discover_tools`."""
CapabilityAnswer = dict[str, Any]
"""The answer of a capability tool, as JSON values; always with a `status`."""


class CapabilityRole(StrEnum):
    """The capability tools; the value is the name."""

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
"""Their definitions."""


def capability_tools(agent_tools: AgentTools) -> tuple[ExecutableTool, ...]:
    """The three tools; `agent_tools` answers them."""

    # Coroutine functions, so that they run on the loop: no other thread may change the registry.
    async def list_active() -> CapabilityAnswer:
        return agent_tools.list_active()

    # Null counts as left out, because some models fill in every argument. In JSON Schema, 2.0 is an integer.
    async def discover(
        category: str | None = None, keyword: str | None = None, page: float | None = None
    ) -> CapabilityAnswer:
        return agent_tools.discover(category, keyword, 1 if page is None else int(page))

    async def activate(plugin: str) -> CapabilityAnswer:
        return agent_tools.activate(plugin)

    return (
        _make(CapabilityRole.LIST, list_active),
        _make(CapabilityRole.DISCOVER, discover),
        _make(CapabilityRole.ACTIVATE, activate),
    )


def _make(role: CapabilityRole, function: Callable[..., Awaitable[CapabilityAnswer]]) -> ExecutableTool:
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


Group = tuple[Plugin, tuple[ExecutableTool, ...]]
"""A plugin, and some of its tools."""
_CAPABILITY_NAMES = frozenset(tool.name for tool in CAPABILITY_TOOLS.values())
_MAX_REPEATED_CHARS = 100
"""Characters of a model's argument that an answer repeats."""


class AgentTools:
    """The active tools, the discoverable ones, and the answers of the capability tools.

    Disabled takes precedence over discoverable, and discoverable over activation: only discoverable tools are ever
    added, and the answers treat disabled and hidden tools like tools that do not exist.

    Attributes:
        tools: The active tools: first the capability tools and other tools of the session, then the tools that the
            loadout makes active, then the activated ones. So the list only grows at its end.
        resolution: The loadout's decision on every plugin and tool, with the reasons.
        activated: Names of the activated tools, in order of activation.

    Args:
        registry: All tools, as they are now. Capability tools in it belong to another session and are left out. Other
            tools `of_session`, such as meta-tools, are active with every loadout, and no answer lists them.
        loadout_name: `None` for all tools.
        loadouts: Contain the loadout.

    Raises:
        InvalidDefinitionError: an active or discoverable tool has the name of a capability tool.
    """

    tools: ToolRegistry
    resolution: Resolution
    activated: tuple[str, ...]

    def __init__(self, registry: ToolRegistry, loadout_name: str | None, loadouts: ToolLoadoutRegistry) -> None:
        of_session, of_plugins = _split(registry.get_all())
        own = registry.narrowed(of_plugins)
        self.resolution = resolve_registry(own, loadout_name, loadouts)
        active = {tool.name for tool in self.resolution.active_tools}
        self._discoverable_names = {tool.name for tool in self.resolution.tools_with(Status.DISCOVERABLE)}
        # All other tools are dropped, so that no answer can distinguish disabled and hidden tools from missing ones.
        self._reachable = own.narrowed(
            name for name in of_plugins if name in active or name in self._discoverable_names
        )
        self._plugins = self._reachable.catalog.plugins
        reachable = self._reachable.get_all()
        _refuse_names_of_capability_tools(reachable)
        self.tools = registry.narrowed(
            (*of_session, *(name for name in of_plugins if name in active)),
            first=capability_tools(self),
            reserved=(tool.name for tool in reachable),
        )
        self.activated = ()
        self._loadout = loadout_name

    def list_active(self) -> CapabilityAnswer:
        """The answer to `capability_list`: the tools that the model is shown now, by plugin."""
        plugins = [self._entry(plugin, tools) for plugin, tools in self._active()]
        return {
            "status": "ok",
            "loadout": self._loadout,
            "total": len(plugins),
            "plugins": plugins,
            "discoverable": sum(1 for _ in self._discoverable()),
        }

    def discover(self, category: str | None = None, keyword: str | None = None, page: int = 1) -> CapabilityAnswer:
        """The answer to `discover_tools`: the discoverable tools that are not activated yet.

        Args:
            category: Without regard to case; `other` for plugins without category. `None` or blank for all.
            keyword: Words that must all occur in the name or description of a tool or of its plugin.
            page: From 1, of `PAGE_SIZE` plugins each.

        Returns:
            `status`, `page`, `pages`, `total` (plugins on all pages), `plugins`, each with the `tools` that match and
            the `tool_count` that activation would add, and a `message` if the page is empty. For a category that no
            discoverable plugin has, the status is `unknown_category`, with the known `categories`.
        """
        groups = list(self._discoverable())
        category, words = (category or "").strip(), fold(keyword or "").split()
        if category:
            in_category = [group for group in groups if fold(_category(group[0])) == fold(category)]
            if not in_category:
                return _unknown_category(category, groups)
            groups = in_category
        matching = ((plugin, _matching(plugin, tools, words), len(tools)) for plugin, tools in groups)
        hits = [
            {**self._entry(plugin, tools), "description": _description(plugin), "tool_count": count}
            for plugin, tools, count in matching
            if tools
        ]
        pages = -(-len(hits) // PAGE_SIZE)
        shown = hits[(page - 1) * PAGE_SIZE : page * PAGE_SIZE] if page >= 1 else []
        answer: CapabilityAnswer = {"status": "ok", "page": page, "pages": pages, "total": len(hits), "plugins": shown}
        if not hits:
            answer["message"] = "Nothing matches." if words or category else "There is nothing else to discover."
        elif not shown:
            answer["message"] = f"There is no page {page}; pages go from 1 to {pages}."
        return answer

    def activate(self, plugin: str) -> CapabilityAnswer:
        """The answer to `activate_tool`; added tools are shown from the next request on.

        Args:
            plugin: A plugin, or one tool as `plugin/tool` or by its name, without regard to case.

        Returns:
            With a `status`: `activated`, with the added `tools`; `already_active`, with the active ones;
            `not_discoverable` for all others (disabled, hidden or unknown), with the `nearest` discoverable names.
        """
        waiting, active = list(self._discoverable()), list(self._active())
        matches = self._find(plugin, [*waiting, *active])
        if not matches:
            known = [name for group, tools in waiting for name in (group.name, *self._shown_names(tools))]
            reference = _repeated(plugin)
            return {
                "status": "not_discoverable",
                "plugin": reference,
                "nearest": list(nearest(reference.strip(), known)),
                "message": f"No plugin or tool named {reference!r} can be activated. discover_tools lists what can.",
            }
        names = {tool.name for _, tools in matches for tool in tools}
        added = [tool for _, tools in waiting for tool in tools if tool.name in names]
        register(self.tools, self._reachable, added)
        self.activated += tuple(tool.name for tool in added)
        tools = added or [tool for _, tools in active for tool in tools if tool.name in names]
        answer: CapabilityAnswer = {"status": "activated" if added else "already_active", "plugin": matches[0][0].name}
        answer["tools"] = self._shown_names(tools)
        if added:
            answer["takes_effect"] = "next_request"
        return answer

    def _active(self) -> Iterator[Group]:
        for plugin in self.tools.catalog.plugins:
            tools = (self.tools.get(tool.name) for tool in plugin.tools)
            yield from self._with_available(plugin, (tool for tool in tools if tool is None or not tool.of_session))

    def _discoverable(self) -> Iterator[Group]:
        for plugin in self._plugins:
            # A tool that is registered under the name by now is active, and must not be overwritten.
            names = (tool.name for tool in plugin.tools if tool.name in self._discoverable_names)
            waiting = (self._reachable.get(name) for name in names if self.tools.get(name) is None)
            yield from self._with_available(plugin, waiting)

    def _with_available(self, plugin: Plugin, tools: Iterable[ExecutableTool | None]) -> Iterator[Group]:
        """The plugin with its available tools; nothing if there are none."""
        served = frozenset(self.tools.backends)
        if available := tuple(tool for tool in tools if tool is not None and find_unavailability(tool, served) is None):
            yield plugin, available

    def _entry(self, plugin: Plugin, tools: Iterable[ExecutableTool]) -> CapabilityAnswer:
        return {"plugin": plugin.name, "category": plugin.effective_category, "tools": self._shown_names(tools)}

    def _shown_names(self, tools: Iterable[ExecutableTool]) -> list[str]:
        """Their wire names, by which the model calls them."""
        shown = self.tools.wire_names
        return [shown[tool.name] for tool in tools]

    def _find(self, reference: str, groups: Sequence[Group]) -> list[Group]:
        """The match of a reference: a plugin, else `plugin/tool`, else a tool name; empty if none or several."""
        wanted = reference.strip()
        key = fold(wanted)
        if whole := [group for group in groups if group[0].key == key]:
            return whole
        candidates: list[tuple[Group, set[str]]] = [
            ((plugin, (tool,)), {tool.name, shown})
            for plugin, tools in groups
            for tool, shown in zip(tools, self._shown_names(tools), strict=True)
        ]
        by_path = [
            group for group, names in candidates if any(fold(f"{group[0].name}/{name}") == key for name in names)
        ]
        by_name = [group for group, names in candidates if wanted in names]
        by_folded_name = [group for group, names in candidates if key in map(fold, names)]
        return next((matches for matches in (by_path, by_name, by_folded_name) if len(matches) == 1), [])


def _split(tools: Iterable[ExecutableTool]) -> tuple[list[str], list[str]]:
    """Names of the tools of the session, and of those of plugins; without the capability tools of another session."""
    of_session, of_plugins = [], []
    for tool in tools:
        if not tool.of_session:
            of_plugins.append(tool.name)
        elif tool.name not in _CAPABILITY_NAMES:
            of_session.append(tool.name)
    return of_session, of_plugins


def _refuse_names_of_capability_tools(tools: Iterable[ExecutableTool]) -> None:
    for tool in tools:
        if tool.name in _CAPABILITY_NAMES:
            owner = f"Plugin {tool.plugin!r}" if tool.plugin else "The registry"
            raise InvalidDefinitionError(
                f"{owner} has a tool {tool.name!r}, and so has every agent session: its own capability tool. Rename "
                "yours, or scope the session to a loadout that disables it."
            )


def _category(plugin: Plugin) -> str:
    return plugin.effective_category or OTHER


def _description(plugin: Plugin) -> str:
    """The description of the plugin, or of its only tool."""
    return plugin.description or (plugin.tools[0].description if len(plugin.tools) == 1 else "")


def _unknown_category(category: str, groups: Iterable[Group]) -> CapabilityAnswer:
    known = {fold(_category(plugin)): _category(plugin) for plugin, _ in groups}
    category = _repeated(category)
    return {
        "status": "unknown_category",
        "category": category,
        "categories": list(known.values()),
        "message": f"No discoverable plugin is of category {category!r}.",
    }


def _repeated(text: str) -> str:
    return text if len(text) <= _MAX_REPEATED_CHARS else f"{text[:_MAX_REPEATED_CHARS]}…"


def _matching(plugin: Plugin, tools: Sequence[ExecutableTool], words: Sequence[str]) -> tuple[ExecutableTool, ...]:
    def text(tool: ExecutableTool) -> str:
        return fold(f"{plugin.name}\n{plugin.description}\n{tool.name}\n{tool.description}")

    return tuple(tool for tool in tools if all(word in text(tool) for word in words)) if words else tuple(tools)
