"""The core tools, and every category once the model has loaded it (rules T1 to T4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache

from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.evals.toolsets.spec import ToolsetSpec
from toolbelt.evals.toolsets.toolset import NoSearch, ToolsetContext
from toolbelt.evals.toolsets.universe import OFFERS_KEPT, Universe
from toolbelt.tiers import MetaTools, TierMetaRole, Tiers

Loaded = tuple[str, ...]
Offered = tuple[str, ...] | None


class Tiered(NoSearch):
    """Core tools first; what `load_tools` was asked for is appended from the next request on.

    What is loaded is read off the conversation, so it ends with it.
    """

    def __init__(self, spec: ToolsetSpec, context: ToolsetContext) -> None:
        self.name = str(spec)
        meta = MetaTools.of(context.catalog)
        self._renderer = context.renderer(meta.extras)
        self._whole = Tiers(context.catalog, names=self._renderer.wire_names)
        self._members = Universe(context.catalog).members
        self._own_meta = self._members & {meta.browse.id, meta.load.id}
        self._cut: Callable[[tuple[str, ...]], Tiers] = lru_cache(OFFERS_KEPT)(
            lambda offered: self._whole.within(offered, self._renderer.within(offered).wire_names)
        )
        self._make: Callable[[Offered, Loaded], Offer] = lru_cache(OFFERS_KEPT)(self._make_offer)
        self._first = self._make_offer(None, ())

    def offer(self, case: Case, conversation: Conversation) -> Offer:
        """The core, then each category in the order it was loaded."""
        loaded = self._loaded(case, conversation)
        return self._make(case.offered, loaded) if loaded or case.offered is not None else self._first

    def answer(self, case: Case, conversation: Conversation, calls: Sequence[ToolUse]) -> tuple[str | None, ...]:
        """Answers to the two meta-tools; `None` for every other call."""
        answers, _ = self._play(case, calls, self._loaded(case, conversation))
        return answers

    def follow_up(self, case: Case, conversation: Conversation, reply: Reply) -> None:
        """Always `None`: the offer does not wait for the next turn."""

    def reach(self, case: Case) -> frozenset[str]:
        """All of the case's universe: every tool is in the core or in a category that can be loaded."""
        return self._members if case.offered is None else self._members.intersection(case.offered) | self._own_meta

    def _tiers(self, offered: Offered) -> Tiers:
        return self._whole if offered is None else self._cut(offered)

    def _make_offer(self, offered: Offered, loaded: Loaded) -> Offer:
        return self._renderer.within(offered).offer(self._tiers(offered).tool_ids(loaded))

    def _loaded(self, case: Case, conversation: Conversation) -> Loaded:
        loaded: Loaded = ()
        for exchange in conversation.exchanges:
            _, loaded = self._play(case, exchange.reply.calls, loaded)
        return loaded

    def _play(self, case: Case, calls: Sequence[ToolUse], loaded: Loaded) -> tuple[tuple[str | None, ...], Loaded]:
        tiers, renderer = self._tiers(case.offered), self._renderer.within(case.offered)
        answers: list[str | None] = []
        for call in calls:
            if (role := _find_role(call.name, renderer, tiers.meta)) is None:
                answers.append(None)
                continue
            answer, loaded = tiers.call(role, call.arguments, loaded)
            answers.append(json.dumps(answer, ensure_ascii=False))
        return tuple(answers), loaded


def _find_role(name: str, renderer: ToolRenderer, meta: MetaTools) -> TierMetaRole | None:
    tool_id: str | None
    tool_id = meta.extras[name].id if name in meta.extras else renderer.find_id(name)
    return None if tool_id is None else meta.find_role(tool_id)
