"""A toolset whose offers are changed as a variant asks: more tools, longer descriptions, another order."""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer, Offered, ToolRenderer
from toolbelt.evals.toolsets.distractors import Distractors, NearDistractors, RandomDistractors, SeededDraw, take
from toolbelt.evals.toolsets.toolset import FoundTools, GoAhead, Toolset, ToolsetContext
from toolbelt.evals.toolsets.universe import OFFERS_KEPT, Universe
from toolbelt.evals.toolsets.variants.variant import Variant
from toolbelt.tiers import own_meta_tools

_SENTENCES = (
    "This entry follows the same conventions as every other entry of the list.",
    "Nothing in this part changes what was said above.",
    "The wording was kept plain on purpose, and may be revised from time to time.",
    "Spelling follows the house style, and figures are written out where that is easier on the eye.",
    "What is written here holds for all versions that are in service at present.",
    "Remarks of earlier editions were left out where they had lost their point.",
    "The usual terms apply here as they do elsewhere, without exception.",
    "Names that occur more than once mean the same each time.",
    "Where a sentence could be read in two ways, the simpler one is meant.",
    "No particular order is implied by the order of these sentences.",
    "This paragraph is for completeness and calls for no attention.",
    "Whatever is not mentioned stays as it was.",
    "The text ends where it ends, and no continuation of it exists.",
    "Readers who know the general part already may pass over these lines.",
    "These lines have been checked for typing errors alone.",
    "Earlier wordings of this passage were equal in meaning.",
)
_STEPS = 64
"""Lengths of filler within a doubling: near enough to any, and few, so that each tool is counted a few times only."""


class Filler:
    """Makes tools longer without saying more about them.

    Args:
        renderer: Counts, and has the tools.
        seed: Of the order of sentences, which each tool has of its own.
    """

    def __init__(self, renderer: ToolRenderer, seed: int) -> None:
        self._renderer = renderer
        self._seed = seed
        sample = " ".join(_SENTENCES)
        self._words_per_token = len(sample.split()) / renderer.count_text(sample)
        self._made = lru_cache(20_000)(self._make)

    def padded(self, tools: tuple[Offered, ...], tokens: int) -> tuple[Offered, ...]:
        """The tools, together about so many tokens long; as they are where they are longer.

        It comes to within 2 per cent of what is added, or within a word and a half for each tool where little is.

        Each is made longer by the same, so that length does not tell one from another.

        Args:
            tools: As they are shown.
            tokens: In all, by the renderer's tokenizer.
        """
        lacking = tokens - sum(offered.tokens for offered in tools)
        if not tools or lacking < len(tools):
            return tools
        words = _rounded(lacking / len(tools) * self._words_per_token)
        return tuple(self._made(offered, words) for offered in tools)

    def _make(self, offered: Offered, words: int) -> Offered:
        own = offered.definition["function"]["description"]
        text = self._text(offered.tool.id, words)
        return self._renderer.redescribed(offered, f"{own} {text}" if own else text)

    def _text(self, tool_id: str, words: int) -> str:
        generator = random.Random(f"{self._seed}\0{tool_id}")  # noqa: S311  no secret
        words_so_far: list[str] = []
        while len(words_so_far) < words:
            words_so_far.extend(" ".join(generator.sample(_SENTENCES, len(_SENTENCES))).split())
        return f"{' '.join(words_so_far[:words]).rstrip('.,')}."


def _rounded(words: float) -> int:
    """The nearest of the lengths that are used; at least one word."""
    if words < _STEPS:
        return max(1, round(words))
    step: int = 2 ** (int(words) // _STEPS).bit_length() // 2
    return round(words / step) * step


_Key = tuple[int, int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Shortfall:
    """How often a variant could not be fully applied, over some cases.

    Attributes:
        tried: Number of cases tried.
        longer: Of these, how many show definitions that are longer than they were to be padded to.
        lacking: Of these, how many have fewer distractors than were wanted.
        fewest: Distractors that the worst of them has.
    """

    tried: int = 0
    longer: int = 0
    lacking: int = 0
    fewest: int = 0


def vary(base: Toolset, variant: Variant, context: ToolsetContext, renderer: ToolRenderer) -> Toolset:
    """The toolset with what a variant changes about what is shown; names and descriptions are the renderer's matter.

    Args:
        base: What is changed.
        variant: How.
        context: What `base` was made from.
        renderer: Where its tools are from.
    """
    if not variant.changes_offers:
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
        self._renderer = renderer
        self._universe = Universe(context.catalog)
        self._meta_ids = frozenset(own_meta_tools(context.catalog))
        self._distractors: Distractors = NearDistractors(context.catalog) if variant.near else RandomDistractors()
        self._filler = Filler(renderer, context.seed) if variant.padded else None
        self._offers: OrderedDict[_Key, tuple[object, Offer]] = OrderedDict()
        self.is_fixed = base.is_fixed

    def offer(self, case: Case, conversation: Conversation) -> Offer:
        """What the toolset shows, changed."""
        offers = tuple(self._base.offer(case, _until(conversation, end)) for end in range(len(conversation.exchanges)))
        offers = (*offers, self._base.offer(case, conversation))
        # By identity: what is kept here cannot lose its id to another.
        epoch = conversation.epoch if self._variant.shuffled else 0
        of = case if self._variant.shuffled or self._variant.distractors else None
        key = (id(of), epoch, tuple(map(id, offers)))
        if (cached := self._offers.get(key)) is None:
            cached = self._offers[key] = ((of, offers), self._make(case, epoch, offers))
            if len(self._offers) > OFFERS_KEPT:
                self._offers.popitem(last=False)
        return cached[1]

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """The answer of the varied toolset."""
        return self._base.answer(case, conversation, calls)

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> GoAhead | None:
        """The follow-up of the varied toolset."""
        return self._base.follow_up(case, conversation, reply)

    def reach(self, case: Case) -> frozenset[str]:
        """What the toolset can reach, and the distractors."""
        reached = self._base.reach(case)
        if not self._variant.distractors:
            return reached
        first = self._base.offer(case, Conversation(case.messages))
        return reached.union(self._distractor_ids(case, first))

    def found(self, case: Case, conversation: Conversation) -> FoundTools:
        """What the varied toolset found."""
        return self._base.found(case, conversation)

    def passed_on(self, case: Case, call: ToolUse) -> ToolUse | None:
        """What the varied toolset passes on."""
        return self._base.passed_on(case, call)

    def find_shortfall(self, cases: Iterable[Case]) -> Shortfall:
        """How often the variant could not be fully applied in the first request of some cases."""
        variant, shortfall = self._variant, Shortfall(fewest=self._variant.distractors)
        for case in cases:
            first = self._base.offer(case, Conversation(case.messages))
            added = len(self._distractor_ids(case, first))
            shortfall = Shortfall(
                shortfall.tried + 1,
                shortfall.longer + (0 < variant.padded < first.tokens),
                shortfall.lacking + (added < variant.distractors),
                min(shortfall.fewest, added),
            )
        return shortfall

    def _make(self, case: Case, epoch: int, offers: Sequence[Offer]) -> Offer:
        company = self._distractor_ids(case, offers[0])
        more = list(map(self._renderer.within(case.offered).offered, company))
        first = _mixed(offers[0].tools, more, SeededDraw(self._seed, case.id))
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
        """As many distractors as are wanted and available: never right, never shown already, never a meta-tool."""
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
    """The tools in their order, and those added at places drawn for each, so that their places give nothing away."""
    mixed = list(tools)
    for offered in added:
        mixed.insert(draw.place(offered.tool.id, len(mixed) + 1), offered)
    return tuple(mixed)


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
    tools = company.pop("", [])
    for offered in now.tools:
        if offered.tool.id not in there:
            tools.append(changed.get(offered.tool.id, offered))
            tools += company.pop(offered.tool.id, ())
    return (*tools, *(offered for added in company.values() for offered in added))


def _shuffled(batch: tuple[Offered, ...], draw: SeededDraw) -> tuple[Offered, ...]:
    by_id = {offered.tool.id: offered for offered in batch}
    return tuple(by_id[tool_id] for tool_id in draw.ordered(by_id))
