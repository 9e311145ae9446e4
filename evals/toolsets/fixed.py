"""Toolsets that show one list of tools, whatever the conversation: `full` and `loadout`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from toolbelt.catalog import Catalog
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.evals.toolsets.spec import ToolsetSpec
from toolbelt.evals.toolsets.toolset import NoSearch, ToolsetContext
from toolbelt.evals.toolsets.universe import CutOffers, Universe
from toolbelt.loadouts import Resolution
from toolbelt.patterns import fold
from toolbelt.tiers import Tiers, own_meta_tools


class OwnMetaCalls:
    """Answers `browse_tools` and `load_tools` of a catalog that brings them along, by what is shown already.

    Such a call is no selection (rule E4), and whatever the model asks for has been loaded.

    Attributes:
        ids: Of the catalog's meta-tools; mostly there are none.
    """

    def __init__(self, catalog: Catalog, renderer: ToolRenderer) -> None:
        self._catalog = catalog
        self._renderer = renderer
        self._roles = own_meta_tools(catalog)
        self.ids = frozenset(self._roles)

    def answer(self, offer: Offer, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """One answer a call; `None` for one that is of no meta-tool, or of one that is not offered."""
        if not self.ids & offer.ids:
            return (None,) * len(calls)
        return tuple(self._answer_one(offer, call) for call in calls)

    def _answer_one(self, offer: Offer, call: ToolUse) -> str | None:
        offered = offer.by_name.get(call.name)
        tool_id = self._renderer.find_id(call.name) if offered is None else offered.tool.id
        if tool_id not in self._roles or tool_id not in offer.ids:
            return None
        tiers = self._tiers.within(offer.ids)
        answer, _ = tiers.call(self._roles[tool_id], call.arguments, tiers.categories)
        return json.dumps(answer, ensure_ascii=False)

    @cached_property
    def _tiers(self) -> Tiers:
        return Tiers(self._catalog)


class FixedToolset(NoSearch):
    """Shows the tools chosen for the case, whatever the conversation is.

    Args:
        name: As on the command line.
        context: What it is made from.
        renderer: The tools as they are shown.
        choose: The tools for a case.
    """

    is_fixed = True

    def __init__(
        self, name: str, context: ToolsetContext, renderer: ToolRenderer, choose: Callable[[Case], CutOffers]
    ) -> None:
        self.name = name
        self._choose = choose
        self._meta_calls = OwnMetaCalls(context.catalog, renderer)

    def offer(self, case: Case, conversation: Conversation) -> Offer:  # noqa: ARG002  the protocol's
        """What is chosen for the case, cut to its universe."""
        return self._choose(case).of(case)

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """Answers to meta-tools that are the catalog's own; `None` for every other call."""
        return self._meta_calls.answer(self.offer(case, conversation), calls)

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> None:
        """Always `None`: the offer does not wait for the next turn."""

    def reach(self, case: Case) -> frozenset[str]:
        """Ids of the tools that are shown."""
        return self._choose(case).of(case).ids


def make_full(spec: ToolsetSpec, context: ToolsetContext) -> FixedToolset:
    """The whole catalog."""
    renderer, universe = context.renderer({}), Universe(context.catalog)
    offers = CutOffers(universe.ids, universe, renderer)
    return FixedToolset(str(spec), context, renderer, lambda _: offers)


def make_loadout(spec: ToolsetSpec, context: ToolsetContext) -> FixedToolset:
    """What one loadout makes active, what `auto` chooses for the arm's model (rule L15), or what each case's role has.

    Raises:
        NotFoundError: no such loadout.
        ToolbeltError: it matches nothing of the catalog, its parents are not in order, or nothing can be chosen.
    """
    if spec.is_by_role:
        return _make_by_role(spec, context)
    renderer, universe = context.renderer({}), Universe(context.catalog)
    resolution = _resolve_auto(context) if spec.is_auto else context.registry.resolve(spec.name, context.catalog)
    offers = CutOffers(_active_ids(resolution), universe, renderer)
    return FixedToolset(str(spec), context, renderer, lambda _: offers)


def _make_by_role(spec: ToolsetSpec, context: ToolsetContext) -> FixedToolset:
    """What the loadout makes active that is the case's own role; the whole catalog for a case without one.

    Raises:
        NotFoundError: a role that is no loadout.
        ToolbeltError: a role matches nothing of the catalog, or no case has one.
    """
    if not context.roles:
        raise ToolbeltError(
            "Toolset 'loadout' gives each case the loadout of its own role, and no case has one. "
            "For one loadout for all cases write 'loadout:NAME'."
        )
    renderer, universe = context.renderer({}), Universe(context.catalog)
    known = [loadout.name for loadout in context.registry.get_all()]
    by_role: dict[str, CutOffers] = {}
    for role in sorted(context.roles):
        if context.registry.get_loadout(role) is None:
            raise NotFoundError("loadout", role, known, "It is the role of a case.")
        by_role[fold(role)] = CutOffers(
            _active_ids(context.registry.resolve(role, context.catalog)), universe, renderer
        )
    whole = CutOffers(universe.ids, universe, renderer)
    return FixedToolset(str(spec), context, renderer, lambda case: _of_role(case, by_role, whole, known))


def _of_role(case: Case, by_role: Mapping[str, CutOffers], whole: CutOffers, known: Sequence[str]) -> CutOffers:
    if case.role is None:
        return whole
    if (offers := by_role.get(fold(case.role))) is None:
        raise NotFoundError("loadout", case.role, known, f"It is the role of case {case.id!r}.")
    return offers


def _resolve_auto(context: ToolsetContext) -> Resolution:
    if context.resolve_auto is None:
        raise ToolbeltError("Toolset 'loadout:auto' needs a model, by whose context window it chooses.")
    return context.resolve_auto()


def _active_ids(resolution: Resolution) -> tuple[str, ...]:
    if resolution.broken is not None:
        raise ToolbeltError(f"Loadout {resolution.loadout!r} cannot be used: {resolution.broken}.")
    if not resolution.active_tools:
        raise ToolbeltError(
            f"Loadout {resolution.loadout!r} matches nothing of catalog {resolution.catalog.name!r}: "
            "no tool would ever be shown."
        )
    return tuple(tool.id for tool in resolution.active_tools)
