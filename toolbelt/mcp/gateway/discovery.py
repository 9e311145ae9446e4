"""The meta-tools by which a client finds, reads and calls the tools that are not in its list (rule M6).

A loadout makes some tools discoverable. The gateway does not list them, because their definitions would cost tokens in
every request, and because most clients ignore a list that changes. They are found with `search_tools`, read with
`describe_tools`, and run with `call_tool_read` or `call_tool`. Which of these two runs a tool depends on the tool's own
`readOnlyHint` alone, so that a client may allow the first one always and ask about the second one each time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import definition_text
from toolbelt.catalog.ranking.words import WordsIndex
from toolbelt.catalog.tool_names import find_written_description
from toolbelt.errors import nearest, suggestion
from toolbelt.mcp.gateway.discovery_arguments import (
    DiscoveryArgumentsError,
    read_call,
    read_names,
    read_page,
    read_text,
)
from toolbelt.mcp.gateway.meta_tools import (
    PAGE_SIZE,
    DiscoveryRole,
    Group,
    cut,
    define_meta_tools,
    first_sentence,
    name_meta_tools,
)
from toolbelt.mcp.gateway.surface import Surface, listed_definition
from toolbelt.patterns import fold
from toolbelt.sessions.meta_tools import escaped

if TYPE_CHECKING:
    from toolbelt.catalog.ranking.large import IndexStore  # numpy and scipy

MAX_ANSWER_CHARS = 80_000
"""Characters of one answer of `describe_tools`; the first tool is always whole."""
_MAX_LINE_CHARS = 160
_MAX_REPEATED_CHARS = 100
OTHER = "other"
"""The group of tools without a plugin."""


class DiscoverMode(StrEnum):
    """How a client reaches discoverable tools."""

    CALL_THROUGH = "call-through"
    LIST_CHANGED = "list-changed"
    """Call-through, and a tool that was described is added to the list."""
    NONE = "none"


class RefusalReason(StrEnum):
    """Why a meta-tool does not run a tool."""

    INVALID_ARGUMENTS = "invalid_arguments"
    UNKNOWN = "unknown"
    """No tool that this client may reach: unknown, hidden and disabled names get the same answer."""
    OFFERED = "offered"
    READ_ONLY = "read_only"
    NOT_READ_ONLY = "not_read_only"


@dataclass(frozen=True, slots=True)
class CallThrough:
    """A call that a meta-tool passes on to a tool.

    Attributes:
        tool: The tool; its arguments are not checked yet.
        arguments: For the tool.
    """

    tool: Tool
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DiscoveryRefusal:
    """A call that a meta-tool does not pass on.

    Attributes:
        reason: For the gateway's log.
        message: For the model.
    """

    reason: RefusalReason
    message: str


class ToolNames:
    """Finds the one tool that a name means, before anything is decided about that tool.

    A name is compared as a wire name, an id, `plugin/name` and a bare name; then as each of these in any case. A name
    that several tools have means none of them.
    """

    def __init__(self, tools: Iterable[Tool], wire_names: Mapping[str, str]) -> None:
        exact: list[dict[str, set[str]]] = [{}, {}, {}, {}]
        folded: dict[str, set[str]] = {}
        self._by_id: dict[str, Tool] = {}
        for tool in tools:
            self._by_id[tool.id] = tool
            names = (wire_names.get(tool.id, tool.name), tool.id, tool.path, tool.name)
            for index, name in zip(exact, names, strict=True):
                index.setdefault(name, set()).add(tool.id)
                folded.setdefault(fold(name), set()).add(tool.id)
        self._exact, self._folded = exact, folded

    def find(self, name: str) -> Tool | None:
        """The tool that `name` means; `None` if there is none, or several."""
        for index, key in (*((index, name) for index in self._exact), (self._folded, fold(name))):
            if ids := index.get(key):
                return self._by_id[next(iter(ids))] if len(ids) == 1 else None
        return None


class Discovery:
    """What the meta-tools of one surface answer; it runs nothing and keeps no state.

    Attributes:
        tools: The discoverable tools, in order.
        names: Names of the meta-tools by role.
        definitions: The meta-tools, in the order in which they are listed; none if nothing is discoverable.

    Args:
        discoverable: The tools that can be found, described and called through.
        wire_names: By tool id, of all tools.
        plugins: The groups, for their descriptions.
        offered: The tools that the client lists; it calls them directly.
        withheld: All other tools: hidden, disabled, changed. No name of theirs means another tool.
        loader: Name of the tool that brings the others, if that is not by search: then nothing searches.
        store: Where indexes of large surfaces are kept; nowhere if `None`.
    """

    def __init__(
        self,
        discoverable: Iterable[Tool],
        wire_names: Mapping[str, str],
        plugins: Iterable[Plugin] = (),
        *,
        offered: Iterable[Tool] = (),
        withheld: Iterable[Tool] = (),
        loader: str = "",
        store: IndexStore | None = None,
    ) -> None:
        self.loader = loader
        self._store = store
        self.tools = tuple(discoverable)
        self._wire_names = wire_names
        self._ids = frozenset(tool.id for tool in self.tools)
        offered = tuple(offered)
        self._offered_ids = frozenset(tool.id for tool in offered)
        known = (*self.tools, *offered, *withheld)
        self._find = ToolNames(known, wire_names).find
        descriptions = {plugin.name: find_written_description(plugin.description, plugin.tools) for plugin in plugins}
        taken = {fold(wire_names.get(tool.id, tool.name)) for tool in known}
        self.names = name_meta_tools(taken)
        self._roles = {name: role for role, name in self.names.items()}
        groups = [
            Group(name, descriptions.get(name, ""), tuple(map(self._wire_name, tools)))
            for name, tools in self.groups.items()
        ]
        self.definitions = define_meta_tools(self.names, groups, loader) if self.tools else ()

    def find_role(self, wire_name: str) -> DiscoveryRole | None:
        """The meta-tool of that name; `None` if it is none, or nothing is discoverable."""
        return self._roles.get(wire_name) if self.definitions else None

    def without(self, tool_ids: Collection[str]) -> Discovery:
        """The same without some tools, which are withheld; the meta-tools keep their definitions."""
        narrowed = object.__new__(Discovery)
        narrowed.__dict__.update({key: value for key, value in vars(self).items() if key not in ("_index", "groups")})
        narrowed.tools = tuple(tool for tool in self.tools if tool.id not in tool_ids)
        narrowed._ids = frozenset(tool.id for tool in narrowed.tools)
        narrowed._offered_ids = self._offered_ids.difference(tool_ids)
        return narrowed

    @cached_property
    def groups(self) -> Mapping[str, tuple[Tool, ...]]:
        """The discoverable tools by plugin, in order."""
        groups: dict[str, list[Tool]] = {}
        for tool in self.tools:
            groups.setdefault(tool.plugin or OTHER, []).append(tool)
        return {name: tuple(tools) for name, tools in groups.items()}

    def answer(self, role: DiscoveryRole, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of `search_tools` or `describe_tools`, as `search` and `describe` give it.

        Raises:
            DiscoveryArgumentsError: arguments that cannot be used.
            ValueError: a role that runs tools.
        """
        match role:
            case DiscoveryRole.SEARCH:
                query, group = read_text(arguments, "query"), read_text(arguments, "group")
                return self.search(query, group, read_page(arguments))
            case DiscoveryRole.DESCRIBE:
                return self.describe(read_names(arguments))
            case _:
                raise ValueError(f"{role} runs a tool.")

    def search(self, query: str = "", group: str = "", page: int = 1) -> dict[str, Any]:
        """Discoverable tools by words, the best first.

        Args:
            query: Words; empty lists the tools in order.
            group: A plugin, without regard to case; empty for all.
            page: From 1, of `PAGE_SIZE` tools.

        Returns:
            `tools` (`name`, `group`, `description` in one line, `call_with`), `page`, `pages`, `total`, and a `message`
            with the next step. Where nothing matches, the `nearest` names and the `groups`.
        """
        names = {fold(name): name for name in self.groups}
        if group and fold(group) not in names:
            known = list(self.groups)
            shown = _shortened(group)
            message = f"There is no group {shown!r}.{suggestion(shown, known)}"
            return {"tools": [], "total": 0, "message": message, "groups": known}
        hits = [self.tools[position] for position in self._rank(query)] if query.strip() else list(self.tools)
        if group:
            hits = [tool for tool in hits if (tool.plugin or OTHER) == names[fold(group)]]
        pages = -(-len(hits) // PAGE_SIZE)
        shown_tools = hits[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        answer: dict[str, Any] = {"tools": [self._entry(tool) for tool in shown_tools]}
        answer |= {"page": page, "pages": pages, "total": len(hits)}
        if shown_tools:
            answer["message"] = f"{self.names[DiscoveryRole.DESCRIBE]} gives the arguments of these tools."
        elif hits:
            answer["message"] = f"There is no page {page}; pages go from 1 to {pages}."
        else:
            answer["message"] = "Nothing matches; try other words, or list a group without a query."
            answer |= {"nearest": self._nearest(query), "groups": list(self.groups)}
        return answer

    def describe(self, names: Iterable[str]) -> dict[str, Any]:
        """Definitions of tools: description and input schema as the server sent them.

        Args:
            names: In any form that `ToolNames` reads, `MAX_DESCRIBED` at most.

        Returns:
            `tools`; `unknown`, each with `name` and `nearest`, if there are any; `left_out` with the names for which
            the answer would be too long.
        """
        tools: list[dict[str, Any]] = []
        unknown, left_out, size = [], [], 0
        for name in dict.fromkeys(names):
            tool = self._find(name)
            if tool is None or tool.id not in self._ids | self._offered_ids:
                unknown.append({"name": _shortened(name), "nearest": self._nearest(name)})
                continue
            entry = self._definition(tool)
            size += len(definition_text(entry))
            if tools and size > MAX_ANSWER_CHARS:
                left_out.append(entry["name"])
            else:
                tools.append(entry)
        answer: dict[str, Any] = {"tools": tools}
        if unknown:
            answer["unknown"] = unknown
        if left_out:
            answer |= {"left_out": left_out, "message": "The answer would be too long; ask for the others separately."}
        return answer

    def admit(self, role: DiscoveryRole, arguments: Mapping[str, Any]) -> CallThrough | DiscoveryRefusal:
        """The call that `call_tool_read` or `call_tool` passes on, or why it passes none on.

        The name is resolved to one tool, and only then it is decided whether that tool may run. A tool without
        `readOnlyHint: true` counts as destructive, whatever else its annotations are.
        """
        try:
            name, passed_on = read_call(arguments)
        except DiscoveryArgumentsError as error:
            return DiscoveryRefusal(RefusalReason.INVALID_ARGUMENTS, str(error))
        tool = self._find(name)
        if tool is not None and tool.id in self._offered_ids:
            message = f"{self._wire_name(tool)} is one of your tools: call it directly."
            return DiscoveryRefusal(RefusalReason.OFFERED, message)
        if tool is None or tool.id not in self._ids:
            return DiscoveryRefusal(RefusalReason.UNKNOWN, self.describe_unknown(name))
        if role is DiscoveryRole.CALL_READ and not is_read_only(tool):
            message = f"{self._wire_name(tool)} may change something: call it with {self.names[DiscoveryRole.CALL]}."
            return DiscoveryRefusal(RefusalReason.NOT_READ_ONLY, message)
        if role is DiscoveryRole.CALL and is_read_only(tool):
            message = f"{self._wire_name(tool)} only reads: call it with {self.names[DiscoveryRole.CALL_READ]}."
            return DiscoveryRefusal(RefusalReason.READ_ONLY, message)
        return CallThrough(tool, passed_on)

    def find_wire_name(self, name: str) -> str:
        """The name in the list of the tool that `name` means, which may be withheld; else `name` itself.

        For the gateway's log: no client is given it.
        """
        tool = self._find(name)
        return name if tool is None else self._wire_name(tool)

    def describe_unknown(self, name: str) -> str:
        """The sentence about a name that is unknown, hidden or disabled, with the nearest discoverable names."""
        near = self._nearest(name)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        more = (
            f"{self.loader} loads more" if self.loader else f"{self.names[DiscoveryRole.SEARCH]} finds tools by words"
        )
        return f"Unknown tool: {_shortened(name)!r}.{hint} {more}."

    def _rank(self, query: str) -> list[int]:
        return self._index.rank(query, len(self.tools))

    @cached_property
    def _index(self) -> WordsIndex:
        return WordsIndex(self.tools, with_plugins=True, store=self._store)

    def _nearest(self, name: str) -> list[str]:
        return list(nearest(name[:_MAX_REPEATED_CHARS], [self._wire_name(tool) for tool in self.tools]))

    def _wire_name(self, tool: Tool) -> str:
        return self._wire_names.get(tool.id, tool.name)

    def _call_with(self, tool: Tool) -> str:
        if tool.id in self._offered_ids:
            return self._wire_name(tool)
        return self.names[DiscoveryRole.CALL_READ if is_read_only(tool) else DiscoveryRole.CALL]

    def _entry(self, tool: Tool) -> dict[str, Any]:
        description = first_sentence(tool.description, _MAX_LINE_CHARS)
        entry = {"name": self._wire_name(tool), "group": tool.plugin or OTHER, "description": description}
        return entry | {"call_with": self._call_with(tool)}

    def _definition(self, tool: Tool) -> dict[str, Any]:
        definition = listed_definition(tool, self._wire_name(tool))
        keys = ("name", "title", "description", "inputSchema", "annotations")
        return {key: definition[key] for key in keys if key in definition} | {"call_with": self._call_with(tool)}


def make_discovery(
    surface: Surface,
    catalog: Catalog,
    names: Mapping[str, str],
    *,
    loader: str = "",
    store: IndexStore | None = None,
) -> Discovery:
    """The meta-tools of a surface.

    Args:
        surface: What is offered and discoverable.
        catalog: All tools, for those that are neither.
        names: Names that clients see, by tool id, of all tools of the catalog.
        loader: As for `Discovery`.
        store: Likewise.
    """
    offered = [served.tool for served in surface.offered]
    discoverable = [served.tool for served in surface.discoverable]
    reachable = {tool.id for tool in (*offered, *discoverable)}
    withheld = [tool for tool in catalog.tools if tool.id not in reachable]
    return Discovery(
        discoverable, names, catalog.plugins, offered=offered, withheld=withheld, loader=loader, store=store
    )


def is_read_only(tool: Tool) -> bool:
    """Whether a tool states that it changes nothing; without a statement it counts as destructive (rule M6)."""
    return tool.annotations.get("readOnlyHint") is True


def format_answer(answer: Mapping[str, Any]) -> str:
    """JSON on one line, with unsafe characters as JSON escapes, which mean the same."""
    return escaped(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def _shortened(text: str) -> str:
    return cut(text, _MAX_REPEATED_CHARS)
