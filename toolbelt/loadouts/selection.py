"""What a chain of loadouts says in all, and what it makes of one plugin or tool (rules L4, L7, L9).

Everything is merged first, as set unions: a plugin or tool is disabled if any level disables it, else active
if any level names it or includes its category, else discoverable if a pattern of any level matches, else
hidden. The order of the levels does not matter, so no child can undo what its parent disables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Self

from toolbelt.catalog import PLUGIN_CATEGORY_MAP, Plugin, Tool
from toolbelt.errors import InvalidDefinitionError
from toolbelt.loadouts.loadout import ToolLoadout
from toolbelt.patterns import fold


class Status(StrEnum):
    """What a loadout makes of a plugin or tool."""

    ACTIVE = "active"
    DISCOVERABLE = "discoverable"
    DISABLED = "disabled"
    HIDDEN = "hidden"


class Patterns:
    """Entries that may match a name: equalities looked up at once, prefixes tried together."""

    __slots__ = ("_exact", "_prefixes")

    def __init__(self, patterns: Iterable[str]) -> None:
        folded = [fold(pattern) for pattern in patterns]
        self._exact = frozenset(pattern for pattern in folded if not pattern.endswith("*"))
        self._prefixes = tuple(pattern[:-1] for pattern in folded if pattern.endswith("*"))

    def match(self, key: str) -> bool:
        """Whether any entry matches the folded name `key`."""
        return key in self._exact or key.startswith(self._prefixes)

    def covers(self, other: Patterns) -> bool:
        """Whether everything that `other` can match is matched here too."""
        prefixes = (prefix.startswith(self._prefixes) for prefix in other._prefixes)
        return all(map(self.match, other._exact)) and all(prefixes)


ALL_PLUGINS = "*"
"""An entry that activates every plugin (rule L4)."""
_ANYTHING = Patterns((ALL_PLUGINS,))


class MergedLoadouts:
    """A chain of loadouts, merged.

    Attributes:
        disabled: Folded entries that block a plugin by name.
        named: Folded entries that activate a plugin by name.
        names_all: Whether one of them is `*`, which stands for every plugin.
        categories: Folded categories whose plugins are active.
        mapped: Folded names that `PLUGIN_CATEGORY_MAP` puts into those categories.
        split: Folded names of plugins whose tools may fare differently from one another.
        blocked: Folded names of plugins of which nothing can be left: disabled, or `plugin/*` is.
        named_by_tool: Folded names of plugins of which a tool is named that is not disabled.
        discoverable_by_tool: Folded names of plugins of which a tool is discoverable and not disabled.
    """

    __slots__ = (
        "blocked",
        "categories",
        "disabled",
        "disabled_tools",
        "discoverable",
        "discoverable_by_tool",
        "discoverable_tools",
        "mapped",
        "named",
        "named_by_tool",
        "named_tools",
        "names_all",
        "split",
    )

    def __init__(self, chain: Sequence[ToolLoadout]) -> None:
        self.disabled = frozenset(fold(entry) for loadout in chain for entry in loadout.disabled_plugins)
        self.named = frozenset(fold(entry) for loadout in chain for entry in loadout.default_plugins)
        self.names_all = ALL_PLUGINS in self.named
        self.categories = frozenset(fold(entry) for loadout in chain for entry in loadout.included_categories)
        self.mapped = frozenset(
            fold(name) for name, category in PLUGIN_CATEGORY_MAP.items() if category in self.categories
        )
        patterns = [fold(pattern) for loadout in chain for pattern in loadout.discoverable_patterns]
        self.discoverable = Patterns(patterns)
        self.disabled_tools = _tool_entries(self.disabled)
        self.named_tools = _tool_entries(self.named)
        self.discoverable_tools = _tool_entries(patterns)
        self.split = frozenset({*self.disabled_tools, *self.named_tools, *self.discoverable_tools})
        emptied = (key for key, entries in self.disabled_tools.items() if entries.covers(_ANYTHING))
        self.blocked = self.disabled.union(emptied)
        self.named_by_tool = self._with_a_tool_left(self.named_tools)
        self.discoverable_by_tool = self._with_a_tool_left(self.discoverable_tools)

    @classmethod
    def of(cls, chain: Sequence[ToolLoadout]) -> Self | None:
        """The selection of `chain`; `None` for an empty chain, which selects nothing."""
        return cls(chain) if chain else None

    def includes_category_of(self, plugin: Plugin | str) -> bool:
        """Whether a category of the chain is the plugin's."""
        if isinstance(plugin, str):
            return fold(plugin) in self.mapped
        return plugin.category_key in self.categories

    def plugin_status(self, plugin: Plugin | str) -> Status:
        """What becomes of a plugin: the best that becomes of any of its tools, where they differ."""
        if not isinstance(plugin, str | Plugin):
            raise _wrong_item(plugin)
        key = fold(plugin) if isinstance(plugin, str) else plugin.key
        if key in self.disabled:
            return Status.DISABLED
        tools = () if isinstance(plugin, str) else plugin.tools
        if key in self.split and not isinstance(plugin, str) and tools:
            return _best({self.tool_status(plugin, tool) for tool in tools})
        # Where no tools are known, what addresses them is all there is to go by.
        if key in self.blocked:
            return Status.DISABLED
        is_named = self.names_all or key in self.named or key in self.named_by_tool
        if is_named or self.includes_category_of(plugin):
            return Status.ACTIVE
        if key in self.discoverable_by_tool or self.discoverable.match(key):
            return Status.DISCOVERABLE
        return Status.HIDDEN

    def tool_status(self, plugin: Plugin, tool: Tool) -> Status:
        """The status of one tool."""
        key, name = plugin.key, fold(tool.name)
        if key in self.disabled or _matches_tool(self.disabled_tools, key, name):
            return Status.DISABLED
        is_named = self.names_all or key in self.named or _matches_tool(self.named_tools, key, name)
        if is_named or plugin.category_key in self.categories:
            return Status.ACTIVE
        if self.discoverable.match(key) or _matches_tool(self.discoverable_tools, key, name):
            return Status.DISCOVERABLE
        return Status.HIDDEN

    def _with_a_tool_left(self, entries: Mapping[str, Patterns]) -> frozenset[str]:
        blocked = self.disabled_tools
        return frozenset(key for key, tools in entries.items() if key not in blocked or not blocked[key].covers(tools))


def active_names(chain: Sequence[ToolLoadout], available: Iterable[Plugin | str]) -> tuple[str, ...]:
    """Names of what `chain` makes active, in the order and spelling of `available`, each once."""
    selection = MergedLoadouts.of(chain)
    _refuse_others(available)
    if selection is None:
        return ()
    # The inner loop of every request in somebody's agent: names looked up in sets, nothing called for most.
    blocked, named, categories = selection.blocked, selection.named, selection.categories
    by_name = selection.named | selection.mapped | selection.named_by_tool
    split, names_all = selection.split, selection.names_all
    names: list[str] = []
    for plugin in available:
        if isinstance(plugin, str):
            key = plugin.lower() if plugin.isascii() else fold(plugin)
            if key not in blocked and (names_all or key in by_name):
                names.append(plugin)
            continue
        try:
            key = plugin.key
        except AttributeError:
            raise _wrong_item(plugin) from None
        if key in split:
            if selection.plugin_status(plugin) is Status.ACTIVE:
                names.append(plugin.name)
        elif key not in blocked and (names_all or key in named or plugin.category_key in categories):
            names.append(plugin.name)
    return tuple(dict.fromkeys(names))


def discoverable_names(chain: Sequence[ToolLoadout], available: Iterable[Plugin | str]) -> tuple[str, ...]:
    """Names of what may be asked for under `chain`, in the order and spelling of `available`, each once."""
    selection = MergedLoadouts.of(chain)
    _refuse_others(available)
    if selection is None:
        return ()
    plugins = (plugin for plugin in available if selection.plugin_status(plugin) is Status.DISCOVERABLE)
    return tuple(dict.fromkeys(plugin if isinstance(plugin, str) else plugin.name for plugin in plugins))


def _refuse_others(available: object) -> None:
    """Raise for what is no list of plugins or names: a lone name would be read letter by letter.

    Raises:
        InvalidDefinitionError: as said.
    """
    if isinstance(available, str | Plugin) or not isinstance(available, Iterable):
        shown = repr(available) if isinstance(available, str) else f"something of type {type(available).__name__}"
        hint = "Put it in a list." if isinstance(available, str | Plugin) else "Of a catalog, give its `plugins`."
        raise InvalidDefinitionError(f"The available plugins are a list of plugins or names, not {shown}. {hint}")


def _wrong_item(plugin: object) -> InvalidDefinitionError:
    return InvalidDefinitionError(
        f"The available plugins are plugins or names of plugins; something of type {type(plugin).__name__} is in them."
    )


def active_tools(selection: MergedLoadouts, plugins: Iterable[Plugin]) -> tuple[Tool, ...]:
    """The tools that `selection` makes active, in order; whole plugins at a time wherever their tools fare alike."""
    disabled, named, categories, split = selection.disabled, selection.named, selection.categories, selection.split
    names_all = selection.names_all
    tools: list[Tool] = []
    for plugin in plugins:
        key = plugin.key
        if key in split:
            tools += [tool for tool in plugin.tools if selection.tool_status(plugin, tool) is Status.ACTIVE]
        elif key not in disabled and (names_all or key in named or plugin.category_key in categories):
            tools += plugin.tools
    return tuple(tools)


def _best(parts: set[Status]) -> Status:
    for status in (Status.ACTIVE, Status.DISCOVERABLE, Status.HIDDEN):
        if status in parts:
            return status
    return Status.DISABLED


def _matches_tool(entries: Mapping[str, Patterns], plugin_key: str, tool_key: str) -> bool:
    return plugin_key in entries and entries[plugin_key].match(tool_key)


def _tool_entries(entries: Iterable[str]) -> dict[str, Patterns]:
    """Patterns of tool names by plugin, from the entries with a slash; plugin names may hold slashes too."""
    entries_by_plugin: dict[str, list[str]] = {}
    for entry in entries:
        for index, character in enumerate(entry):
            if character == "/":
                entries_by_plugin.setdefault(entry[:index], []).append(entry[index + 1 :])
    return {plugin_key: Patterns(patterns) for plugin_key, patterns in entries_by_plugin.items()}
