"""Tools that the vendor's own search finds, within a request (rule S1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Self

from toolbelt.catalog import Tool
from toolbelt.catalog.definitions import assign_wire_names
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer, Offered, ToolRenderer
from toolbelt.evals.toolsets.search import CaseTools, last_user_text
from toolbelt.evals.toolsets.spec import ToolsetSpec
from toolbelt.evals.toolsets.toolset import FoundTools, NoSearch, ToolsetContext
from toolbelt.evals.toolsets.universe import OFFERS_KEPT, Universe, free_id
from toolbelt.providers.hosted_search import SEARCH_TOOLS, SearchMethod
from toolbelt.search.pinned import find_pinned
from toolbelt.search.presets import parse_search
from toolbelt.search.search import OTHER, Search
from toolbelt.tiers import own_meta_tools

PLAYED = "trigger=request"
"""The search that stands in for the vendor's where nobody is asked: plain `search`, by the user's words."""


class HostedSearch(NoSearch):
    """The core tools, and all others deferred: the model is shown those that the vendor's search finds.

    What it found is read off the vendor's form of the replies. Tools that were found are shown, and counted, from the
    reply on. Meta-tools that are the catalog's own, which load in another way, are neither shown nor found.

    Attributes:
        is_played: Whether nobody is asked, as in an estimate.

    Args:
        spec: With the method as its name; without one, it is the first of the model's API.
        context: What it is made from.

    Raises:
        ToolbeltError: the arm's model has no such search.
    """

    def __init__(self, spec: ToolsetSpec, context: ToolsetContext) -> None:
        if context.choose_search is None:
            raise ToolbeltError(f"Toolset {str(spec)!r} needs a model, whose vendor searches.")
        self.name = str(spec)
        self._method = context.choose_search(spec.name)
        catalog, own, settings = context.catalog, own_meta_tools(context.catalog), parse_search(PLAYED)
        self._definition = SEARCH_TOOLS[self._method]
        name = self._definition.get("name", self._definition["type"])
        tool = Tool(name, id=free_id(name, {tool.id for tool in catalog.tools}))
        self._id = tool.id
        self._renderer = context.renderer({name: tool})
        self._whole = Search(
            catalog,
            settings,
            context.open_ranker(settings.rank),
            pinned=[tool_id for tool_id in find_pinned(settings, catalog, context.registry) if tool_id not in own],
            ids=Universe(catalog).members - own.keys(),
        )
        self.is_played = False
        self._first: Callable[[CaseTools], Offer] = lru_cache(OFFERS_KEPT)(self._make_first)
        self._search: Callable[[CaseTools], Search] = lru_cache(OFFERS_KEPT)(self._make_search)
        self._make: Callable[[CaseTools, tuple[str, ...]], Offer] = lru_cache(OFFERS_KEPT)(
            lambda offered, names: self._first(offered).expanded(names)
        )

    def played(self) -> Self:
        """The same where nobody is asked: five tools are found by the user's words, or the group of the first."""
        other = copy(self)
        other.is_played = True
        return other

    def offer(self, case: Case, conversation: Conversation) -> Offer:
        """The core tools and what was found; beyond these, the search and all that it may find."""
        searches = [search for exchange in conversation.exchanges for search in exchange.reply.searches]
        names = dict.fromkeys(chain.from_iterable(searches))
        return self._make(case.offered, (*names, *(self._play(case) if self.is_played else ())))

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[None, ...]:  # noqa: ARG002
        """Always `None`: the vendor answers its search itself."""
        return (None,) * len(calls)

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> None:
        """Always `None`: the offer does not wait for the next turn."""

    def reach(self, case: Case) -> frozenset[str]:
        """The core tools and all that are deferred: what the vendor's search would find is not known beforehand."""
        search = self._search(case.offered)
        return search.searched_ids | frozenset(search.pinned)

    def found(self, case: Case, conversation: Conversation) -> FoundTools:
        """What each search of the conversation found."""
        find_id = self._renderer.within(case.offered).find_id
        searches = tuple(
            tuple(tool_id for name in names if (tool_id := find_id(name)) is not None)
            for exchange in conversation.exchanges
            for names in exchange.reply.searches
        )
        return FoundTools(searches, frozenset(chain.from_iterable(searches)))

    def _make_search(self, offered: CaseTools) -> Search:
        return self._whole if offered is None else self._whole.within(offered)

    def _make_first(self, offered: CaseTools) -> Offer:
        renderer, search = self._renderer.within(offered), self._search(offered)
        pinned = tuple(map(renderer.offered, search.pinned))
        if not search.searched:
            return Offer(pinned)
        deferred = [
            replace(each, definition={**each.definition, "defer_loading": True})
            for each in (renderer.offered(tool.id) for tool in search.searched)
        ]
        listing = ""
        if self._method is SearchMethod.NAMESPACES:
            deferred, listing = _group(deferred, search, renderer)
        elif self._method is SearchMethod.FUNCTIONS:
            listing = "\n".join(f"{each.name}: {each.definition['function']['description']}" for each in deferred)
        searching = replace(renderer.offered(self._id), definition=self._definition)
        return Offer(
            pinned, Offer((searching, *pinned, *deferred)), listed_tokens=renderer.count_text(listing) if listing else 0
        )

    def _play(self, case: Case) -> tuple[str, ...]:
        search = self._search(case.offered)
        ids = search.find(last_user_text(case.messages))
        if ids and self._method is SearchMethod.NAMESPACES:
            groups = (tools for tools in search.groups.values() if any(tool.id == ids[0] for tool in tools))
            ids = tuple(tool.id for tools in groups for tool in tools)
        return tuple(self._renderer.within(case.offered).offered(tool_id).name for tool_id in ids)


def _group(deferred: list[Offered], search: Search, renderer: ToolRenderer) -> tuple[list[Offered], str]:
    """The tools in namespaces, one for each plugin, and what the model is shown of these."""
    groups = [Tool(name, search.describe_group(name)) for name in search.groups]
    names = assign_wire_names(groups, renderer.names)
    spaces = {group.name: {"name": names[group.id], "description": group.description} for group in groups}
    grouped = [
        replace(each, definition={**each.definition, "namespace": spaces[each.tool.plugin or OTHER]})
        for each in deferred
    ]
    return grouped, "\n".join(f"{space['name']}: {space['description']}" for space in spaces.values())
