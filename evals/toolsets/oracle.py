"""Right tools and a number of wrong ones: what remains for the model after a perfect selection (rule E1)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer
from toolbelt.evals.toolsets.distractors import Distractors, NearDistractors, RandomDistractors, SeededDraw, take
from toolbelt.evals.toolsets.fixed import OwnMetaCalls
from toolbelt.evals.toolsets.spec import ToolsetSpec
from toolbelt.evals.toolsets.toolset import NoSearch, ToolsetContext
from toolbelt.evals.toolsets.universe import OFFERS_KEPT, Universe
from toolbelt.text import plural
from toolbelt.tiers import own_meta_tools


class Oracle(NoSearch):
    """Shows the tools of the expected answer, the first where several would do, and distractors.

    A distractor is never a tool that is right in any accepted answer or allowed beside one, nor a meta-tool. More of
    them add to what fewer show. Where nothing is to be called, distractors alone are shown; where any call will do,
    one more tool is drawn to stand for the right one. The order is by chance, and says nothing.

    Args:
        spec: How many distractors, and which; a case whose universe has fewer shows all of them.
        context: What it is made from.
    """

    is_fixed = True

    def __init__(self, spec: ToolsetSpec, context: ToolsetContext) -> None:
        self.name = str(spec)
        self._count = spec.distractors
        self._seed = context.seed
        self._renderer = context.renderer({})
        self._universe = Universe(context.catalog)
        self._meta_calls = OwnMetaCalls(context.catalog, self._renderer)
        self._distractors: Distractors = NearDistractors(context.catalog) if spec.near else RandomDistractors()
        self._offers: OrderedDict[int, tuple[Case, Offer]] = OrderedDict()

    def offer(self, case: Case, conversation: Conversation) -> Offer:  # noqa: ARG002  the protocol's
        """The case's tools, the same at every request."""
        return self._offer(case)

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:  # noqa: ARG002
        """Answers to meta-tools that are the catalog's own; `None` for every other call."""
        return self._meta_calls.answer(self._offer(case), calls)

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> None:
        """Always `None`: the offer does not wait for the next turn."""

    def reach(self, case: Case) -> frozenset[str]:
        """Ids of the tools that are shown."""
        return self._offer(case).ids

    def _offer(self, case: Case) -> Offer:
        # By identity: a case cannot be hashed, and one kept here cannot lose its id to another.
        if (cached := self._offers.get(id(case))) is None:
            cached = self._offers[id(case)] = (case, self._renderer.within(case.offered).offer(self._choose(case)))
            if len(self._offers) > OFFERS_KEPT:
                self._offers.popitem(last=False)
        return cached[1]

    def _choose(self, case: Case) -> list[str]:
        draw, universe = SeededDraw(self._seed, case.id), self._universe.of(case)
        members = self._universe.members if case.offered is None else frozenset(universe)
        right = list(_right_ids(case, members))
        barred = self._meta_calls.ids | case.right_ids
        if case.expected is None:
            right += take(1, draw.shuffled(universe), barred | case.forbidden)
        shown = [*right]
        if self._count:
            candidates = self._distractors.candidates(case, _right_ids(case, members), universe, draw)
            shown += take(self._count, iter(candidates), barred.union(right))
        return draw.ordered(shown)


class TooFewDistractorsError(ToolbeltError):
    """There are fewer wrong tools than an `oracle+N` shows.

    Attributes:
        refused: The toolsets that show more than there are.
    """

    def __init__(self, refused: tuple[ToolsetSpec, ...], message: str) -> None:
        self.refused = refused
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.refused, str(self))


def count_reached(catalog: Catalog, specs: Iterable[ToolsetSpec], cases: Iterable[Case]) -> dict[str, int]:
    """In how many of the cases each `oracle+N` shows N distractors, by its name (rule E1).

    Args:
        catalog: What distractors are drawn from.
        specs: Toolsets; those that show no distractors are not counted.
        cases: Read once, and only if one is counted.

    Raises:
        TooFewDistractorsError: the catalog has fewer for one of the cases, or what each case is offered has, with the
            most that there are.
    """
    reached = {spec: 0 for spec in specs if spec.distractors}
    if not reached:
        return {}
    universe, meta_ids = Universe(catalog), frozenset(own_meta_tools(catalog))
    of_catalog, most = len(universe.ids), 0
    for case in cases:
        whole = shown = _count_distractors(case, universe.members, meta_ids)
        if case.offered is not None:
            shown = _count_distractors(case, universe.members.intersection(case.offered), meta_ids)
        of_catalog, most = min(of_catalog, whole), max(most, shown)
        for spec in reached:
            reached[spec] += shown >= spec.distractors
    possible = min(of_catalog, most)
    if refused := tuple(spec for spec in reached if spec.distractors > possible):
        where = f"catalog {catalog.name!r} has" if of_catalog <= most else "what any of these cases is offered has"
        raise TooFewDistractorsError(
            refused,
            f"{where[0].upper()}{where[1:]} at most {plural(possible, 'distractor')} for each case, too few for "
            f"{', '.join(repr(str(spec)) for spec in refused)}. "
            f"The largest is 'oracle{f'+{possible}' if possible else ''}'.",
        )
    return {str(spec): count for spec, count in reached.items()}


def _count_distractors(case: Case, members: AbstractSet[str], meta_ids: AbstractSet[str]) -> int:
    """How many of these tools `Oracle` could show beside the right ones."""
    barred = meta_ids | case.right_ids
    count = len(members) - len(members & barred)
    has_stand_in = case.expected is None and not members <= barred | case.forbidden
    return count - has_stand_in


def _right_ids(case: Case, members: Collection[str]) -> tuple[str, ...]:
    """Of each call of the expected answer the first tool that is there, each once."""
    firsts = (next((tool for tool in call.tools if tool in members), None) for call in case.expected or ())
    return tuple(dict.fromkeys(tool for tool in firsts if tool is not None))
