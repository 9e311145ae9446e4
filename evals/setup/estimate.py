"""What a run would take, before anything is spent.

The trials are played by a stand-in that asks nobody (`local/bm25`) over the same toolsets, and what it sends is
counted as the real model counts. Another model may need fewer requests, or more; the order of magnitude is right,
also where a toolset makes a model browse first.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Reply, Usage
from toolbelt.evals.models.model import Model
from toolbelt.evals.running.client import Budget, RetryingClient, RetryPolicy
from toolbelt.evals.running.plan import Plan, Trial
from toolbelt.evals.running.records import RequestRecord
from toolbelt.evals.running.trial import TrialRunner

SAMPLE = 300
"""Cases of each arm that are played; the rest is taken to be like them."""


@dataclass(frozen=True, slots=True)
class ArmEstimate:
    """What an arm would take.

    Attributes:
        model: Its name.
        toolset: Its name.
        variant: What is changed about the toolset; empty if nothing.
        trials: Planned.
        requests: Expected.
        definition_tokens: Expected over all requests.
        prompt_tokens: Expected over all requests, definitions among them; own count.
        completion_tokens: Expected; own count of the calls, and of the words that end a turn.
        cost_usd: Expected; `None` where the price is unknown.
        not_asked: Trials, among them, that end before the first request, as what is offered does not fit.
        reason: Why the first of these does not, in words; empty if there are none.
    """

    model: str
    toolset: str
    variant: str
    trials: int
    requests: int
    definition_tokens: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    not_asked: int = 0
    reason: str = ""


def estimate(
    plan: Plan,
    players: Sequence[TrialRunner],
    stand_in: Model,
    case: Callable[[int], Case],
    advance: Callable[[int], object],
) -> tuple[ArmEstimate, ...]:
    """What each arm of a plan would take.

    Args:
        plan: What is asked about.
        players: Its arms'; their models give prices and are not asked.
        stand_in: Plays in their place.
        case: Gives a case by its position.
        advance: Told how many trials were played.
    """
    step = max(1, plan.cases // SAMPLE)
    sample = range(0, plan.cases, step)
    made = []
    for number, player in enumerate(players):
        made.append(asyncio.run(_estimate(plan, number, player, stand_in, [(i, case(i)) for i in sample])))
        advance((number + 1) * len(sample))
    return tuple(made)


async def _estimate(
    plan: Plan, arm: int, player: TrialRunner, stand_in: Model, cases: Iterable[tuple[int, Case]]
) -> ArmEstimate:
    kept: list[RequestRecord] = []
    client = RetryingClient(stand_in, Budget(), RetryPolicy(0), kept.append)
    played = replace(player, client=client)
    trials = prompt = not_asked = 0
    reason = ""
    for position, case in cases:
        record = await played.play(Trial(position, position, arm, 0), case)
        trials += 1
        prompt += record.own_prompt_tokens or 0
        if not record.requests:
            not_asked, reason = not_asked + 1, reason or record.reason
    texts = [_output(one.reply) for one in kept if one.reply]
    completion = sum(player.prompts.counter.count(texts))
    share = plan.per_arm / trials
    prompt_tokens, completion_tokens = round(prompt * share), round(completion * share)
    return ArmEstimate(
        plan.arms[arm].model,
        plan.arms[arm].toolset,
        plan.arms[arm].variant,
        plan.per_arm,
        round(len(kept) * share),
        round(sum(one.offer.tokens for one in kept) * share),
        prompt_tokens,
        completion_tokens,
        player.client.model.cost_usd(Usage(prompt_tokens, completion_tokens)) if kept else 0.0,
        round(not_asked * share),
        reason,
    )


def _output(reply: Reply) -> str:
    return json.dumps([[call.name, call.text] for call in reply.calls]) if reply.calls else reply.text
