"""The policy of `local/bm25`, and the model itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from toolbelt.errors import NotFoundError
from toolbelt.evals.conversation import Reply, ToolUse, Usage
from toolbelt.evals.models.local.arguments import fill_arguments
from toolbelt.evals.models.local.categories import BROWSE, LOAD, find_next_step
from toolbelt.evals.models.local.fit import parameters_of
from toolbelt.evals.models.local.history import History, read_history
from toolbelt.evals.models.local.plan import Plan, plan_calls, query_words
from toolbelt.evals.models.model import Model, Request
from toolbelt.evals.offers import Offer

SURE = 0.3
"""The fit of a tool at hand from which the agent does not look for a better one: nine of ten such are right."""
_Call = tuple[str, Mapping[str, Any]]


class LocalModel:
    """`local/bm25`: an offline baseline that plays the agent by counting words. It is no LLM.

    It sees what any model sees: the messages and the definitions offered. It calls the tool that BM25 ranks best for
    what the user said last, if that fits well enough (`ENOUGH`), and nothing otherwise. A message that asks for
    several things is answered with several calls at once. Where `browse_tools` and `load_tools` are offered and no
    tool at hand is sure to be right (`SURE`), it browses, and loads the categories whose descriptions fit best, one
    by one. Arguments are what can be found in the message by simple means; what is not found is left out. Once all
    that it means to call is called, it says so. The same request always gets the same reply.

    The three thresholds were chosen on public cases (MetaTool, Seal-Tools, BFCL), on none of those shipped here.
    """

    @property
    def name(self) -> str:
        """`local/bm25`."""
        return "local/bm25"

    async def complete(self, request: Request) -> Reply:
        """Answer a request, at once and without a network; raises nothing."""
        began = time.perf_counter()
        history = read_history(request.messages)
        made = _choose(request, history)
        calls = tuple(
            ToolUse.from_text(f"call_{number}", name, json.dumps(arguments))
            for number, (name, arguments) in enumerate(made, start=len(history.calls))
        )
        text = "" if calls else ("That is done." if _has_selected(history) else "I have no tool for that.")
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
        """Nothing to let go of."""


LOCAL_MODELS: Mapping[str, Callable[[], Model]] = MappingProxyType({"local/bm25": LocalModel})
"""By name."""


def make_local_model(name: str) -> Model:
    """The local model of that name.

    Raises:
        NotFoundError: there is none.
    """
    if (make := LOCAL_MODELS.get(name)) is None:
        raise NotFoundError("model", name, LOCAL_MODELS)
    return make()


def _choose(request: Request, history: History) -> list[_Call]:
    offer, choice = request.offer, request.sampling.tool_choice
    if choice == "none" or not offer.tools:
        return []
    if choice is not None and choice in offer.by_name:
        position = next(index for index, offered in enumerate(offer.tools) if offered.name == choice)
        return _forced(history, offer, [position])
    made = _freely(history, offer)
    if choice == "required" and not made:
        return _forced(history, offer, range(len(offer.tools)))
    return made


def _freely(history: History, offer: Offer) -> list[_Call]:
    can_browse = BROWSE in offer.by_name and LOAD in offer.by_name
    among = [index for index, offered in enumerate(offer.tools) if not (can_browse and offered.name in (BROWSE, LOAD))]
    plan = plan_calls(history, offer, among)
    if can_browse and not _has_selected(history) and (wanted := _wanted(plan)):
        step = find_next_step(history, wanted)
        if step is not None:
            return [step]
    left = list(history.calls)
    return [call for call in _as_calls(plan) if not _struck_off(call, left)]


def _has_selected(history: History) -> bool:
    return any(name not in (BROWSE, LOAD) for name, _ in history.calls)


def _wanted(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """Words for which better tools are to be looked for; none where those at hand will do."""
    unsure = tuple(call.words for call in plan.calls if call.fit < SURE)
    return tuple(words for words in (*unsure, *plan.unserved) if words)


def _as_calls(plan: Plan) -> list[_Call]:
    return [(call.offered.name, call.arguments) for call in plan.calls]


def _struck_off(call: _Call, left: list[_Call]) -> bool:
    """Whether the call was made before; each made one answers for one."""
    if call in left:
        left.remove(call)
        return True
    return False


def _forced(history: History, offer: Offer, among: Sequence[int]) -> list[_Call]:
    """The best of them, however badly it fits; the first, where nothing speaks for any."""
    made = _as_calls(plan_calls(history, offer, among, enough=0.0))
    if made:
        return made[:1]
    offered = offer.tools[among[0]]
    if (
        offered.name == LOAD
        and (step := find_next_step(history, (query_words(history),))) is not None
        and step[0] == LOAD
    ):
        return [step]
    return [(offered.name, fill_arguments(parameters_of(offered), history.query))]
