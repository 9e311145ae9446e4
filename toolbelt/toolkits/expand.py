"""Toolkits as they are written, over a catalog: from plugins and patterns to single tools (rules K8, L9)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import (
    AmbiguousNameError,
    InvalidDefinitionError,
    NotFoundError,
    Suggester,
    find_misspelt,
    require_items,
)
from toolbelt.findings import Severity
from toolbelt.patterns import matches
from toolbelt.toolkits.directive import DirectiveRules
from toolbelt.toolkits.policy import PolicyText
from toolbelt.toolkits.switch_decisions import ConfigNote
from toolbelt.toolkits.switches import ToolkitCatalog, require_mapping
from toolbelt.toolkits.toolkit import Toolkit, ToolSpec

ToolKey = Callable[[Tool], str]
"""From a tool of a catalog to what it goes by: its id, or its name for a registry."""


class Miss(StrEnum):
    """Why an entry of a toolkit matches no tool; the value is the rule of the finding."""

    LACKING = "unknown-tool"
    """Its plugin is there, and lacks that tool."""
    MISSPELT = "misspelt-member"
    """The name is close to a known one."""
    AMBIGUOUS = "ambiguous-member"
    """Several tools have the name."""
    ABSENT = "absent-plugin"
    """Nothing of the kind is there; it may come with a plugin that is not connected now."""
    OFF = "switched-off"
    """A file of a client, or `toolbelt.yaml`, switches it off."""
    EMPTY = "empty-plugin"
    """A plugin without tools."""

    def severity(self, *, is_off: bool) -> Severity:
        """How bad it is where the toolkit's switch is off or on (rule K2): what would silently stay on is an error."""
        unsafe = (Miss.LACKING, Miss.MISSPELT, Miss.AMBIGUOUS) if is_off else (Miss.LACKING,)
        return Severity.ERROR if self in unsafe else Severity.WARNING


@dataclass(frozen=True)
class EntryMatch:
    """What an entry of a toolkit means in a catalog.

    Attributes:
        entry: As written.
        tools: In the catalog's order.
        message: Why there are none, in a sentence; empty where there are.
        candidates: The ids it may have meant, where several tools have the name.
        miss: Why there are none, as a value; `None` where there are.
    """

    entry: str
    tools: tuple[Tool, ...]
    message: str = ""
    candidates: tuple[str, ...] = ()
    miss: Miss | None = None


@dataclass(frozen=True)
class Unmatched:
    """An entry of a toolkit that is no tool of the catalog.

    Attributes:
        toolkit: Key of the toolkit.
        entry: As written.
        message: Why, in a sentence, with the nearest names.
        candidates: The ids it may have meant, where several tools have the name.
        miss: Why, as a value.
    """

    toolkit: str
    entry: str
    message: str
    candidates: tuple[str, ...] = ()
    miss: Miss = Miss.ABSENT


@dataclass(frozen=True)
class Overlap:
    """Two entries of a toolkit that mean the same tool, are as narrow as one another, and disagree about it.

    Attributes:
        toolkit: Key of the toolkit.
        tool: Key of the tool, or of the first of several.
        entries: As written; the last applies.
    """

    toolkit: str
    tool: str
    entries: tuple[str, str]

    @property
    def message(self) -> str:
        """In a sentence, with what to do."""
        first, second = self.entries
        return f"{first!r} and {second!r} both mean {self.tool!r} with other overrides; {second!r} applies. Keep one."


@dataclass(frozen=True)
class ExpandedToolkits:
    """Toolkits over the tools of a catalog.

    Attributes:
        catalog: The toolkits with keys of tools as members, and every tool of the catalog under its key.
        source: The catalog they were made for.
        unmatched: Entries that matched nothing, in order.
        overlaps: Entries that disagree, in order.
        key: What a tool goes by; its id by default.
    """

    catalog: ToolkitCatalog
    source: Catalog
    unmatched: tuple[Unmatched, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    key: ToolKey = attrgetter("id")

    def read_config(self, config: Mapping[str, Any]) -> tuple[dict[str, bool], tuple[ConfigNote, ...]]:
        """A config as somebody wrote it, by the keys of `catalog`, and what of it does not do what it seems to.

        A key may be a toolkit's, or a tool's id, `plugin/name`, or bare name where only one tool has it. Where two
        keys mean the same tool and differ, it is off: the careful half of a contradiction stands. Values that are no
        booleans are left out, as they count as absent.

        Raises:
            InvalidDefinitionError: the config is no mapping.
        """
        switches: dict[str, bool] = {}
        written: dict[str, object] = {}
        notes: list[ConfigNote] = []
        suggest = Suggester()
        for name, value in require_mapping(config).items():
            key = self._find_key(name, suggest)
            if isinstance(key, ConfigNote):
                notes.append(key)
            elif type(value) is not bool:
                notes += (replace(note, key=name) for note in self.catalog.check_config({key: value}))
            elif key in switches and switches[key] is not value:
                message = f"{written[key]!r} and {name!r} are the same tool and differ, so it is off; keep one."
                notes.append(ConfigNote(name, "contradiction", message))
                switches[key] = False
            else:
                switches[key] = value
                written.setdefault(key, name)
        notes += (replace(note, key=written[str(note.key)]) for note in self.catalog.check_config(switches))
        return switches, tuple(notes)

    def check_members(self, switches: Mapping[str, Any]) -> tuple[tuple[Unmatched, Severity], ...]:
        """The entries that match nothing, and how bad each is under a config by the keys of `catalog` (rule K2)."""
        is_on = {key: self.catalog.toolkit_switch(key, switches) for key in {each.toolkit for each in self.unmatched}}
        return tuple((each, each.miss.severity(is_off=not is_on[each.toolkit])) for each in self.unmatched)

    def _find_key(self, name: object, suggest: Suggester) -> str | ConfigNote:
        if not isinstance(name, str):
            return ConfigNote(name, "unknown-key", f"Keys are names of tools and toolkits; {name!r} is none.")
        if (known := self.catalog.find_toolkit(name) or self.catalog.find_tool(name)) is not None:
            return known.key
        try:
            return self.key(self.source.get_tool(name))
        except AmbiguousNameError as error:
            return ConfigNote(name, "ambiguous-key", f"{error} As it stands, it does nothing.")
        except NotFoundError as error:
            if self.source.find_plugin(name) is not None:
                advice = f" {name!r} is a plugin; make it a toolkit, or name its tools as {name}/NAME."
            else:
                advice = suggest(name, [*(kit.key for kit in self.catalog.toolkits), *error.known])
            return ConfigNote(name, "unknown-key", f"No tool or toolkit has the key {name!r}; it does nothing.{advice}")


def find_tools(entry: str, catalog: Catalog) -> tuple[Tool, ...]:
    """The tools that an entry of a toolkit means, in the catalog's order.

    It is a plugin, or one tool as `plugin/tool` or `plugin/prefix*`, all ignoring case; else a tool's id, or its bare
    name where only one has it. A `*` elsewhere than at the end of the tool is a plain character (rule L4).

    Raises:
        NotFoundError: nothing answers to it; a plugin without tools does.
        AmbiguousNameError: a bare name that several tools have.
    """
    if (plugin := catalog.find_plugin(entry)) is not None:
        return plugin.tools
    for plugin, pattern in _parted(entry, catalog):
        if tools := tuple(tool for tool in plugin.tools if matches(pattern, tool.name)):
            return tools
    return (catalog.get_tool(entry),)


def expand_entry(entry: str, catalog: Catalog, suggest: Suggester | None = None) -> EntryMatch:
    """`find_tools`, with a sentence in place of an error.

    Args:
        entry: Of a toolkit.
        catalog: Every tool there is.
        suggest: What gives advice, where many entries are read; by default there is always some.
    """
    try:
        tools = find_tools(entry, catalog)
    except AmbiguousNameError as error:
        return EntryMatch(entry, (), str(error), error.candidates, Miss.AMBIGUOUS)
    except NotFoundError as error:
        if (off := catalog.find_switched_off(entry)) is not None:
            return EntryMatch(entry, (), f"{off.name!r} is {off.why}", miss=Miss.OFF)
        beside = [f"{plugin.name}/{tool.name}" for plugin, _ in _parted(entry, catalog) for tool in plugin.tools]
        known = beside or [*(plugin.name for plugin in catalog.plugins), *error.known]
        advice = (suggest or Suggester())(entry, known)
        miss = Miss.LACKING if any(_parted(entry, catalog)) else Miss.ABSENT
        if miss is Miss.ABSENT and _is_misspelt(entry, known):
            miss = Miss.MISSPELT
        return EntryMatch(entry, (), f"No plugin or tool is named {entry!r}.{advice}", miss=miss)
    if not tools:
        return EntryMatch(entry, (), f"Plugin {entry!r} has no tools.", miss=Miss.EMPTY)
    return EntryMatch(entry, tools)


def _is_misspelt(entry: str, known: Collection[str]) -> bool:
    """Whether an entry, or the plugin that it begins with, is nearly a name that is there."""
    return any(find_misspelt(part, known) is not None for part in {entry, entry.partition("/")[0]})


def expander(catalog: Catalog, key: ToolKey = attrgetter("id")) -> Callable[[str], tuple[str, ...]]:
    """From an entry to the keys of its tools; none for one that matches nothing. Each entry is looked up once.

    Args:
        catalog: Every tool there is.
        key: The key of a tool; its id if `None`.
    """

    @cache
    def expand(entry: str) -> tuple[str, ...]:
        try:
            return tuple(map(key, find_tools(entry, catalog)))
        except (AmbiguousNameError, NotFoundError):
            return ()

    return expand


def _parted(entry: str, catalog: Catalog) -> Iterator[tuple[Plugin, str]]:
    """An entry as plugin and pattern: names of plugins may hold strokes (`@scope/server`), so any may be the one."""
    for position in (index for index, character in enumerate(entry) if character == "/"):
        if (plugin := catalog.find_plugin(entry[:position])) is not None:
            yield plugin, entry[position + 1 :]


def expand_toolkits(toolkits: Iterable[Toolkit], catalog: Catalog, key: ToolKey = attrgetter("id")) -> ExpandedToolkits:
    """Toolkits whose entries name plugins and tools, as toolkits of single tools.

    Example:
        >>> from toolbelt import Catalog, Plugin, Tool, Toolkit, expand_toolkits
        >>> catalog = Catalog([Plugin("git", [Tool("git_log"), Tool("git_push")])])
        >>> [history] = expand_toolkits([Toolkit("history", member_tools=["git"])], catalog).catalog.toolkits
        >>> history.member_tools
        ('git/git_log', 'git/git_push')

    Tools that are in a toolkit are on by default if any of theirs is; tools in none are on by default. Texts and
    directives that are tables (`PolicyText`, `DirectiveRules`) name the single tools, too; those that are
    functions are kept as they are, and get keys. Where entries of one toolkit overlap and each says something of a
    tool, the one that matches fewest tools applies, and of those the last.

    Args:
        toolkits: In order.
        catalog: Every tool there is.
        key: The key of a tool; its id if `None`. Tools of one key are one tool, the first of them.

    Raises:
        InvalidDefinitionError: two toolkits of one key, or one whose key is that of a tool.
    """
    if not isinstance(catalog, Catalog):
        raise InvalidDefinitionError(
            f"Toolkits are expanded over a Catalog, not something of type {type(catalog).__name__}; of a ToolRegistry, "
            "give its `catalog`."
        )
    toolkits = require_items("The toolkits", toolkits, Toolkit)
    expand, suggest = expander(catalog, key), Suggester()
    expanded: list[Toolkit] = []
    unmatched: list[Unmatched] = []
    overlaps: list[Overlap] = []
    for toolkit in toolkits:
        entry_matches = [expand_entry(entry, catalog, suggest) for entry in toolkit.member_tools]
        unmatched += (
            Unmatched(toolkit.key, match.entry, match.message, match.candidates, match.miss)
            for match in entry_matches
            if match.miss is not None
        )
        overlaps += _find_overlaps(toolkit, {match.entry: tuple(map(key, match.tools)) for match in entry_matches})
        expanded.append(expand_toolkit(toolkit, expand))
    owned = {member for toolkit in expanded for member in toolkit.member_tools}
    tools: dict[str, Tool] = {}
    for tool in catalog.tools:
        tools.setdefault(key(tool), tool)
    specs = (
        ToolSpec(name, _label(tool), None if name in owned else True, tool.description) for name, tool in tools.items()
    )
    return ExpandedToolkits(
        ToolkitCatalog(tuple(specs), tuple(expanded)), catalog, tuple(unmatched), tuple(overlaps), key
    )


def expand_toolkit(toolkit: Toolkit, expand: Callable[[str], Iterable[str]]) -> Toolkit:
    """One toolkit with the keys of tools for its entries; see `expand_toolkits`.

    Args:
        toolkit: As written.
        expand: From an entry to the keys of its tools, as `expander` makes it.
    """
    policy, directive = toolkit.policy, toolkit.directive
    matched = {entry: tuple(expand(entry)) for entry in toolkit.member_tools}
    return replace(
        toolkit,
        member_tools=tuple(dict.fromkeys(key for keys in matched.values() for key in keys)),
        policy=policy.expanded(expand) if isinstance(policy, PolicyText) else policy,
        directive=directive.expanded(expand) if isinstance(directive, DirectiveRules) else directive,
        overrides=pick_narrowest(toolkit.overrides, matched),
    )


def _find_overlaps(toolkit: Toolkit, matched: Mapping[str, tuple[str, ...]]) -> list[Overlap]:
    overlaps: dict[tuple[str, str], Overlap] = {}
    winners: dict[str, str] = {}
    for entry in widest_first(toolkit.overrides, matched):
        for tool_id in matched[entry]:
            earlier = winners.get(tool_id, entry)
            is_as_narrow = len(matched[earlier]) == len(matched[entry])
            if is_as_narrow and toolkit.overrides[earlier] != toolkit.overrides[entry]:
                overlaps.setdefault((earlier, entry), Overlap(toolkit.key, tool_id, (earlier, entry)))
            winners[tool_id] = entry
    return list(overlaps.values())


def _label(tool: Tool) -> str:
    title = tool.annotations.get("title")
    return title if isinstance(title, str) and title.strip() else tool.name


Value = TypeVar("Value")


def widest_first(entries: Iterable[str], matched: Mapping[str, Sequence[str]]) -> list[str]:
    """Entries in the order in which each overrules those before it: the fewer tools it means, the later.

    `git` for the whole plugin, and `git/push` for what is special about that one. Of those that mean as many, the last
    applies.

    Args:
        entries: As written, in order.
        matched: By entry, the keys of the tools that it means.
    """
    return sorted(entries, key=lambda entry: -len(matched[entry]))


def pick_narrowest(values: Mapping[str, Value], matched: Mapping[str, Sequence[str]]) -> dict[str, Value]:
    """By key of a tool, the value of the narrowest entry that means it; see `widest_first`.

    Args:
        values: By entry, in order.
        matched: By entry, the keys of the tools that it means.
    """
    return {key: values[entry] for entry in widest_first(values, matched) for key in matched[entry]}
