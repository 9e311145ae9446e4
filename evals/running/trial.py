"""One trial from the first request to its score (rules E3 to E6)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, TypeVar, cast

from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case, find_rank, is_covered
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.evals.responses.keys import digest_exchange
from toolbelt.evals.running.client import NotRecorded, RetryingClient, Unanswered
from toolbelt.evals.running.overflow import FitGuard, describe_overflow
from toolbelt.evals.running.plan import Trial
from toolbelt.evals.running.prompt_tokens import Meter, PromptCounter
from toolbelt.evals.running.records import Attempts, TrialRecord, format_names, plus_cost
from toolbelt.evals.running.reply_faults import ReplyFault, is_truncated
from toolbelt.evals.scoring.outcome import Ending, Outcome, Score, SelectedTool
from toolbelt.evals.scoring.scoring import Scorer
from toolbelt.evals.toolsets.toolset import NOTHING_FOUND, FoundTools, Toolset
from toolbelt.models.token_rates import AS_COUNTED, TokenRate
from toolbelt.providers.chat import TOOL_CHOICES, Failure, NotStoredError, Sampling
from toolbelt.runtime.threads import run_in_thread
from toolbelt.text import whole

T = TypeVar("T")
ACKNOWLEDGEMENT = json.dumps({"status": "ok"})
"""The answer to a call for which the case has no result: no tool is ever executed."""
_ENDINGS = {
    Failure.CONTEXT_OVERFLOW: Ending.CONTEXT_OVERFLOW,
    Failure.REFUSED: Ending.REFUSED,
    Failure.BROKEN_CALL: Ending.BROKEN_CALL,
}
"""Of failures that end a trial otherwise than by an error."""


class ToolsetError(Exception):
    """A toolset cannot decide what is shown, such as a search whose model does not answer."""


@dataclass(frozen=True, eq=False)
class TrialRunner:
    """Runs the trials of one arm.

    Attributes:
        toolset: What is shown.
        renderer: Which names mean which tools.
        client: Asks the arm's model.
        scorer: Judges.
        prompts: Counts what is sent.
        sampling: How the model is asked.
        request_limit: Requests after which a trial is given up.
        fit_guard: Turns away what does not fit the model; `None` where nothing is known of it, or all is to be asked.
        now: The time, ISO 8601 in UTC.
        in_threads: Whether the toolset may have to wait for somebody, so that it is asked in threads.
        rate: What our count of definitions comes to in the model's prompt.
        system: The system prompt of cases that have none; empty for none.
    """

    toolset: Toolset
    renderer: ToolRenderer
    client: RetryingClient
    scorer: Scorer
    prompts: PromptCounter
    sampling: Sampling = field(default_factory=Sampling)
    request_limit: int = 10
    fit_guard: FitGuard | None = None
    rate: TokenRate = AS_COUNTED
    now: Callable[[], str] = lambda: datetime.now(UTC).isoformat(timespec="milliseconds")
    in_threads: bool = False
    system: str = ""

    async def run(self, trial: Trial, case: Case, earlier: Mapping[int, Attempts] | None = None) -> TrialRecord:
        """Run a trial.

        Args:
            trial: Which.
            case: Its case.
            earlier: What is known of its requests, by number, from an execution that did not finish it.

        Raises:
            CapReached: the budget ended; what was answered is kept.
            Unanswered: in a way that no other trial of this model would be spared.
        """
        renderer = self.renderer.within(case.offered)
        opening = Conversation(renderer.with_wire_names(case.with_system(self.system)), epoch=trial.epoch)
        state = TrialState(
            self, case, opening, self._sampling(trial.epoch, renderer), Meter(self.prompts, self.rate), renderer
        )
        examined: tuple[FoundTools, frozenset[str]] = (NOTHING_FOUND, frozenset())
        try:
            ending, error = await state.run(trial.number, earlier or {})
            examined = await self.ask_toolset(self._examine, case, state.conversation)
        except ToolsetError as failed:
            ending, error = Ending.ERROR, str(failed)
        score = self.scorer.score(case, state.selections, ending, error=error)
        return self._record(trial, case, state, ending, score, examined)

    def find_requests_key(self, trial: Trial, case: Case) -> object | None:
        """Equal for trials of one model that send the same requests; `None` where they depend on what is called."""
        if not self.toolset.is_fixed:
            return None
        with suppress(ToolbeltError):  # which the trial itself reports
            offer = self.toolset.offer(case, Conversation(case.messages, epoch=trial.epoch))
            return self.system, self.sampling.effort, offer.tools
        return None

    async def ask_toolset(self, function: Callable[..., T], *arguments: Any) -> T:
        """What a function of the toolset gives.

        Raises:
            NotRecorded: nothing may be asked, and what the toolset needs is not stored.
            ToolsetError: it fails.
        """
        try:
            if not self.in_threads:
                return function(*arguments)
            outcome = await run_in_thread(function, *arguments)
            if outcome.error is not None:
                raise outcome.error
        except NotStoredError as error:
            raise NotRecorded from error
        except ToolbeltError as error:
            raise ToolsetError(str(error)) from error
        return cast("T", outcome.returned)

    def _examine(self, case: Case, conversation: Conversation) -> tuple[FoundTools, frozenset[str]]:
        return self.toolset.found(case, conversation), self.toolset.reach(case)

    def _sampling(self, epoch: int, renderer: ToolRenderer) -> Sampling:
        """The sampling of an epoch, with the required tool under its wire name.

        With the same seed the model might only repeat itself.
        """
        choice, seed = self.sampling.tool_choice, self.sampling.seed
        tool_id = None if choice is None or choice in TOOL_CHOICES else renderer.find_id(choice)
        name = choice if tool_id is None else renderer.offered(tool_id).name
        return replace(self.sampling, seed=None if seed is None else seed + epoch, tool_choice=name)

    def _record(
        self,
        trial: Trial,
        case: Case,
        state: TrialState,
        ending: Ending,
        score: Score,
        examined: tuple[FoundTools, frozenset[str]],
    ) -> TrialRecord:
        meter, usage = state.meter, state.meter.usage
        found, reach = examined
        surfaced = meter.surfaced | found.revealed
        return TrialRecord(
            trial=trial.number,
            arm=trial.arm,
            epoch=trial.epoch,
            case_id=case.id,
            cluster=case.cluster,
            kind=case.kind,
            finished=self.now(),
            outcome=score.outcome,
            reason=whole(score.reason),
            ending=ending,
            expects_nothing=case.expects_nothing,
            covered=is_covered(case, reach | surfaced),
            surfaced=is_covered(case, surfaced),
            rank=find_rank(case, found.searches),
            would_dispatch=score.outcome is Outcome.UNOFFERED_TOOL and _are_known(case, state.selections),
            selections=len(state.selections),
            hits=score.hits,
            made=score.made,
            wanted=score.wanted,
            called=format_names([selection.label for selection in state.selections]),
            missing=format_names(score.missing),
            surplus=format_names(score.surplus),
            arguments_checked=score.arguments_checked,
            arguments_right=score.arguments_right,
            definition_tokens=meter.first_definition_tokens,
            definition_tokens_total=sum(meter.definition_tokens),
            own_prompt_tokens=meter.own_prompt_tokens,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_read_tokens=usage.cached_read_tokens,
            cached_write_tokens=usage.cached_write_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            invalidated_tokens=meter.invalidated_tokens,
            repeated_tokens=meter.repeated_tokens,
            requests=len(meter.definition_tokens),
            retries=state.retries,
            latency_seconds=state.latency_seconds,
            cost_usd=state.cost_usd,
            exchange="" if score.outcome is Outcome.ERROR else state.exchange,
        )


@dataclass(eq=False)
class TrialState:
    """A running trial."""

    trial_runner: TrialRunner
    case: Case
    conversation: Conversation
    sampling: Sampling
    meter: Meter
    renderer: ToolRenderer
    selections: list[SelectedTool] = field(default_factory=list)
    retries: int = 0
    latency_seconds: float = 0.0
    cost_usd: float | None = 0.0
    _called: Counter[str] = field(default_factory=Counter)
    _offers: list[Offer] = field(default_factory=list)
    _replies: list[Reply] = field(default_factory=list)

    @property
    def exchange(self) -> str:
        """Digest of the requests and their answers."""
        model = self.trial_runner.client.model.name
        return digest_exchange(model, self.sampling, self.conversation, self._offers, self._replies)

    async def run(self, trial: int, earlier: Mapping[int, Attempts]) -> tuple[Ending, str]:
        """Run to the end; returns why it ended, and the failure's message if it failed."""
        steps, counted, fit_guard = 0, 0, self.trial_runner.fit_guard
        for number in range(self.trial_runner.request_limit):
            ask_toolset, toolset = self.trial_runner.ask_toolset, self.trial_runner.toolset
            offer = await ask_toolset(toolset.offer, self.case, self.conversation)
            self._offers.append(offer)
            if fit_guard is not None and (refusal := fit_guard.find_overflow(offer)) is not None:
                self.meter.turn_away(offer)
                ending = Ending.TOO_MANY_TOOLS if refusal.surplus else Ending.CONTEXT_OVERFLOW
                return ending, describe_overflow(refusal)
            own_tokens = self.meter.count(offer, self.conversation)
            try:
                reply = await self._reply(trial, number, offer, own_tokens, earlier.get(number, Attempts()))
            except Unanswered as unanswered:
                if unanswered.error.failure.is_for_good:
                    raise
                return self._fail(unanswered)
            shown, offer = offer, offer.expanded(chain.from_iterable(reply.searches))
            self.meter.expand(offer.tokens - shown.tokens)
            if is_truncated(reply, offer, self.sampling.max_tokens):
                await self._take(number, offer, replace(reply, calls=reply.calls[:-1]))  # the last one is no call
                return Ending.TRUNCATED, ""
            if not reply.calls:
                follow_up = toolset.follow_up(self.case, self.conversation, reply)
                if follow_up is not None or reply.searches:  # which the toolset has yet to be asked about
                    self.conversation = self.conversation.extended(reply, (), follow_up or "")
                if follow_up is None:
                    return Ending.NO_CALL, ""
            elif await self._take(number, offer, reply):
                before = counted
                counted = max(before, self.trial_runner.scorer.count_calls(self.case, self.selections))
                steps += counted > before
                if steps >= self.case.steps:
                    return Ending.STEPS, ""
            if reply.is_last:
                return Ending.NO_CALL, ""
        return Ending.REQUEST_LIMIT, ""

    def _fail(self, unanswered: Unanswered) -> tuple[Ending, str]:
        error = unanswered.error
        self._book(unanswered.earlier)
        if error.failure in (Failure.REFUSED, Failure.BROKEN_CALL) or isinstance(
            error, ReplyFault
        ):  # an answer, with tokens of its own
            self.meter.usages.append(error.usage)
            self.latency_seconds += error.latency_seconds
        if isinstance(error, ReplyFault):
            return Ending(error.failure), str(error)
        return _ENDINGS.get(error.failure, Ending.ERROR), str(error)

    async def _reply(self, trial: int, number: int, offer: Offer, own_tokens: int, before: Attempts) -> Reply:
        if before.reply is None:
            conversation = self.conversation
            request = Request(
                *(conversation.to_messages(), offer, self.sampling, conversation.epoch, self.case.id, number)
            )
            reply, attempts = await self.trial_runner.client.ask(
                request, trial, number, earlier=before, own_tokens=own_tokens, is_opening=number == 0
            )
        else:
            reply, attempts = before.reply, before
        self._book(attempts)
        self.latency_seconds += reply.latency_seconds
        self.meter.usages.append(reply.usage)
        self._replies.append(reply)
        return reply

    def _book(self, attempts: Attempts) -> None:
        self.retries += attempts.attempts - 1
        self.cost_usd = plus_cost(self.cost_usd, attempts.cost_usd)

    async def _take(self, number: int, offer: Offer, reply: Reply) -> bool:
        """Answer the calls of a reply; returns whether any of them is a selection."""
        runner = self.trial_runner
        results = await runner.ask_toolset(runner.toolset.answer, self.case, self.conversation, reply.calls)
        answers = [
            self._select(number, offer, call) if answer is None else answer
            for call, answer in zip(reply.calls, results, strict=True)
        ]
        self.conversation = self.conversation.extended(reply, tuple(answers))
        return None in results

    def _select(self, number: int, offer: Offer, call: ToolUse) -> str:
        passed_on = self.trial_runner.toolset.passed_on(self.case, call)
        if passed_on is not None:  # through a meta-tool, which runs whatever the case has
            call, tool_id = passed_on, self.renderer.find_id(passed_on.name)
            was_offered = tool_id is not None and (self.case.offered is None or tool_id in self.case.offered)
        else:
            # A tool is called by the name it was offered under; under any other, no dispatcher would find it.
            offered = offer.by_name.get(call.name)
            tool_id = self.renderer.find_id(call.name) if offered is None else offered.tool.id
            was_offered = offered is not None
        self.selections.append(SelectedTool(number, call.name, tool_id, was_offered, call.arguments))
        if tool_id is None:
            return json.dumps({"error": f"There is no tool named {call.name}."})
        results = self.case.results.get(tool_id, ())
        turn = self._called[tool_id]
        self._called[tool_id] += 1
        return results[min(turn, len(results) - 1)] if results else ACKNOWLEDGEMENT


def _are_known(case: Case, selections: Sequence[SelectedTool]) -> bool:
    """Whether a dispatcher that only checks that a tool exists (rule T4) would have run every call."""
    return all(
        selection.tool_id is not None and (case.offered is None or selection.tool_id in case.offered)
        for selection in selections
    )
