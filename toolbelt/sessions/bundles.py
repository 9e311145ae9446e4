"""The tools that entries of a configuration stand for, and bundles of them merged in order (rules D1, D6, L9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import nearest, suggestion
from toolbelt.runtime.gates import MCP_PREFIX, FilterOpts
from toolbelt.toolkits.expand import expander, heard

if TYPE_CHECKING:
    from toolbelt.runtime.registry import ToolRegistry

STATIC = "static tools"
"""Takes the place of a toolkit's name for the tools that an agent always has."""
Expand = Callable[[str], Sequence[str]]
"""From an entry (a plugin, or `plugin/tool`) to the keys of its tools."""


def _alone(entry: str) -> tuple[str, ...]:
    return (entry,)


def _unchanged(key: str) -> str:
    return key


def _nothing(_: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Expansion:
    """An `Expand` with more knowledge of the registered tools.

    Attributes:
        find: The tools of an entry; by default an entry is the key of one tool.
        always_included: Keys of the tools that pass every allow-list (`always_include`, rule R2).
        suggest: For an entry that matches no tool: a sentence that begins with a blank, or nothing.
        shown: From a tool's key to the name that the model is shown.
        find_allowed_extensions: Gives a filter that excludes tools of servers and extensions that were registered
            after the expansion; called at each turn. `None` if there is no registry to ask.
    """

    find: Expand = _alone
    always_included: frozenset[str] = frozenset()
    suggest: Callable[[str], str] = _nothing
    shown: Callable[[str], str] = _unchanged
    find_allowed_extensions: Callable[[], FilterOpts] | None = None

    def __call__(self, entry: str) -> Sequence[str]:
        """The keys of an entry's tools."""
        return self.find(entry)


@dataclass(frozen=True, slots=True)
class ActiveTool:
    """A tool that an agent has.

    Attributes:
        key: Of the tool.
        overrides: From the configuration; frozen, empty for none.
        toolkit: The first toolkit that provides it; `None` for a static tool.
    """

    key: str
    overrides: Mapping[str, Any]
    toolkit: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """The same tool with other overrides.

    Attributes:
        existing: The tool that is present.
        coming: The tool that would be added.
    """

    existing: ActiveTool
    coming: ActiveTool

    @property
    def holder(self) -> str:
        """The owner of the present tool: the key of a toolkit, or `static tools`."""
        return STATIC if self.existing.toolkit is None else self.existing.toolkit

    @property
    def description(self) -> str:
        """The conflict in a few words, to follow the name of the second toolkit."""
        if self.existing.toolkit is None:
            where = f"the agent's {STATIC} have"
        else:
            where = f"toolkit {self.existing.toolkit!r} has"
        return f"{where} {self.coming.key!r} with other overrides"


@dataclass(frozen=True, slots=True)
class Bundle:
    """The tools of an agent or a toolkit.

    Attributes:
        tools: By key, in order.
        unmatched: Entries that match no tool.
    """

    tools: Mapping[str, ActiveTool]
    unmatched: tuple[str, ...]

    @classmethod
    def of(
        cls,
        entries: Iterable[str],
        overrides: Mapping[str, Mapping[str, Any] | None],
        expand: Expand,
        toolkit: str | None,
    ) -> Bundle:
        """The tools of entries, each with the overrides of its entry.

        If several entries with overrides match the same tool, the one that matches the fewest tools counts, and of
        those the last.
        """
        matched = {entry: tuple(expand(entry)) for entry in entries}
        effective = heard({entry: normalised(values) for entry, values in overrides.items()}, matched)
        keys = dict.fromkeys(key for tool_keys in matched.values() for key in tool_keys)
        no_overrides = normalised(None)
        tools = {key: ActiveTool(key, effective.get(key, no_overrides), toolkit) for key in keys}
        return cls(FrozenDict(tools), tuple(entry for entry, tool_keys in matched.items() if not tool_keys))

    def find_conflict(self, active: Mapping[str, ActiveTool]) -> Conflict | None:
        """The first tool of this bundle that is present with other overrides; `None` if there is none."""
        for key, tool in self.tools.items():
            existing = active.get(key)
            if existing is not None and not same(existing.overrides, tool.overrides):
                return Conflict(existing, tool)
        return None


def normalised(overrides: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Overrides in the form in which they are compared: `None` and empty are equal."""
    return FrozenDict({} if overrides is None else freeze(overrides))


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal in JSON: `1` is `1.0` but not `true`, and the order of keys does not matter."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right) or (left != left and right != right)  # NaN


def expand_over(registry: ToolRegistry) -> Expansion:
    """Expands entries to names of tools, over the tools that a registry has now.

    An entry is a plugin, a tool as `plugin/tool`, several as `plugin/prefix*`, or a tool's bare name. Names are
    compared as in loadouts (rule L4), and a plugin takes precedence over a tool of the same name.

    No entry matches a tool that is registered later, and no turn has such a tool, because an entry might have meant
    it. Exceptions are tools that are always included and, for the rest of a running turn, further tools of an
    extension that the turn may have. After a change of the registry, make a new expansion, new `DynamicToolkits` and
    `DynamicSessions`, and register the meta-tools again, which overwrites them in place. Stored sessions stay valid.

    Returns:
        An expansion whose names are in order of registration; none for an entry that matches nothing.
    """
    seen = registry.get_all()
    known = frozenset(tool.name for tool in seen)
    always_included = frozenset(tool.name for tool in seen if tool.always_include)
    catalog = registry.catalog
    names = [
        *(plugin.name for plugin in catalog.plugins),
        *(tool.name for tool in catalog.tools),
        *(f"{plugin.name}/{tool.name}" for plugin in catalog.plugins for tool in plugin.tools),
    ]

    @cache  # each turn asks again, and finding the nearest names is slow
    def suggest(entry: str) -> str:
        return suggestion(entry, names) if nearest(entry, names) else ""

    def shown(name: str) -> str:  # looked up each time, because later registrations may change it
        return registry.wire_names.get(name, name)

    def find_allowed_extensions() -> FilterOpts:
        # By wire names, which are of one moment, because others may register tools meanwhile.
        now = [entry for name in registry.wire_names if (entry := registry.find(name)) is not None]
        passing = known.union(each.tool.name for each in now if each.tool.always_include)
        extended = [each for each in now if each.plugin_id is not None]
        return FilterOpts(
            [each.tool.name for each in extended if each.tool.name not in passing],
            # These also exclude tools that are registered during a turn.
            allowed_mcp_tools=[name for name in passing if name.startswith(MCP_PREFIX)],
            allowed_plugins=[each.plugin_id for each in extended if each.plugin_id is not None],
        )

    return Expansion(expander(catalog, attrgetter("name")), always_included, suggest, shown, find_allowed_extensions)
