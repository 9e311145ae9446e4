"""The tools that entries of a configuration stand for, and bundles of them merged in order (rules D1, D6, L9)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import nearest, suggestion
from toolbelt.patterns import fold
from toolbelt.toolkits.expand import expander, pick_narrowest

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
    """The tools that entries of a configuration stand for.

    Attributes:
        find: The keys of an entry's tools; by default an entry is the key of one tool.
        tools: By key; a tool that is not in it has its key as name, and no description.
        suggest: For an entry that matches no tool: a sentence that begins with a blank, or nothing.
        find_wire_name: From a tool's key to the name that the model is shown.
        find_answer_name: From a tool's key to its name in answers; `None` for the wire name.
    """

    find: Expand = _alone
    tools: Mapping[str, Tool] = FrozenDict()
    suggest: Callable[[str], str] = _nothing
    find_wire_name: Callable[[str], str] = _unchanged
    find_answer_name: Callable[[str], str] | None = None

    def get_tool(self, key: str) -> Tool:
        """The tool of a key."""
        return self.tools.get(key) or Tool(key)


def expand_over(
    catalog: Catalog,
    wire_names: Mapping[str, str] | None = None,
    *,
    key: Callable[[Tool], str] = attrgetter("id"),
    without: Collection[str] = (),
) -> Expansion:
    """Expands entries over the tools of a catalog.

    An entry is a plugin, a tool as `plugin/tool`, several as `plugin/prefix*`, or a tool's bare name. Names are
    compared as in loadouts (rule L4), and a plugin takes precedence over a tool of the same name.

    Args:
        catalog: All tools.
        wire_names: By key, the names that the model is shown; by default those of the catalog.
        key: What a tool goes by. A registry's tools go by their names, which are unique there.
        without: Ids of tools that no entry stands for.

    Returns:
        An expansion in the order of the catalog, with no key for an entry that matches nothing.
    """
    tools = {key(tool): tool for tool in catalog.tools if tool.id not in without}
    if wire_names is None:
        wire_names = {key(tool): catalog.wire_names[tool.id] for tool in catalog.tools}
    find_all = expander(catalog, key)
    names = [
        *(plugin.name for plugin in catalog.plugins),
        *(tool.name for tool in catalog.tools),
        *(f"{plugin.name}/{tool.name}" for plugin in catalog.plugins for tool in plugin.tools),
    ]

    @cache  # each turn asks again, and finding the nearest names is slow
    def suggest(entry: str) -> str:
        return suggestion(entry, names) if nearest(entry, names) else ""

    return Expansion(
        lambda entry: tuple(tool_id for tool_id in find_all(entry) if tool_id in tools),
        tools,
        suggest,
        lambda tool_id: wire_names.get(tool_id, tool_id),
    )


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
        unmatched: Entries that match no tool, in order, each as a tool of that key.
    """

    tools: Mapping[str, ActiveTool]
    unmatched: Mapping[str, ActiveTool]

    @classmethod
    def of(
        cls,
        entries: Iterable[str],
        overrides: Mapping[str, Mapping[str, Any] | None],
        expand: Expand,
        toolkit: str | None,
        without: Collection[str] = (),
    ) -> Bundle:
        """The tools of entries, each with the overrides of its entry.

        If several entries with overrides match the same tool, the one that matches the fewest tools counts, and of
        those the last.

        Args:
            entries: In order.
            overrides: By entry.
            expand: From an entry to the keys of its tools.
            toolkit: Whose they are; `None` for an agent's static tools.
            without: Keys of tools to leave out.
        """
        matched = {entry: tuple(expand(entry)) for entry in entries}
        by_entry = {entry: normalised(values) for entry, values in overrides.items()}
        effective = pick_narrowest(by_entry, matched)
        keys = dict.fromkeys(key for tool_keys in matched.values() for key in tool_keys if key not in without)
        no_overrides = normalised(None)
        tools = {key: ActiveTool(key, effective.get(key, no_overrides), toolkit) for key in keys}
        unmatched = {
            entry: ActiveTool(entry, by_entry.get(entry, no_overrides), toolkit)
            for entry, tool_keys in matched.items()
            if not tool_keys
        }
        return cls(FrozenDict(tools), FrozenDict(unmatched))

    @property
    def compared(self) -> Mapping[str, ActiveTool]:
        """What conflicts are looked for in: tools by key, and entries that match no tool, compared without case.

        The tools of such an entry may be missing only here, or only now.
        """
        return {**self.tools, **{f"\0{fold(entry)}": tool for entry, tool in self.unmatched.items()}}

    def find_conflict(self, present: Mapping[str, ActiveTool]) -> Conflict | None:
        """The first tool of this bundle that is present with other overrides; `None` if there is none.

        Args:
            present: `compared` of the bundles that are there, merged.
        """
        for key, tool in self.compared.items():
            existing = present.get(key)
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
