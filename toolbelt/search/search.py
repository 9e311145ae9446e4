"""What a search toolset shows, finds and answers, as functions of what was found so far (rule S1)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.catalog.ranking.ranker import QueryError, Ranker, SearchIndex
from toolbelt.catalog.ranking.spec import RankKind
from toolbelt.catalog.ranking.terms import join_fields
from toolbelt.catalog.tool_names import describe_tools, find_written_description
from toolbelt.patterns import fold
from toolbelt.search.presets import PRESETS
from toolbelt.search.settings import Listing, Reveal, SearchSettings, Trigger
from toolbelt.search.shapes import Answer

Found = tuple[str, ...]
"""Ids of the tools that were found and are shown or can be called, in order."""
OTHER = "other"
"""The group of tools without a plugin."""
_MAX_QUERY_CHARS = 4_000
"""Characters of a text that are searched for; of longer ones, the first."""
_PATTERN_CHARS = 60


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The answer to a call of the meta-tool that searches.

    Attributes:
        value: Text, or values for JSON.
        hits: Ids of the tools that it names, the best first.
        found: What is found from the next request on.
    """

    value: Any
    hits: tuple[str, ...]
    found: Found

    @property
    def text(self) -> str:
        """As the model reads it."""
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class CalledThrough:
    """A call that the second meta-tool passes on.

    Attributes:
        name: Of the tool, as the model wrote it.
        arguments: For the tool; `None` if they are no JSON object.
    """

    name: str
    arguments: Mapping[str, Any] | None


def make_meta_tools(settings: SearchSettings) -> tuple[Tool, ...]:
    """The meta-tools of settings, without a listing: the one that searches, and the one that calls what it found."""
    if settings.trigger is Trigger.REQUEST:
        return ()
    shape = PRESETS[settings.preset].shape
    searching = shape.search_tool(settings)
    return (searching, shape.call) if settings.reveal is Reveal.CALL else (searching,)


class Search:
    """The search over a catalog.

    The caller keeps what was found for as long as a conversation lasts. It begins with `()`, and this object never
    changes:

        search, found = Search(catalog, settings, ranker), ()
        ids = search.shown(found)                                    # for the next request, after `search.meta_tools`
        answer = search.answer({"query": "send a mail"}, found)      # when the model calls the first of these
        found = answer.found

    Attributes:
        settings: How tools are found and shown.
        names: Wire names by id.
        meta_tools: By the wire name that each must have: the one that searches, and the one that calls; none where the
            user's words are searched for.
        pinned: Ids of the tools that are always shown, in order.
        searched: The tools that can be found, in the catalog's order.
        searched_ids: The ids of these.

    Args:
        catalog: All tools, and the descriptions of groups.
        settings: As above.
        ranker: Of the settings' `rank`. The index is built by the first search, or by `prepare`.
        pinned: Ids; none of these is searched for.
        ids: Of the tools to include, without the pinned ones; `None` for all.
        names: Wire names by id; by default those of the catalog.
        as_shown: What of a tool stands in answers, where that is not what the catalog has.
    """

    def __init__(
        self,
        catalog: Catalog,
        settings: SearchSettings,
        ranker: Ranker,
        *,
        pinned: Iterable[str] = (),
        ids: Iterable[str] | None = None,
        names: Mapping[str, str] | None = None,
        as_shown: Callable[[Tool], Tool] = lambda tool: tool,
    ) -> None:
        self.settings = settings
        self._shape = PRESETS[settings.preset].shape
        self._catalog = catalog
        self.names = catalog.wire_names if names is None else names
        self._as_shown = as_shown
        self._tools = {tool.id: tool for tool in catalog.tools}
        self._all_pinned = tuple(dict.fromkeys(pinned))
        members = self._tools.keys() if ids is None else self._tools.keys() & set(ids)
        tools = [tool for tool in catalog.tools if tool.id in members and tool.id not in self._all_pinned]
        self._set_universe(tools, lambda: ranker.index(tools), (*self._all_pinned, *members))

    def within(self, ids: Collection[str], names: Mapping[str, str] | None = None) -> Self:
        """The search among only these tools, as if the catalog had no others; under these wire names if given."""
        narrowed = object.__new__(type(self))
        narrowed.__dict__.update({key: value for key, value in vars(self).items() if key != "_index"})
        narrowed.names = self.names if names is None else names
        members = set(ids)
        tools = [tool for tool in self.searched if tool.id in members]
        narrowed._set_universe(tools, lambda: self._index.within(members), members)
        return narrowed

    def prepare(self) -> None:
        """Build the index now, rather than with the first search; errors are those of the ranker."""
        _ = self._index

    @cached_property
    def _index(self) -> SearchIndex:
        return self._make_index()

    def _set_universe(
        self, tools: Sequence[Tool], make_index: Callable[[], SearchIndex], members: Collection[str]
    ) -> None:
        self.searched = tuple(tools)
        self.searched_ids = frozenset(tool.id for tool in tools)
        self._make_index = make_index
        self.pinned = tuple(tool_id for tool_id in self._all_pinned if tool_id in members)
        tools_of_meta = list(make_meta_tools(self.settings))
        if listing := self._list() if tools_of_meta else "":
            searching = tools_of_meta[0]
            tools_of_meta[0] = replace(searching, description=f"{searching.description}\n{listing}")
        self.meta_tools = FrozenDict({tool.name: tool for tool in tools_of_meta})

    def _list(self) -> str:
        """The listing in the description of the meta-tool; empty for none."""
        match self.settings.listing:
            case Listing.NONE:
                return ""
            case Listing.NAMES:
                return f"Tools: {', '.join(self._name(tool) for tool in self.searched) or 'none'}"
            case Listing.GROUPS:
                groups = [f"- {name}: {self.describe_group(name)}" for name in self.groups]
                return "\n".join(("Groups:", *groups)) if groups else ""

    @property
    def groups(self) -> dict[str, list[Tool]]:
        """The tools that can be found, by the name of their plugin."""
        groups: dict[str, list[Tool]] = {}
        for tool in self.searched:
            groups.setdefault(tool.plugin or OTHER, []).append(tool)
        return groups

    def describe_group(self, name: str) -> str:
        """What the tools of a group are for, in a line."""
        plugin = self._catalog.find_plugin(name)
        written = "" if plugin is None else find_written_description(plugin.description, plugin.tools)
        written = written.strip().partition("\n\n")[0].replace("\n", " ")
        return written or describe_tools(self._name(tool) for tool in self.groups[name])

    def _name(self, tool: Tool) -> str:
        return self.names[tool.id]

    def shown(self, found: Found) -> tuple[str, ...]:
        """Ids of the tools that are offered after the meta-tools: the pinned ones, then those found."""
        if self.settings.reveal is Reveal.CALL:
            return self.pinned
        return (*self.pinned, *found)

    @property
    def search_name(self) -> str | None:
        """Name of the meta-tool that searches; `None` where there is none."""
        return next(iter(self.meta_tools), None)

    @property
    def call_name(self) -> str | None:
        """Name of the meta-tool that calls what was found; `None` where there is none."""
        return self._shape.call.name if self._shape.call.name in self.meta_tools else None

    def find(self, text: str, found: Found = ()) -> tuple[str, ...]:
        """Ids of the tools that a text finds, the best first, `k` at the most.

        Args:
            text: As the model or the user wrote it.
            found: What was found before.

        Raises:
            QueryError: the ranker cannot search for it.
            ToolbeltError: the ranker fails.
        """
        if self._shape.takes_groups and self.settings.trigger is Trigger.MODEL:
            return self._find_paths(text.split("\n"), found)
        return self._rank(text, found)

    def _rank(self, text: str, found: Found) -> tuple[str, ...]:
        k = self.settings.k
        if self._shape.unseen_first and found:
            ids = [hit.tool.id for hit in self._index.search(text[:_MAX_QUERY_CHARS], len(self.searched))]
            return tuple(sorted(ids, key=frozenset(found).__contains__)[:k])
        return tuple(hit.tool.id for hit in self._index.search(text[:_MAX_QUERY_CHARS], k))

    def _find_paths(self, paths: Iterable[str], found: Found) -> tuple[str, ...]:
        """The tools of groups and the tools that are named; what names nothing is searched for."""
        groups = {fold(name): tools for name, tools in self.groups.items()}
        named = {fold(self._name(tool)): tool for tool in self.searched}
        ids: list[str] = []
        for path in filter(None, map(str.strip, paths)):
            if (tools := groups.get(fold(path))) is not None:
                ids += [tool.id for tool in tools]
            elif (tool := named.get(fold(path))) is not None:
                ids.append(tool.id)
            else:
                ids += self._rank(path, found)
        return tuple(dict.fromkeys(ids))

    def take(self, hits: Sequence[str], found: Found, *, begins: bool = True) -> Found:
        """What is found after a search.

        Args:
            hits: What it found; nothing leaves everything as it was.
            found: What was found before.
            begins: Whether no other search was made since the list was offered, so that this one may replace it.
        """
        replaces = self.settings.reveal is Reveal.REBIND and not self._shape.accumulates
        if hits and begins and replaces:
            return tuple(hits)
        return tuple(dict.fromkeys((*found, *hits)))

    def answer(self, arguments: Mapping[str, Any] | None, found: Found, *, begins: bool = True) -> SearchAnswer:
        """The answer to a call of the meta-tool that searches.

        Args:
            arguments: As the model gave them; `None` if they were not a JSON object.
            found: What was found before.
            begins: As for `take`.
        """
        error: QueryError | None = None
        hits: tuple[str, ...] = ()
        try:
            hits = self.find(self._shape.read_query(arguments, self.settings), found)
        except QueryError as problem:
            error = problem
        except ValueError as problem:
            return SearchAnswer({"error": f"{problem} {self.usage}"}, (), found)
        tools = tuple((self._as_shown(self._tools[tool_id]), self.names[tool_id]) for tool_id in hits)
        searched = [(tool, self._name(tool)) for tool in self.searched]
        value = self._shape.answer(Answer(self.settings, tools, error, searched))
        return SearchAnswer(value, hits, self.take(hits, found, begins=begins))

    @property
    def usage(self) -> str:
        """How the meta-tool that searches is called, in a sentence."""
        if self.search_name is None:
            return ""
        argument = self._shape.argument_for(self.settings)
        is_list = self.meta_tools[self.search_name].parameters["properties"][argument]["type"] == "array"
        return f'Call {self.search_name} with {{"{argument}": {"[TEXT]" if is_list else "TEXT"}}}.'

    def call_through(self, arguments: Mapping[str, Any] | None) -> CalledThrough | str:
        """The call that the second meta-tool passes on; a text for the model where it names no tool.

        A meta-tool is not called so. Whether there is such a tool is for the caller.
        """
        shape = self._shape
        name = None if arguments is None else arguments.get(shape.call_name)
        if arguments is None or not isinstance(name, str) or not name.strip() or name in self.meta_tools:
            what = "is a meta-tool" if isinstance(name, str) and name in self.meta_tools else "is missing"
            usage = f'{{"{shape.call_name}": NAME, "{shape.call_arguments}": {{…}}}}'
            return json.dumps({"error": f"The name of a tool {what}. Call {shape.call.name} with {usage}."})
        value = arguments.get(shape.call_arguments)
        value = {} if value is None else value
        return CalledThrough(name.strip(), value if isinstance(value, Mapping) else None)

    def find_query(self, tool_id: str) -> str | None:
        """A text that finds a tool: its name, its description, or all its words; `None` if none of these does.

        A tool without such a text counts as out of reach (rule E5).
        """
        if tool_id not in self.searched_ids:
            return None
        tool = self._tools[tool_id]
        texts: tuple[str, ...]
        if self._shape.takes_groups:
            texts = (self._name(tool), tool.plugin or OTHER)
        elif self.settings.rank.kind is RankKind.REGEX:
            texts = tuple(f"^{re.escape(text)}" for text in (tool.name, tool.description[:_PATTERN_CHARS]))
        elif self.settings.rank.kind is RankKind.EMBEDDING:  # only this has a vector already
            texts = (join_fields(tool.name, tool.description, tool.parameters),)
        else:
            texts = (self._name(tool), tool.description, join_fields(tool.name, tool.description, tool.parameters))
        return next((text for text in texts if text.strip() and self._finds(text, tool_id)), None)

    def _finds(self, text: str, tool_id: str) -> bool:
        try:
            return tool_id in self.find(text)
        except QueryError:
            return False
