"""A loadout as a policy of a session, with the capability tools that show what else it permits (rules L12, L14)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from toolbelt.agents.scoping import checked_name, resolve_registry
from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.ranking.words import WordsIndex
from toolbelt.errors import nearest
from toolbelt.loadouts import Resolution, Status, ToolLoadoutRegistry
from toolbelt.patterns import fold
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import ToolResult, make_result
from toolbelt.sessions.policy import Selection, SessionPolicy, Stage
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
                        "description": "Words for what the tool should do; the best match comes first.",
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


MAX_NEAREST = 5
"""Tools that `discover_tools` gives where none has all words."""
Group = tuple[Plugin, tuple[ExecutableTool, ...]]
"""A plugin, and some of its tools."""
_Found = tuple[Plugin, tuple[ExecutableTool, ...], int]
"""A plugin, those of its tools that were found, and how many it has."""
_MAX_QUERY_CHARS = 4_000
"""Characters of a model's argument that are ranked by."""
_MAX_REPEATED_CHARS = 100
"""Characters of a model's argument that an answer repeats."""


class LoadoutPolicy(SessionPolicy):
    """What a loadout makes active, and then what the model activates.

    Disabled takes precedence over discoverable, and discoverable over activation: only discoverable tools are ever
    added, and the answers treat disabled and hidden tools like tools that do not exist. Activated tools are there from
    the next request on, for as long as this object lasts.

    Attributes:
        loadout_name: As given; `None` for all tools.
        activated: Names of the activated tools, in order of activation.

    Args:
        loadout_name: `None` for all tools. With an unknown name nothing is active (rule L7).
        loadouts: Contain the loadout; by default only the built-in ones.
    """

    name = "loadout"
    stage = Stage.LIMIT

    def __init__(self, loadout_name: str | None = None, loadouts: ToolLoadoutRegistry | None = None) -> None:
        self._loadouts = ToolLoadoutRegistry() if loadouts is None else loadouts
        self._tools = ToolRegistry()
        self.scope(loadout_name)

    def scope(self, loadout_name: str | None, activated: tuple[str, ...] = ()) -> None:
        """Apply another loadout of the same registry; what was activated is now what is given."""
        self.loadout_name = None if loadout_name is None else checked_name(loadout_name)
        self.activated = activated
        self._take_over(self._tools)

    @property
    def meta_tools(self) -> Sequence[Tool]:
        """The three of rule L14."""
        return tuple(CAPABILITY_TOOLS.values())

    @property
    def resolution(self) -> Resolution:
        """The loadout's decision on every plugin and tool of this turn, with the reasons."""
        return self._resolution

    def begin_turn(self, tools: ToolRegistry) -> Sequence[str]:
        """Apply the loadout to what is registered now."""
        if self._tools is not tools:
            self._take_over(tools)
        self._tools = tools
        return ()

    def _take_over(self, tools: ToolRegistry) -> None:
        self._resolution = resolve_registry(tools, self.loadout_name, self._loadouts)
        self._active_names = frozenset(tool.name for tool in self._resolution.active_tools)
        self._discoverable_names = frozenset(tool.name for tool in self._resolution.tools_with(Status.DISCOVERABLE))
        self._selected: frozenset[str] = frozenset()
        self._waiting: frozenset[str] = frozenset()

    def select(self, given: Selection) -> Selection:
        """The active tools, then the activated ones, if the session has them."""
        there = frozenset(given.callable)
        activated = tuple(name for name in self.activated if name in there and name in self._discoverable_names)
        permitted = self._active_names.union(activated)
        shown = (*(name for name in given.shown if name in self._active_names), *activated)
        waiting = tuple(name for name in given.callable if name in self._discoverable_names and name not in permitted)
        self._selected, self._waiting = frozenset(shown), frozenset(waiting)
        return Selection(
            shown,
            tuple(name for name in given.hidden if name in self._active_names),
            (*waiting, *(name for name in given.waiting if name in self._active_names | self._discoverable_names)),
            given.requested.intersection(shown).union(activated),
        )

    async def answer(self, meta_tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """An answer as JSON. Null counts as left out, because some models fill in every argument."""
        match CapabilityRole(meta_tool):
            case CapabilityRole.LIST:
                answer = self.list_active()
            case CapabilityRole.DISCOVER:
                page = arguments.get("page")  # in JSON Schema, 2.0 is an integer
                number = 1 if page is None else int(page)
                answer = self.discover(arguments.get("category"), arguments.get("keyword"), number)
            case CapabilityRole.ACTIVATE:
                answer = self.activate(arguments["plugin"])
        return make_result(meta_tool, answer)

    def explain(self, tool: str) -> str | None:
        """That a discoverable tool is to be activated, or is from the next request on; nothing about any other tool."""
        if tool in self._selected:
            return f"{self._tools.wire_names[tool]} is active from your next message on; call it again then."
        if tool not in self._waiting:
            return None
        return f"{self._tools.wire_names[tool]} is not active. {CapabilityRole.ACTIVATE} activates it."

    def list_active(self) -> CapabilityAnswer:
        """The answer to `capability_list`: the tools that the model is shown now, by plugin."""
        plugins = [self._entry(plugin, tools) for plugin, tools in self._active()]
        return {
            "status": "ok",
            "loadout": self.loadout_name,
            "total": len(plugins),
            "plugins": plugins,
            "discoverable": sum(1 for _ in self._discoverable()),
        }

    def discover(self, category: str | None = None, keyword: str | None = None, page: int = 1) -> CapabilityAnswer:
        """The answer to `discover_tools`: the discoverable tools that are not activated yet.

        Args:
            category: Without regard to case; `other` for plugins without category. `None` or blank for all.
            keyword: Words that must all occur in the name or description of a tool or of its plugin. The best come
                first, as `rank=words` ranks them; where no tool has all of the words, the nearest tools are given.
            page: From 1, of `PAGE_SIZE` plugins each.

        Returns:
            `status`, `page`, `pages`, `total` (plugins on all pages), `plugins`, each with the `tools` that match and
            the `tool_count` that activation would add, and a `message` if the page is empty or nothing has all words.
            For a category that no discoverable plugin has, the status is `unknown_category`, with the known
            `categories`.
        """
        groups = list(self._discoverable())
        category, words = (category or "").strip(), fold(keyword or "").split()
        if category:
            in_category = [group for group in groups if fold(_category(group[0])) == fold(category)]
            if not in_category:
                return _unknown_category(category, groups)
            groups = in_category
        matches, is_nearest = _find(groups, words)
        hits = [
            {**self._entry(plugin, tools), "description": self._description(plugin), "tool_count": count}
            for plugin, tools, count in matches
        ]
        pages = -(-len(hits) // PAGE_SIZE)
        shown = hits[(page - 1) * PAGE_SIZE : page * PAGE_SIZE] if page >= 1 else []
        answer: CapabilityAnswer = {"status": "ok", "page": page, "pages": pages, "total": len(hits), "plugins": shown}
        if not hits:
            answer["message"] = "Nothing matches." if words or category else "There is nothing else to discover."
        elif not shown:
            answer["message"] = f"There is no page {page}; pages go from 1 to {pages}."
        elif is_nearest:
            answer["message"] = "No tool has all of these words; these are the nearest."
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
        self.activated += tuple(tool.name for tool in added)
        self._selected |= {tool.name for tool in added}
        self._waiting -= self._selected
        tools = added or [tool for _, tools in active for tool in tools if tool.name in names]
        answer: CapabilityAnswer = {"status": "activated" if added else "already_active", "plugin": matches[0][0].name}
        answer["tools"] = self._shown_names(tools)
        if added:
            answer["takes_effect"] = "next_request"
        return answer

    def _active(self) -> Iterator[Group]:
        return self._groups(self._selected)

    def _discoverable(self) -> Iterator[Group]:
        return self._groups(self._waiting)

    def _groups(self, names: Collection[str]) -> Iterator[Group]:
        """The plugins with those of these tools that are available; none without any."""
        # All are asked at once: one that does not answer takes no time from another.
        there = {tool.name: tool for tool in self._tools.narrowed(names).get_available()}
        permitted = self._active_names | self._discoverable_names
        # The order of plugins is that of their first tools: a tool that is disabled must not show by it.
        visible = self._tools.narrowed(tool.name for tool in self._tools.get_all() if tool.name in permitted)
        for plugin in visible.catalog.plugins:
            if available := tuple(there[tool.name] for tool in plugin.tools if tool.name in there):
                yield plugin, available

    def _entry(self, plugin: Plugin, tools: Iterable[ExecutableTool]) -> CapabilityAnswer:
        return {"plugin": plugin.name, "category": plugin.effective_category, "tools": self._shown_names(tools)}

    def _description(self, plugin: Plugin) -> str:
        """The description of the plugin, or of its only tool that the model can know of."""
        if plugin.description:
            return plugin.description
        known = [tool for tool in plugin.tools if tool.name in self._selected or tool.name in self._waiting]
        return known[0].description if len(known) == 1 else ""

    def _shown_names(self, tools: Iterable[ExecutableTool]) -> list[str]:
        """Their wire names, by which the model calls them."""
        return [self._tools.wire_names[tool.name] for tool in tools]

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


def _category(plugin: Plugin) -> str:
    return plugin.effective_category or OTHER


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


def _find(groups: Sequence[Group], words: Sequence[str]) -> tuple[list[_Found], bool]:
    """Of each plugin the tools that have all words, the best first; and whether these are only the nearest."""
    if not words:
        return [(plugin, tools, len(tools)) for plugin, tools in groups], False
    there = {tool.name for _, tools in groups for tool in tools}
    known = [tool for plugin, _ in groups for tool in plugin.tools if tool.name in there]
    hits = WordsIndex(known, with_plugins=True).search(" ".join(words)[:_MAX_QUERY_CHARS], len(known))
    places = {hit.tool.name: place for place, hit in enumerate(hits)}
    matches = [(plugin, _matching(plugin, tools, words), len(tools)) for plugin, tools in groups]
    is_nearest = not any(tools for _, tools, _ in matches)
    if is_nearest:
        near = {hit.tool.name for hit in hits[:MAX_NEAREST]}
        matches = [(plugin, tuple(tool for tool in tools if tool.name in near), len(tools)) for plugin, tools in groups]
    matches = [entry for entry in matches if entry[1]]
    return sorted(matches, key=lambda entry: min(places.get(tool.name, len(places)) for tool in entry[1])), is_nearest
