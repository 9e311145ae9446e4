"""Estimates what a run would take, before anything is spent.

The trials are played by a stand-in that asks nobody (`local/bm25`) over the same toolsets, and what it sends is
counted as the real model counts. Another model may need fewer requests, or more; the order of magnitude is right,
also where a toolset makes a model browse first.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.ranker import Ranker
from toolbelt.catalog.ranking.spec import RankSpec
from toolbelt.catalog.ranking.words import WordsIndex, WordsRanker
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.local import make_local_model
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import ModelOptions, open_price
from toolbelt.evals.running.client import Budget, RetryingClient, RetryPolicy
from toolbelt.evals.running.plan import Plan, Trial
from toolbelt.evals.running.records import RequestRecord
from toolbelt.evals.running.trial import TrialRunner
from toolbelt.evals.setup.arm_notes import find_shortfalls
from toolbelt.evals.setup.arms import PreparedArm, embedding_options, make_trial_runners, prepare_arms
from toolbelt.evals.setup.inputs import RunInputs
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.evals.toolsets.hosted_search import HostedSearch
from toolbelt.project.rankers import open_project_ranker
from toolbelt.providers.chat import Usage
from toolbelt.text import plural

SAMPLE = 300
"""Cases of each arm that are played; the rest are assumed to be similar."""
STAND_IN = "local/bm25"
"""The model that plays them."""


@dataclass(frozen=True, slots=True)
class SharedEstimate:
    """What an arm has in common with arms before it, which is asked once; expected.

    Attributes:
        trials: That send the same requests as a trial of such an arm.
        requests: Of them.
        prompt_tokens: Of these requests.
        completion_tokens: Of their answers.
        cost_usd: Of both; `None` where the price is unknown.
    """

    trials: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ArmEstimate:
    """The estimate of one arm, as if it were asked alone.

    Attributes:
        model: Its name.
        toolset: Its name.
        variant: What is changed about the toolset; empty if nothing.
        trials: Planned.
        requests: Expected.
        definition_tokens: Expected over all requests.
        prompt_tokens: Expected over all requests, definitions among them; estimated.
        completion_tokens: Expected; estimated from the calls, and of the words that end a turn.
        cost_usd: Expected; `None` where the price is unknown.
        not_asked: Trials, among them, that end before the first request, as what is offered does not fit.
        reason: Why the first of these does not, in words; empty if there are none.
        shared: Of this, what other arms ask.
        token_error: By what share of them the definition tokens may be wrong; 0 where the count is taken as it is.
        reasons: Whether its model reasons, or may, as it is asked: what that takes is in no figure.
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
    shared: SharedEstimate = SharedEstimate()
    token_error: float = 0.0
    reasons: bool = False


def estimate_run(
    inputs: RunInputs, plan: Plan, options: ModelOptions, reporter: EvalReporter
) -> tuple[ArmEstimate, ...]:
    """Estimate each arm of a plan; no model is called.

    Args:
        inputs: What the plan was made from.
        plan: What is asked about.
        options: How models would be asked.
        reporter: Gets notes and progress.

    Raises:
        ToolbeltError: as `prepare_arms`.
    """
    arms = prepare_arms(inputs, plan, options, reporter, open_price, partial(_open_stand_in, inputs, options, reporter))
    arms = tuple(_play_search(arm, reporter) for arm in arms)
    cases = inputs.cases_of(plan)
    for note in find_shortfalls(arms, cases):
        reporter.note(note)
    runners = make_trial_runners(inputs, plan, arms, Budget(), RetryPolicy(0), _keep_nothing)
    stand_in = make_local_model(STAND_IN)
    sample = [(position, cases.case(position)) for position in cases.sample_positions(SAMPLE)]
    estimates, asked = [], set[object]()
    with reporter.progress("running a sample", len(arms) * len(sample)) as advance:
        for number, runner in enumerate(runners):
            estimate = asyncio.run(_estimate_arm(plan, number, runner, stand_in, sample, asked))
            facts = inputs.project.facts(estimate.model)
            effort = runner.sampling.effort or facts.default_effort
            estimates.append(replace(estimate, reasons=facts.reasoning is True and effort != "none"))
            advance((number + 1) * len(sample))
    return tuple(estimates)


def _play_search(arm: PreparedArm, reporter: EvalReporter) -> PreparedArm:
    """The arm; with a vendor's own search, one that finds by words, which is reported."""
    if not isinstance(arm.toolset, HostedSearch):
        return arm
    text = (
        f"{arm.arm.label}: estimated as if the vendor's search had found, within the first request, five tools by the "
        "user's words, or the group of the first; what the vendor adds for its searches is not known"
    )
    reporter.note(RunNote(NoteKind.HOSTED_SEARCH, text, (arm.arm.label,)))
    return replace(arm, toolset=arm.toolset.played())


def _open_stand_in(inputs: RunInputs, options: ModelOptions, reporter: EvalReporter, spec: RankSpec) -> Ranker:
    """The ranker; in place of one that asks a model, one by words, which reports what the model would come to."""
    if not spec.asks_model:
        return open_project_ranker(inputs.project, spec)
    from toolbelt.catalog.ranking.embedding import write_text  # numpy
    from toolbelt.providers.stored_vectors import StoredVectors  # aiohttp

    vectors = StoredVectors(spec.target, embedding_options(options))

    class StandIn(WordsRanker):
        def index(self, tools: Sequence[Tool]) -> WordsIndex:
            estimate = vectors.estimate([write_text(tool) for tool in tools])
            cost = "all stored" if estimate is None else str(estimate)
            text = (
                f"{spec}: vectors of {plural(len(tools), 'tool')}: {cost}; and one for each text that is searched for"
            )
            reporter.note(RunNote(NoteKind.EMBEDDINGS, f"{text}. The sample below searches by words.", (str(spec),)))
            return super().index(tools)

    return StandIn()


async def _estimate_arm(
    plan: Plan,
    arm: int,
    runner: TrialRunner,
    stand_in: Model,
    cases: Sequence[tuple[int, Case]],
    asked: set[object],
) -> ArmEstimate:
    requests: list[RequestRecord] = []

    async def keep(record: RequestRecord) -> None:
        requests.append(record)

    stand_in_runner = replace(runner, client=RetryingClient(stand_in, Budget(), RetryPolicy(0), keep))
    trials, shared = list[_Played](), list[_Played]()
    model, definitions, not_asked, reason = plan.arms[arm].model, 0, 0, ""
    for position, case in cases:
        trial = Trial(position, position, arm, 0)
        record = await stand_in_runner.run(trial, case)
        definitions += record.definition_tokens_total
        trials.append((record.own_prompt_tokens or 0, tuple(requests)))
        requests.clear()
        if (key := runner.find_requests_key(trial, case)) is not None:
            same = (model, position, key)
            shared += trials[-1:] if same in asked and record.requests else ()
            asked.add(same)
        if not record.requests:
            not_asked, reason = not_asked + 1, reason or record.reason
    share = plan.per_arm / len(trials)
    own = _add_up(trials, share, runner)
    return ArmEstimate(
        model=model,
        toolset=plan.arms[arm].toolset,
        variant=plan.arms[arm].variant,
        trials=plan.per_arm,
        requests=own.requests,
        definition_tokens=round(definitions * share),
        prompt_tokens=own.prompt_tokens,
        completion_tokens=own.completion_tokens,
        cost_usd=own.cost_usd,
        not_asked=round(not_asked * share),
        reason=reason,
        shared=_add_up(shared, share, runner),
        token_error=runner.rate.error,
    )


_Played = tuple[int, Sequence[RequestRecord]]
"""Tokens of the prompts of a trial, and its requests."""


def _add_up(trials: Sequence[_Played], share: float, runner: TrialRunner) -> SharedEstimate:
    count, price = runner.prompts.counter.count, runner.client.model.cost_usd
    answers = [sum(count([_output(each.reply) for each in requests if each.reply])) for _, requests in trials]
    # A long prompt may have another price: so it is asked for each trial, not for their sum.
    costs = [price(Usage(prompt, answer)) for (prompt, sent), answer in zip(trials, answers, strict=True) if sent]
    known = [cost for cost in costs if cost is not None]
    return SharedEstimate(
        trials=round(len(trials) * share),
        requests=round(sum(len(requests) for _, requests in trials) * share),
        prompt_tokens=round(sum(prompt for prompt, _ in trials) * share),
        completion_tokens=round(sum(answers) * share),
        cost_usd=sum(known) * share if len(known) == len(costs) else None,
    )


async def _keep_nothing(record: RequestRecord) -> None:
    pass


def _output(reply: Reply) -> str:
    return json.dumps([[call.name, call.text] for call in reply.calls]) if reply.calls else reply.text
