"""A toolset with its order, its length or its company changed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer, Offered, ToolRenderer
from toolbelt.evals.toolsets.context import ToolsetContext
from toolbelt.evals.toolsets.distractors import Distractors, NearDistractors, RandomDistractors, take
from toolbelt.evals.toolsets.drawing import SeededDraw
from toolbelt.evals.toolsets.toolset import GoAhead, Toolset
from toolbelt.evals.toolsets.universe import OFFERS_KEPT, Universe
from toolbelt.evals.toolsets.variants.filler import Filler
from toolbelt.evals.toolsets.variants.variant import Variant
from toolbelt.tiers import own_meta_tools

_Key = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """How far a variant could not be had, over some cases.

    Attributes:
        tried: Cases looked at.
        longer: Of these, how many show definitions that are longer than they were to be padded to.
        lacking: Of these, how many have fewer distractors than were wanted.
        fewest: Distractors that the worst of them has.
    """

    tried: int = 0
    longer: int = 0
    lacking: int = 0
    fewest: int = 0


def vary(base: Toolset, variant: Variant, context: ToolsetContext, renderer: ToolRenderer) -> Toolset:
    """The toolset with what a variant changes about what is shown; names and descriptions are the shelf's matter.

    Args:
        base: What is changed.
        variant: How.
        ground: What `base` was made from.
        shelf: Where its tools are from.
    """
    if not (variant.shuffled or variant.padded or variant.distractors):
        return base
    return Varied(base, variant, context, renderer)


class Varied:
    """Shows what another toolset shows, in another order, at another length, or among more tools.

    What is shown first is padded and gets the distractors. What comes in the course of a conversation stands where the
    toolset puts it; if the order is shuffled, behind what was shown before, each batch shuffled for itself.
    """

    def __init__(self, base: Toolset, variant: Variant, context: ToolsetContext, renderer: ToolRenderer) -> None:
        self.name = base.name
        self._base = base
        self._variant = variant
        self._seed = context.seed
        self._shelf = renderer
        self._universe = Universe(context.catalog)
        self._meta_ids = frozenset(own_meta_tools(context.catalog))
        self._distractors: Distractors = NearDistractors(context.catalog) if variant.near else RandomDistractors()
        self._filler = Filler(renderer, context.seed) if variant.padded else None
        self._kept: OrderedDict[_Key, tuple[object, Offer]] = OrderedDict()

    def offer(self, case: Case, conversation: Conversation) -> Offer:
        """What the toolset shows, changed."""
        offers = tuple(self._base.offer(case, _until(conversation, end)) for end in range(len(conversation.exchanges)))
        offers = (*offers, self._base.offer(case, conversation))
        # By identity: what is kept here cannot lose its id to another.
        epoch = conversation.epoch if self._variant.shuffled else 0
        of = case if self._variant.shuffled or self._variant.distractors else None
        key = (id(of), epoch, tuple(map(id, offers)))
        if (kept := self._kept.get(key)) is None:
            kept = self._kept[key] = ((of, offers), self._make(case, epoch, offers))
            if len(self._kept) > OFFERS_KEPT:
                self._kept.popitem(last=False)
        return kept[1]

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """What the toolset answers."""
        return self._base.answer(case, conversation, calls)

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> GoAhead | None:
        """What is said under the toolset."""
        return self._base.follow_up(case, conversation, reply)

    def reach(self, case: Case) -> frozenset[str]:
        """What the toolset can reach, and the distractors."""
        reached = self._base.reach(case)
        if not self._variant.distractors:
            return reached
        first = self._base.offer(case, Conversation(case.messages))
        return reached.union(self._distractor_ids(case, first))

    def find_shortfall(self, cases: Iterable[Case]) -> Shortfall:
        """How far the variant could not be had in the first request of some cases."""
        wanted, made = self._variant, Shortfall(fewest=self._variant.distractors)
        for case in cases:
            first = self._base.offer(case, Conversation(case.messages))
            added = len(self._distractor_ids(case, first))
            made = Shortfall(
                made.tried + 1,
                made.longer + (0 < wanted.padded < first.tokens),
                made.lacking + (added < wanted.distractors),
                min(made.fewest, added),
            )
        return made

    def _make(self, case: Case, epoch: int, offers: Sequence[Offer]) -> Offer:
        company = self._distractor_ids(case, offers[0])
        first = _mixed(offers[0].tools, [self._shelf.offered(one) for one in company], SeededDraw(self._seed, case.id))
        if self._filler is not None:
            first = self._filler.padded(first, self._variant.padded)
        if not self._variant.shuffled:
            return Offer(_grown(first, offers[0], offers[-1]))
        batches, seen = [first], {offered.tool.id for offered in first}
        for offer in offers[1:]:
            added = tuple(offered for offered in offer.tools if offered.tool.id not in seen)
            seen.update(offered.tool.id for offered in added)
            batches.append(added)
        batches = [_shuffled(batch, SeededDraw(self._seed, f"{case.id}\0{epoch}")) for batch in batches]
        present = offers[-1].ids.union(company)
        return Offer(tuple(offered for batch in batches for offered in batch if offered.tool.id in present))

    def _distractor_ids(self, case: Case, shown: Offer) -> list[str]:
        """As many as are wanted and there: never right, never shown already, never a meta-tool."""
        if not self._variant.distractors:
            return []
        universe, draw = self._universe.of(case), SeededDraw(self._seed, case.id)
        members = frozenset(universe)
        right = tuple(dict.fromkeys(tool for call in case.expected or () for tool in call.tools[:1] if tool in members))
        barred = self._meta_ids | case.right_ids | shown.ids
        candidates = self._distractors.candidates(case, right, universe, draw)
        return take(self._variant.distractors, candidates, barred)


def _until(conversation: Conversation, exchanges: int) -> Conversation:
    return replace(conversation, exchanges=conversation.exchanges[:exchanges])


def _mixed(tools: tuple[Offered, ...], added: Sequence[Offered], draw: SeededDraw) -> tuple[Offered, ...]:
    """The tools in their order, and those added at places drawn for each, so that where they stand tells nothing."""
    made = list(tools)
    for offered in added:
        made.insert(draw.place(offered.tool.id, len(made) + 1), offered)
    return tuple(made)


def _grown(first: tuple[Offered, ...], before: Offer, now: Offer) -> tuple[Offered, ...]:
    """What is shown now, in its order, with all that `first` has added to what was shown before at the same places."""
    if now is before:
        return first
    changed = {offered.tool.id: offered for offered in first}
    company: dict[str, list[Offered]] = {}  # by the tool that they stand behind
    behind = ""
    for offered in first:
        if offered.tool.id in before.ids:
            behind = offered.tool.id
        else:
            company.setdefault(behind, []).append(offered)
    there = {offered.tool.id for added in company.values() for offered in added}
    made = company.pop("", [])
    for offered in now.tools:
        if offered.tool.id not in there:
            made.append(changed.get(offered.tool.id, offered))
            made += company.pop(offered.tool.id, ())
    return (*made, *(offered for added in company.values() for offered in added))


def _shuffled(batch: tuple[Offered, ...], draw: SeededDraw) -> tuple[Offered, ...]:
    by_id = {offered.tool.id: offered for offered in batch}
    return tuple(by_id[tool_id] for tool_id in draw.ordered(by_id))
