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


def capability_tools(agent_tools: AgentTools) -> tuple[ExecutableTool, ...]:
    """The three tools; `agent_tools` answers them."""

    # Coroutine functions, so that they run on the loop: a registry is not to be changed from another thread.
    async def list_active() -> CapabilityAnswer:
        return agent_tools.list_active()

    # Null is as good as left out: some models fill every argument in. To a schema, 2.0 is an integer.
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
"""A plugin, and those of its tools that are meant."""
_CAPABILITY_NAMES = frozenset(tool.name for tool in CAPABILITY_TOOLS.values())
_MAX_REPEATED_CHARS = 100
"""Of what a model asked for, how much an answer repeats."""


class AgentTools:
    """The tools in force, what of the rest may be asked for, and the answers to the capability tools.

    Disabled beats discoverable beats activation: only what the loadout makes discoverable is ever added, and what it
    disables or hides is answered like what does not exist.

    Attributes:
        tools: In force: the capability tools and what else belongs to the session, then what the loadout makes active,
            then what was activated, in that order, so that what is shown only grows at its end.
        resolution: What the loadout made of every plugin and tool, with the reasons.
        activated: Names of the tools that were activated, in that order.

    Args:
        registry: Every tool there is, as it is now; capability tools in it are of another session and left out. Other
            tools `of_session`, such as meta-tools, are in force whatever the loadout, and no answer speaks of them.
        loadout_name: `None` for all tools.
        loadouts: Where the loadout is.

    Raises:
        InvalidDefinitionError: a tool that is active or discoverable bears the name of a capability tool.
    """

    tools: ToolRegistry
    resolution: Resolution
    activated: tuple[str, ...]

    def __init__(self, registry: ToolRegistry, loadout_name: str | None, loadouts: ToolLoadoutRegistry) -> None:
        of_session, of_plugins = _divided(registry.get_all())
        own = registry.narrowed(of_plugins)
        self.resolution = resolve_registry(own, loadout_name, loadouts)
        active = {tool.name for tool in self.resolution.active_tools}
        self._may_be_had = {tool.name for tool in self.resolution.tools_with(Status.DISCOVERABLE)}
        # Nothing else is kept, so that no answer can tell what is disabled or hidden from what does not exist.
        self._reachable = own.narrowed(name for name in of_plugins if name in active or name in self._may_be_had)
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
        """The answer to `capability_list`: what is shown to the model now, plugin by plugin."""
        plugins = [self._entry(plugin, tools) for plugin, tools in self._active()]
        return {
            "status": "ok",
            "loadout": self._loadout,
            "total": len(plugins),
            "plugins": plugins,
            "discoverable": sum(1 for _ in self._discoverable()),
        }

    def discover(self, category: str | None = None, keyword: str | None = None, page: int = 1) -> CapabilityAnswer:
        """The answer to `discover_tools`: what may be asked for, and is neither active nor activated.

        Args:
            category: Ignoring case; `other` for plugins that have none. `None` or blank for all.
            keyword: Words that must all occur, ignoring case, in the name or description of a tool or of its plugin.
            page: From 1, of `PAGE_SIZE` plugins each.

        Returns:
            `status`, `page`, `pages`, `total` (plugins on all pages), `plugins`, each with the `tools` that match and
            the `tool_count` that activating it would add, and a `message` where the page is empty. For a category
            that no discoverable plugin has, the status is `unknown_category`, with the `categories` that there are.
        """
        groups = list(self._discoverable())
        category, words = (category or "").strip(), fold(keyword or "").split()
        if category:
            found = [group for group in groups if fold(_category(group[0])) == fold(category)]
            if not found:
                return _unknown_category(category, groups)
            groups = found
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
        """The answer to `activate_tool`; what it adds is shown from the next request on.

        Args:
            plugin: A plugin, or one tool as `plugin/tool` or by its name, ignoring case.

        Returns:
            With a `status`: `activated`, with the `tools` that were added; `already_active`, with those that are
            there; `not_discoverable` for all else, disabled, hidden or made up, with the `nearest` discoverable ones.
        """
        waiting, active = list(self._discoverable()), list(self._active())
        found = self._find(plugin, [*waiting, *active])
        if not found:
            known = [name for group, tools in waiting for name in (group.name, *self._shown_names(tools))]
            asked = _repeated(plugin)
            return {
                "status": "not_discoverable",
                "plugin": asked,
                "nearest": list(nearest(asked.strip(), known)),
                "message": f"No plugin or tool named {asked!r} can be activated. discover_tools lists what can.",
            }
        names = {tool.name for _, tools in found for tool in tools}
        added = [tool for _, tools in waiting for tool in tools if tool.name in names]
        register(self.tools, self._reachable, added)
        self.activated += tuple(tool.name for tool in added)
        tools = added or [tool for _, tools in active for tool in tools if tool.name in names]
        answer: CapabilityAnswer = {"status": "activated" if added else "already_active", "plugin": found[0][0].name}
        answer["tools"] = self._shown_names(tools)
        if added:
            answer["takes_effect"] = "next_request"
        return answer

    def _active(self) -> Iterator[Group]:
        for plugin in self.tools.catalog.plugins:
            tools = (self.tools.get(tool.name) for tool in plugin.tools)
            yield from self._to_be_had(plugin, (tool for tool in tools if tool is None or not tool.of_session))

    def _discoverable(self) -> Iterator[Group]:
        for plugin in self._plugins:
            # Whatever is registered under the name by now is in force, and not to be overwritten.
            names = (tool.name for tool in plugin.tools if tool.name in self._may_be_had)
            waiting = (self._reachable.get(name) for name in names if self.tools.get(name) is None)
            yield from self._to_be_had(plugin, waiting)

    def _to_be_had(self, plugin: Plugin, tools: Iterable[ExecutableTool | None]) -> Iterator[Group]:
        """The plugin with those tools that would be shown; nothing if none would."""
        served = frozenset(self.tools.backends)
        if made := tuple(tool for tool in tools if tool is not None and find_unavailability(tool, served) is None):
            yield plugin, made

    def _entry(self, plugin: Plugin, tools: Iterable[ExecutableTool]) -> CapabilityAnswer:
        return {"plugin": plugin.name, "category": plugin.effective_category, "tools": self._shown_names(tools)}

    def _shown_names(self, tools: Iterable[ExecutableTool]) -> list[str]:
        """What the model calls them: their names, or what is put in place of a name that providers refuse."""
        shown = self.tools.wire_names
        return [shown[tool.name] for tool in tools]

    def _find(self, reference: str, groups: Sequence[Group]) -> list[Group]:
        """What a model means: a plugin, else one tool by `plugin/tool`, else by its name; empty if nothing or many."""
        wanted = reference.strip()
        key = fold(wanted)
        if whole := [group for group in groups if group[0].key == key]:
            return whole
        each: list[tuple[Group, set[str]]] = [
            ((plugin, (tool,)), {tool.name, shown})
            for plugin, tools in groups
            for tool, shown in zip(tools, self._shown_names(tools), strict=True)
        ]
        by_path = [group for group, spelled in each if any(fold(f"{group[0].name}/{n}") == key for n in spelled)]
        by_name = [group for group, spelled in each if wanted in spelled]
        by_folded_name = [group for group, spelled in each if key in map(fold, spelled)]
        return next((found for found in (by_path, by_name, by_folded_name) if len(found) == 1), [])


def _divided(tools: Iterable[ExecutableTool]) -> tuple[list[str], list[str]]:
    """Names of the tools of the session and of those of plugins; without capability tools, which another one has."""
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
    """The plugin's; where it has none and is a single tool, that one's."""
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


def _repeated(asked: str) -> str:
    return asked if len(asked) <= _MAX_REPEATED_CHARS else f"{asked[:_MAX_REPEATED_CHARS]}…"


def _matching(plugin: Plugin, tools: Sequence[ExecutableTool], words: Sequence[str]) -> tuple[ExecutableTool, ...]:
    def text(tool: ExecutableTool) -> str:
        return fold(f"{plugin.name}\n{plugin.description}\n{tool.name}\n{tool.description}")

    return tuple(tool for tool in tools if all(word in text(tool) for word in words)) if words else tuple(tools)
