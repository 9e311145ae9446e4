"""Tools that a search finds, by a meta-tool or by the user's words (rule S1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from toolbelt.catalog import Tool
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Message, Reply, ToolUse
from toolbelt.evals.offers import Offer, Offered
from toolbelt.evals.toolsets.spec import ToolsetSpec
from toolbelt.evals.toolsets.toolset import FoundTools, ToolsetContext
from toolbelt.evals.toolsets.universe import OFFERS_KEPT, Universe, free_id
from toolbelt.search.pinned import find_pinned
from toolbelt.search.presets import parse_search
from toolbelt.search.search import Found, Search, SearchAnswer, make_meta_tools
from toolbelt.search.settings import Reveal, Trigger
from toolbelt.tiers import own_meta_tools
from toolbelt.toolkits.directive import message_text

Searches = list[tuple[str, ...]]
CaseTools = tuple[str, ...] | None


class SearchToolset:
    """The meta-tools, what is pinned, and what was found.

    What was found is read off the conversation, so it ends with it. Meta-tools that are the catalog's own, which load
    in another way, are neither shown nor found.

    Args:
        spec: With the settings as its name.
        context: What it is made from.

    Raises:
        NotFoundError: no such preset, or no such loadout to be pinned.
        ToolbeltError: the loadout cannot be used; the ranker cannot.
    """

    def __init__(self, spec: ToolsetSpec, context: ToolsetContext) -> None:
        self.name, self.is_fixed = str(spec), False
        catalog = context.catalog
        settings = parse_search(spec.name)
        self.settings = settings
        own = own_meta_tools(catalog)
        taken = {tool.id for tool in catalog.tools}
        extras = {tool.name: replace(tool, id=free_id(tool.id, taken)) for tool in make_meta_tools(settings)}
        self._meta_ids = tuple(tool.id for tool in extras.values())
        self._renderer = context.renderer(extras)
        self._members = Universe(catalog).members - own.keys()
        self._whole = Search(
            catalog,
            settings,
            context.open_ranker(settings.rank),
            pinned=[tool_id for tool_id in find_pinned(settings, catalog, context.registry) if tool_id not in own],
            ids=self._members,
            as_shown=self._as_shown,
            names=self._renderer.wire_names,
        )
        self._whole.prepare()
        self._cut: Callable[[tuple[str, ...]], Search] = lru_cache(OFFERS_KEPT)(
            lambda offered: self._whole.within(offered, self._renderer.within(offered).wire_names)
        )
        self._meta: Callable[[CaseTools], tuple[Offered, ...]] = lru_cache(OFFERS_KEPT)(self._make_meta)
        self._make: Callable[[CaseTools, Found], Offer] = lru_cache(OFFERS_KEPT)(self._make_offer)
        self._is_found: Callable[[CaseTools, str], bool] = lru_cache(OFFERS_KEPT)(self._can_be_found)
        self._asked: Callable[[CaseTools, str, Found, bool], SearchAnswer] = lru_cache(OFFERS_KEPT)(self._ask)

    def offer(self, case: Case, conversation: Conversation) -> Offer:
        """The meta-tools, the pinned tools, and what was found."""
        return self._make(case.offered, self._replay(case, conversation)[0])

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """What a search found; what is wrong with a call through that names no tool; `None` for every other call."""
        found, _ = self._replay(case, conversation)
        return self._play(case, calls, found)[0]

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> None:
        """Always `None`: the offer does not wait for the next turn."""

    def found(self, case: Case, conversation: Conversation) -> FoundTools:
        """What each search of the conversation found."""
        _, searches = self._replay(case, conversation)
        is_revealed = self.settings.reveal is Reveal.CALL
        return FoundTools(searches, frozenset().union(*searches) if is_revealed else frozenset())

    def passed_on(self, case: Case, call: ToolUse) -> ToolUse | None:
        """The call that a call-through tool passes on; `None` for any other call."""
        search = self._search(case.offered)
        passed_on = search.call_through(call.arguments) if call.name == search.call_name else ""
        if isinstance(passed_on, str):
            return None
        text = "" if passed_on.arguments is None else json.dumps(dict(passed_on.arguments), ensure_ascii=False)
        return ToolUse(call.id, passed_on.name, text, passed_on.arguments)

    def reach(self, case: Case) -> frozenset[str]:
        """The pinned tools and those that can be found.

        Where a model searches, that is every tool; but a right one only if some text about it finds it
        (`Search.find_query`). The others are not looked at, as each takes a search.
        """
        search = self._search(case.offered)
        if self.settings.trigger is Trigger.REQUEST:
            return frozenset((*search.pinned, *self._retrieve(case, case.messages)))
        unknown = {tool_id for tool_id in case.right_ids if not self._is_found(case.offered, tool_id)}
        return search.searched_ids - unknown | frozenset(search.pinned)

    def find_query(self, case: Case, tool_id: str) -> str | None:
        """A text that finds a tool among those of a case; `None` if none does."""
        return self._search(case.offered).find_query(tool_id)

    def _as_shown(self, tool: Tool) -> Tool:
        """A tool as a variant shows it."""
        function = self._renderer.offered(tool.id).definition["function"]
        return replace(tool, description=function["description"], parameters=function["parameters"])

    def _search(self, offered: CaseTools) -> Search:
        return self._whole if offered is None else self._cut(offered)

    def _can_be_found(self, offered: CaseTools, tool_id: str) -> bool:
        return self._search(offered).find_query(tool_id) is not None

    def _make_meta(self, offered: CaseTools) -> tuple[Offered, ...]:
        """The meta-tools; their description may list what a case has."""
        search = self._search(offered)
        shown = zip(map(self._renderer.offered, self._meta_ids), search.meta_tools.values(), strict=True)
        return tuple(
            each if each.tool.description == tool.description else self._renderer.redescribed(each, tool.description)
            for each, tool in shown
        )

    def _make_offer(self, offered: CaseTools, found: Found) -> Offer:
        tools = map(self._renderer.within(offered).offered, self._search(offered).shown(found))
        return Offer((*self._meta(offered), *tools))

    def _retrieve(self, case: Case, messages: Sequence[Message]) -> tuple[str, ...]:
        return self._search(case.offered).find(last_user_text(messages))

    def _replay(self, case: Case, conversation: Conversation) -> tuple[Found, tuple[tuple[str, ...], ...]]:
        """What is found now, and what each search found."""
        if self.settings.trigger is Trigger.REQUEST:
            hits = self._retrieve(case, conversation.opening)
            return hits, (hits,)
        found: Found = ()
        searches: Searches = []
        for exchange in conversation.exchanges:
            _, found, more = self._play(case, exchange.reply.calls, found)
            searches += more
        return found, tuple(searches)

    def _play(
        self, case: Case, calls: Sequence[ToolUse], found: Found
    ) -> tuple[tuple[str | None, ...], Found, Searches]:
        search = self._search(case.offered)
        answers: list[str | None] = []
        searches: Searches = []
        for call in calls:
            if call.name == search.search_name:
                answer = self._asked(case.offered, call.text, found, not searches)
                answers.append(answer.text)
                searches.append(answer.hits)
                found = answer.found
            elif call.name == search.call_name:
                passed_on = search.call_through(call.arguments)
                answers.append(passed_on if isinstance(passed_on, str) else None)
            else:
                answers.append(None)
        return tuple(answers), found, searches

    def _ask(self, offered: CaseTools, text: str, found: Found, begins: bool) -> SearchAnswer:
        return self._search(offered).answer(ToolUse.from_text("", "", text).arguments, found, begins=begins)


def last_user_text(messages: Sequence[Message]) -> str:
    """What the user wrote last; empty for nothing."""
    return next((message_text(message) for message in reversed(messages) if message.get("role") == "user"), "")
