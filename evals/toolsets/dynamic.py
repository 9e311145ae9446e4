"""Toolkits that the model loads and unloads itself, from the next turn on (rules D2 to D6)."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from toolbelt.agents.over_catalog import expand_agent
from toolbelt.catalog import Catalog, Tool
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer
from toolbelt.evals.toolsets.agents import find_agent, has_tools, match_agent
from toolbelt.evals.toolsets.spec import ToolsetSpec
from toolbelt.evals.toolsets.toolset import GO_AHEAD, GoAhead, NoSearch, ToolsetContext
from toolbelt.evals.toolsets.universe import OFFERS_KEPT, Universe, free_id
from toolbelt.patterns import fold
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import Expansion
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.meta_tools import META_TOOLS, MetaToolAnswer, answer_text
from toolbelt.sessions.store import LoadedToolkits
from toolbelt.tiers import Tiers, own_meta_tools
from toolbelt.toolkits.toolkit import RESERVED, MetaRole, Toolkit

Offered = tuple[str, ...] | None
Names = Mapping[str, str]
Cut = Callable[[Offered, Names], DynamicToolkits]
"""Makes the toolkits that there are in the universe of a case, of keys of tools; given the wire name of each key."""


@dataclass(frozen=True, eq=False)
class _Kit:
    toolkits: DynamicToolkits
    reach: frozenset[str]


class Dynamic(NoSearch):
    """The three meta-tools, the static tools, and the toolkits loaded when the turn began, in allowed order.

    The tools are those of `DynamicToolkits.shown_tools`, as for sessions and the command line. The meta-tools stand
    first: they and the static tools never move, whatever is loaded, so that this much of a cached prefix stays valid.
    What is loaded is read off the conversation, and a turn ends where the user says something: a change made within a
    turn is in the answers at once, and in what is offered with the next turn (rule D4). A catalog's own meta-tools,
    which load in another way, are not shown. As with every toolset, nothing is added to the messages: what an agent's
    prompt may say of toolkits (rule D8) is neither shown nor counted.

    Args:
        name: As on the command line.
        context: What it is made from.
        cut: Makes the toolkits.
        keys: What a tool goes by among the toolkits, by its id, where that is not the id; empty for none.
        loads: Whether there is any toolkit to load, and so the meta-tools.

    Attributes:
        loads: Whether there are meta-tools.
        unmatched: What the configuration names that is not in the catalog, each in a sentence.
    """

    def __init__(self, name: str, context: ToolsetContext, cut: Cut, keys: Mapping[str, str], *, loads: bool) -> None:
        self.name = name
        catalog = context.catalog
        self.loads, self.is_fixed = loads, not loads
        extras = _meta_tools(catalog) if self.loads else {}
        self._renderer = context.renderer(extras)
        self._roles = {role.value: role for role in MetaRole} if self.loads else {}
        self._ids = {key: tool_id for tool_id, key in keys.items()}
        self._meta_ids = tuple(tool.id for tool in extras.values())
        whole = {keys.get(tool.id, tool.id): self._renderer.wire_names[tool.id] for tool in catalog.tools}

        def make_kit(offered: Offered) -> _Kit:
            names = self._renderer.within(offered).wire_names
            here = {keys.get(tool_id, tool_id): names[tool_id] for tool_id in offered or () if tool_id in names}
            toolkits = cut(offered, ChainMap(here, whole))
            return _Kit(toolkits, frozenset(self._ids.get(key, key) for key in toolkits.reachable_keys()))

        self._whole = make_kit(None)
        self.unmatched = tuple(self._whole.toolkits.find_unmatched(self._whole.toolkits.toolkits))
        self._cut: Callable[[tuple[str, ...]], _Kit] = lru_cache(OFFERS_KEPT)(make_kit)
        self._make: Callable[[Offered, LoadedToolkits], Offer] = lru_cache(OFFERS_KEPT)(self._make_offer)
        self._first = self._make_offer(None, self._whole.toolkits.initial)

    def offer(self, case: Case, conversation: Conversation) -> Offer:
        """The meta-tools, then what was loaded when the turn began (rule D6)."""
        loaded, _ = self._replay(case, conversation)
        if case.offered is None and loaded == self._whole.toolkits.initial:
            return self._first
        return self._make(case.offered, loaded)

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """Answers to the three meta-tools; `None` for every other call."""
        _, loaded = self._replay(case, conversation)
        answers, _ = self._play(self._kit(case).toolkits, calls, loaded)
        return tuple(None if answer is None else answer_text(answer) for answer in answers)

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> GoAhead | None:  # noqa: ARG002
        """`GO_AHEAD` where the next turn has something else loaded than this one; else the trial is over."""
        loaded, after = self._replay(case, conversation)
        return None if after == loaded else GO_AHEAD

    def reach(self, case: Case) -> frozenset[str]:
        """Of the case's universe, the static tools and those of all allowed toolkits (rule E5)."""
        return self._kit(case).reach

    def _kit(self, case: Case) -> _Kit:
        return self._whole if case.offered is None else self._cut(case.offered)

    def _make_offer(self, offered: Offered, loaded: LoadedToolkits) -> Offer:
        kit = self._whole if offered is None else self._cut(offered)
        # A case's universe may leave nothing to load; the agent has its meta-tools all the same.
        keys = [tool.key for tool in kit.toolkits.shown_tools(loaded) if not tool.is_meta]
        return self._renderer.within(offered).offer((*self._meta_ids, *(self._ids.get(key, key) for key in keys)))

    def _replay(self, case: Case, conversation: Conversation) -> tuple[LoadedToolkits, LoadedToolkits]:
        """What was loaded when the turn under way began, and what would be if the next began now."""
        toolkits = self._kit(case).toolkits
        loaded = after = toolkits.restore(None).loaded
        for exchange in conversation.exchanges:
            _, after = self._play(toolkits, exchange.reply.calls, after)
            if exchange.follow_up:
                loaded = after = toolkits.restore(after).loaded
        return loaded, after

    def _play(
        self, toolkits: DynamicToolkits, calls: Sequence[ToolUse], loaded: LoadedToolkits
    ) -> tuple[list[MetaToolAnswer | None], LoadedToolkits]:
        answers: list[MetaToolAnswer | None] = []
        for call in calls:
            if (role := self._roles.get(call.name)) is None:
                answers.append(None)
                continue
            answer, loaded = toolkits.call(role, call.arguments, loaded)
            answers.append(answer)
        return answers, loaded


def make_dynamic(spec: ToolsetSpec, context: ToolsetContext) -> Dynamic:
    """The toolkits of one of the project's agents, or, where none is named, the catalog's categories as toolkits."""
    return _make_agent(spec, context) if spec.agent else _make_categories(spec, context)


def _make_categories(spec: ToolsetSpec, context: ToolsetContext) -> Dynamic:
    """Each category of the catalog is a toolkit, all allowed and none loaded; its core tools are always there.

    Raises:
        ToolbeltError: a category has a reserved name.
    """
    own = own_meta_tools(context.catalog)
    members = Universe(context.catalog).members
    tiers = Tiers(context.catalog)
    keys = _keys(context.catalog)
    if reserved := [tier.name for tier in tiers.tiers if fold(tier.name) in RESERVED]:
        raise ToolbeltError(
            f"Toolset 'dynamic' makes a toolkit of each category, and none may be called {reserved[0]!r}, which is a "
            f"name of its own; give the category of catalog {context.catalog.name!r} another one."
        )

    def cut(offered: Offered, names: Names) -> DynamicToolkits:
        here = tiers if offered is None else tiers.within(offered)
        static = _of_keys((tool_id for tool_id in here.core if tool_id in members and tool_id not in own), keys)
        toolkits = [
            Toolkit(tier.name, member_tools=_of_keys(tier.tool_ids, keys), description=tier.description)
            for tier in here.tiers
        ]
        agent = AgentSpec("dynamic", static, tuple(toolkit.key for toolkit in toolkits))
        return DynamicToolkits(agent, toolkits, Expansion(find_wire_name=names.__getitem__))

    return Dynamic(str(spec), context, cut, keys, loads=bool(tiers.tiers))


def _make_agent(spec: ToolsetSpec, context: ToolsetContext) -> Dynamic:
    """The tools and toolkits of one agent of the project, over the catalog; overrides change no definition.

    Raises:
        NotFoundError: no such agent.
        ToolbeltError: nothing that it names is in the catalog, or its toolkits cannot be used.
    """
    agent = find_agent(spec.agent, context.agents)
    matched = match_agent(agent, context.toolkits, context.catalog)
    expansion, off = expand_agent(agent, context.toolkits, context.catalog)

    def cut(offered: Offered, names: Names) -> DynamicToolkits:
        over = replace(expansion, find_wire_name=lambda key: names.get(key, key))
        if offered is None:
            return DynamicToolkits(agent, context.toolkits, over, off)
        universe = frozenset(offered)
        over = replace(over, find=lambda entry: tuple(filter(universe.__contains__, expansion.find(entry))))
        remaining = [
            toolkit
            for toolkit in context.toolkits
            if toolkit.key not in agent.allowed_toolkits or any(map(over.find, toolkit.member_tools))
        ]
        switched = replace(off, on_tools=tuple(filter(universe.__contains__, off.on_tools)))
        return DynamicToolkits(_allowed(agent, remaining), remaining, over, switched)

    dynamic = Dynamic(str(spec), context, cut, {}, loads=bool(agent.allowed_toolkits))
    dynamic.unmatched += tuple(match.message for match in matched.values() if match.candidates)
    if not has_tools(matched):
        raise ToolbeltError(
            f"Agent {agent.name!r} matches nothing of catalog {context.catalog.name!r}: no tool would ever be shown."
        )
    return dynamic


def _allowed(agent: AgentSpec, toolkits: Iterable[Toolkit]) -> AgentSpec:
    keys = {toolkit.key for toolkit in toolkits}
    return replace(
        agent,
        allowed_toolkits=tuple(key for key in agent.allowed_toolkits if key in keys),
        initial_toolkits=tuple(key for key in agent.initial_toolkits if key in keys),
    )


def _meta_tools(catalog: Catalog) -> dict[str, Tool]:
    """The three by the wire names they must have, with ids that no tool of the catalog has."""
    taken = {tool.id for tool in catalog.tools}
    return {role.value: replace(tool, id=free_id(tool.id, taken)) for role, tool in META_TOOLS.items()}


def _keys(catalog: Catalog) -> dict[str, str]:
    """By id, what the tools go by whose id is a name of the meta-tools, which no toolkit may hold (rule D1).

    A model never sees it: it is shown wire names, and those are kept apart.
    """
    taken = {tool.id for tool in catalog.tools}
    return {tool_id: free_id(tool_id, taken) for tool_id in sorted(taken) if fold(tool_id) in RESERVED}


def _of_keys(tool_ids: Iterable[str], keys: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(keys.get(tool_id, tool_id) for tool_id in tool_ids)
