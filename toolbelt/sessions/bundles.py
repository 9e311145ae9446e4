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
"""Stands for what an agent always has, where a toolkit is named otherwise."""
Expand = Callable[[str], Sequence[str]]
"""From an entry, such as a plugin or `plugin/tool`, to the keys of its tools."""


def _alone(entry: str) -> tuple[str, ...]:
    return (entry,)


def _unchanged(key: str) -> str:
    return key


def _nothing(_: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Expansion:
    """An `Expand` that knows more of the tools there are.

    Attributes:
        find: What it gives for an entry; left out, an entry is the key of one tool.
        always: Keys of the tools that pass every allow-list (`always_include`, rule R2).
        advise: What to say of an entry that no tool answers to: a sentence that begins with a blank, or nothing.
        shown: From a tool's key to what the model is shown it under.
        guests: What keeps out those tools of servers and extensions that were not there when entries were expanded,
            asked at each turn; `None` where that cannot be told.
    """

    find: Expand = _alone
    always: frozenset[str] = frozenset()
    advise: Callable[[str], str] = _nothing
    shown: Callable[[str], str] = _unchanged
    guests: Callable[[], FilterOpts] | None = None

    def __call__(self, entry: str) -> Sequence[str]:
        """The keys of an entry's tools."""
        return self.find(entry)


@dataclass(frozen=True, slots=True)
class ActiveTool:
    """A tool that an agent has.

    Attributes:
        key: Which.
        overrides: What the configuration says of it; frozen, empty for nothing.
        toolkit: What brought it; `None` for a tool that is always there. Where several did, the first.
    """

    key: str
    overrides: Mapping[str, Any]
    toolkit: str | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """The same tool with other overrides.

    Attributes:
        existing: As it is there already.
        coming: As it would come.
    """

    existing: ActiveTool
    coming: ActiveTool

    @property
    def holder(self) -> str:
        """What has it already: the key of a toolkit, or `static tools`."""
        return STATIC if self.existing.toolkit is None else self.existing.toolkit

    @property
    def words(self) -> str:
        """In a few words, to follow the name of what comes."""
        if self.existing.toolkit is None:
            where = f"the agent's {STATIC} have"
        else:
            where = f"toolkit {self.existing.toolkit!r} has"
        return f"{where} {self.coming.key!r} with other overrides"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Tools that come together.

    Attributes:
        tools: By key, in order.
        unmatched: Entries that no tool answers to.
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

        Where several entries mean the same tool and say something of it, the one that means the fewest tools is heard,
        and of those the last.
        """
        matched = {entry: tuple(expand(entry)) for entry in entries}
        said = heard({entry: normalised(one) for entry, one in overrides.items()}, matched)
        keys = dict.fromkeys(key for found in matched.values() for key in found)
        nothing = normalised(None)
        tools = {key: ActiveTool(key, said.get(key, nothing), toolkit) for key in keys}
        return cls(FrozenDict(tools), tuple(entry for entry, found in matched.items() if not found))

    def find_conflict(self, active: Mapping[str, ActiveTool]) -> Conflict | None:
        """The first tool of this that is there already with other overrides; `None` if there is none."""
        for key, tool in self.tools.items():
            existing = active.get(key)
            if existing is not None and not same(existing.overrides, tool.overrides):
                return Conflict(existing, tool)
        return None


def normalised(overrides: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Overrides as they are compared: nothing said is nothing overridden."""
    return FrozenDict({} if overrides is None else freeze(overrides))


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same in JSON: `1` is `1.0` and not `true`, the order of keys does not matter."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (one != one and other != other)


def expand_over(registry: ToolRegistry) -> Expansion:
    """What makes entries into names of tools, over what a registry holds now.

    An entry is a plugin, a tool as `plugin/tool`, several as `plugin/prefix*`, or a tool's bare name; compared as
    loadouts compare (rule L4), and a plugin comes before a tool of the same name.

    What is registered later no entry means, so no turn has it, not even where nobody names it: it might be what an
    entry would mean. The exceptions are what is always included and, for the rest of a turn that is under way, a
    further tool of an extension that the turn may have. After a change of the registry make this, the
    `DynamicToolkits` and the `DynamicSessions` anew and register the meta-tools again, which overwrites them in place;
    what is kept of sessions stays.

    Returns:
        What gives the names in order of registration, none where nothing answers to the entry; and knows which tools
        are always included, what is near an entry that means none, what the registry shows a tool under, and which
        tools there were.
    """
    seen = registry.get_all()
    known = frozenset(tool.name for tool in seen)
    always = frozenset(tool.name for tool in seen if tool.always_include)
    catalog = registry.catalog
    names = [
        *(plugin.name for plugin in catalog.plugins),
        *(tool.name for tool in catalog.tools),
        *(f"{plugin.name}/{tool.name}" for plugin in catalog.plugins for tool in plugin.tools),
    ]

    @cache  # every turn asks again, and to look for what is near takes its time
    def advise(entry: str) -> str:
        return suggestion(entry, names) if nearest(entry, names) else ""

    def shown(name: str) -> str:  # looked up each time: what is registered later may change it
        return registry.wire_names.get(name, name)

    def guests() -> FilterOpts:
        # By its names, which are of one moment: others may be registering meanwhile.
        now = [found for name in registry.wire_names if (found := registry.find(name)) is not None]
        passing = known.union(each.tool.name for each in now if each.tool.always_include)
        extended = [each for each in now if each.plugin_id is not None]
        return FilterOpts(
            [each.tool.name for each in extended if each.tool.name not in passing],
            # These keep out what comes while a turn is under way, too.
            allowed_mcp_tools=[name for name in passing if name.startswith(MCP_PREFIX)],
            allowed_plugins=[each.plugin_id for each in extended if each.plugin_id is not None],
        )

    return Expansion(expander(catalog, attrgetter("name")), always, advise, shown, guests)
