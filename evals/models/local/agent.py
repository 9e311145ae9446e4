"""The policy of `local/bm25`, and the model itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from toolbelt.errors import NotFoundError
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.local.arguments import fill_arguments
from toolbelt.evals.models.local.call_planning import CallPlan, plan_calls, query_words
from toolbelt.evals.models.local.history import History, read_history
from toolbelt.evals.models.local.meta_tools import (
    BY_CATEGORY,
    KnownMetaTools,
    find_loaded,
    find_meta_tools,
    find_next_steps,
)
from toolbelt.evals.models.local.ranking import parameters_of
from toolbelt.evals.models.local.searching import (
    KnownSearch,
    call_through,
    find_search,
    find_searches,
    with_found,
)
from toolbelt.evals.models.model import WORD_MATCHING, Model, Request
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import Usage

SURE = 0.3
"""From this fit on, the agent does not look for a better tool: nine of ten tools with it are right."""
_Call = tuple[str, Mapping[str, Any]]


class LocalModel:
    """`local/bm25`: an offline baseline that plays the agent by counting words. It is no LLM.

    It sees what any model sees: the messages and the definitions offered. It calls the tool that BM25 ranks best for
    what the user said last, if that fits well enough (`ENOUGH`), and nothing otherwise. A message that asks for
    several things is answered with several calls at once. Where `browse_tools` and `load_tools` are offered and no
    tool at hand is sure to be right (`SURE`), it browses, and loads the categories whose descriptions fit best, one
    by one. Where a search is offered, it searches for the words of each thing asked for, and calls what that finds, or
    calls it through. Where it is `list_toolkits`, it loads the best toolkit for each thing asked for, and ends its
    turn by saying so, as their tools come with the user's next message; told to go ahead, it takes up what was asked
    before. Arguments are what can be found in the message by simple means; what is not found is left out. Once all
    that it means to call is called, it says so. The same request always gets the same reply.

    The three thresholds were chosen on public cases (MetaTool, Seal-Tools, BFCL), on none of those shipped here.
    """

    @property
    def name(self) -> str:
        """`local/bm25`."""
        return WORD_MATCHING

    async def complete(self, request: Request) -> Reply:
        """Answer a request, at once and without a network; raises nothing."""
        began = time.perf_counter()
        history = read_history(request.messages)
        meta = find_meta_tools(request.offer)
        chosen = _choose(request, history, meta)
        calls = tuple(
            ToolUse.from_text(f"call_{number}", name, json.dumps(arguments))
            for number, (name, arguments) in enumerate(chosen, start=len(history.calls))
        )
        text = "" if calls else _words(history, meta)
        return Reply(
            text=text,
            calls=calls,
            finish_reason="tool_calls" if calls else "stop",
            served_by=self.name,
            latency_seconds=time.perf_counter() - began,
        )

    def cost_usd(self, usage: Usage) -> float | None:  # noqa: ARG002
        """Nothing."""
        return 0.0

    async def close(self) -> None:
        """There is nothing to close."""


LOCAL_MODELS: Mapping[str, Callable[[], Model]] = MappingProxyType({WORD_MATCHING: LocalModel})
"""The local models by name."""


def make_local_model(name: str) -> Model:
    """The local model of that name.

    Raises:
        NotFoundError: there is none.
    """
    if (make := LOCAL_MODELS.get(name)) is None:
        raise NotFoundError("model", name, LOCAL_MODELS)
    return make()


def _words(history: History, meta: KnownMetaTools | None) -> str:
    """The text of a reply without calls."""
    if _has_selected(history, meta):
        return "That is done."
    if meta is not None and (loaded := find_loaded(history, meta)):
        return f"I have loaded {' and '.join(loaded)}. I will have these tools with your next message."
    return "I have no tool for that."


def _choose(request: Request, history: History, meta: KnownMetaTools | None) -> list[_Call]:
    offer, choice = request.offer, request.sampling.tool_choice
    if choice == "none" or not offer.tools:
        return []
    if choice is not None and choice in offer.by_name:
        position = next(index for index, offered in enumerate(offer.tools) if offered.name == choice)
        return _forced(history, offer, [position], meta)
    calls = _freely(history, offer, meta)
    if choice == "required" and not calls:
        return _forced(history, offer, range(len(offer.tools)), meta)
    return calls


def _freely(history: History, offer: Offer, meta: KnownMetaTools | None) -> list[_Call]:
    if (search := find_search(offer)) is not None:
        return _freely_with_search(history, offer, search)
    among: Sequence[int] = range(len(offer.tools))
    if meta is not None:
        among = [at for at in among if offer.tools[at].name not in meta.names]
    plan = plan_calls(history, offer, among)
    if meta is not None and not _has_selected(history, meta) and (wanted_tools := _wanted(plan)):
        if find_loaded(history, meta):
            return []
        if steps := find_next_steps(history, wanted_tools, meta):
            return steps
    left = list(history.calls)
    return [call for call in _as_calls(plan) if not _struck_off(call, left)]


def _freely_with_search(history: History, offer: Offer, search: KnownSearch) -> list[_Call]:
    known = with_found(offer, history, search) if search.call else offer
    plan = plan_calls(history, known, [at for at, tool in enumerate(known.tools) if tool.name not in search.names])
    has_selected = any(name != search.name for name, _ in history.calls)
    if not has_selected and (steps := find_searches(history, _wanted(plan), search)):
        return steps
    left = list(history.calls)
    calls = [call_through(call, offer, search) for call in _as_calls(plan)]
    return [call for call in calls if not _struck_off(call, left)]


def _has_selected(history: History, meta: KnownMetaTools | None) -> bool:
    return any(name not in (meta or BY_CATEGORY).names for name, _ in history.calls)


def _wanted(plan: CallPlan) -> tuple[tuple[str, ...], ...]:
    """Words for which the agent looks for better tools; none if the tools at hand are good enough."""
    unsure = tuple(call.words for call in plan.calls if call.fit < SURE)
    return tuple(words for words in (*unsure, *plan.unserved) if words)


def _as_calls(plan: CallPlan) -> list[_Call]:
    return [(call.offered.name, call.arguments) for call in plan.calls]


def _struck_off(call: _Call, left: list[_Call]) -> bool:
    """Whether the call was made before; each earlier call counts for one."""
    if call in left:
        left.remove(call)
        return True
    return False


def _forced(history: History, offer: Offer, among: Sequence[int], meta: KnownMetaTools | None) -> list[_Call]:
    """The best of the tools, however badly it fits; the first if none fits at all."""
    calls = _as_calls(plan_calls(history, offer, among, enough=0.0))
    if calls:
        return calls[:1]
    offered = offer.tools[among[0]]
    if meta is not None and offered.name == meta.load:
        steps = find_next_steps(history, (query_words(history),), meta)
        if steps and steps[0][0] == meta.load:
            return steps[:1]
    return [(offered.name, fill_arguments(parameters_of(offered), history.query))]
