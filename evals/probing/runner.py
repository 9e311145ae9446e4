"""Runs a probe: checks run concurrently, and each is stored when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.errors import ToolbeltError
from toolbelt.evals.models.model import Model
from toolbelt.evals.probing.check_scripts import make_scripts
from toolbelt.evals.probing.checks import FIRST, MAX_TOKENS, ProbePlan
from toolbelt.evals.probing.costs import Tally
from toolbelt.evals.probing.probe_store import ProbeStore, find_open_checks
from toolbelt.evals.probing.probe_tools import ProbeTools
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult
from toolbelt.evals.probing.script import CheckRequest, CheckScript, CheckVerdict, ReplyOrError, one_line
from toolbelt.evals.running.client import Budget, CapReached, RetryingClient, RetryPolicy, Unanswered
from toolbelt.evals.running.overflow import ModelLimits
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.pauses import PAUSE_SHOWN_SECONDS
from toolbelt.evals.running.process_engine import run_workers
from toolbelt.evals.running.records import Attempts, RequestRecord
from toolbelt.evals.running.store import RunStore
from toolbelt.providers.chat import Failure, ModelError

MAX_CONCURRENCY = 4
"""Concurrent checks. Few: small accounts have low rate limits, and a local model answers one request at a time."""
LONGEST_SENTENCE = 600
"""Most characters of the reason for an outcome."""
_UNANSWERED_IN_A_ROW = 5
"""After this many checks in a row without an answer, the probe stops: the server is down."""


class ProbeWatcher(Protocol):
    """Receives the events of a probe."""

    def checked(self, result: CheckResult) -> None:
        """A check has ended and is stored."""
        ...

    def waiting(self, seconds: float, why: str) -> None:
        """A request got no answer and is retried after a wait; `why` may hold foreign text."""
        ...


@dataclass(frozen=True)
class ProbeSettings:
    """How a probe is made.

    Attributes:
        counter: The model's own tokenizer, if it is known.
        form: Format of the counted definitions, a key of `DEFINITION_FORMATS`.
        limits: Limits of the model's window; its other limits are ignored, as the probe tests them. `None` if unknown.
        policy: How failed requests are retried.
        max_requests: Most requests, with retries and earlier sessions; `None` for no limit.
        max_cost_usd: Most cost in USD, with retries and earlier sessions; `None` for no limit.
        max_concurrency: Concurrent checks.
        max_tokens: The longest answer; `None` leaves it to the provider.
        effort: How much the model reasons; likewise.
    """

    counter: TokenCounter
    form: str = "openai"
    limits: ModelLimits | None = None
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    max_requests: int | None = None
    max_cost_usd: float | None = None
    max_concurrency: int = MAX_CONCURRENCY
    max_tokens: int | None = MAX_TOKENS
    effort: str | None = None


def run_probe(
    store: RunStore,
    plan: ProbePlan,
    model: Model,
    settings: ProbeSettings,
    *,
    fresh: bool = False,
    watcher: ProbeWatcher | None = None,
) -> ProbeResult:
    """Probe a model in this process and store the results.

    An unfinished probe of the same checks of the same model at the same place is resumed: checks that ended run again
    only if they show nothing about the model, and answered requests are not sent again.

    Args:
        store: The store of the results.
        plan: The model and the checks.
        model: The model to ask; it is closed at the end.
        settings: Counting, limits and concurrency.
        fresh: Begin a new probe even if there is an unfinished one.
        watcher: Receives the events.

    Returns:
        The result: `finished` if every check has an outcome; `incomplete`, with the reason, if some checks got no
        answer, a cap was reached, or the model cannot be asked at all.

    Raises:
        KeyboardInterrupt: the user stopped the probe; it can be resumed.
        ToolbeltError: another process probes the model at this place, or the disk failed.
    """
    probes = ProbeStore(store)
    with probes.locks.claim(probes.place_key(plan), f"of {plan.model!r}"):
        unfinished = None if fresh else probes.find_unfinished(plan)
        probe = probes.create(plan) if unfinished is None else unfinished.probe
        with probes.locks.claim(probe):
            return _run(probes, probe, plan, model, settings, watcher)


def _run(
    probes: ProbeStore,
    probe: str,
    plan: ProbePlan,
    model: Model,
    settings: ProbeSettings,
    watcher: ProbeWatcher | None,
) -> ProbeResult:
    probes.set_status(probe, "running")
    requests, cost_usd = probes.spent(probe)
    prober = Prober(
        model,
        plan.planned,
        settings,
        probes,
        probe,
        Budget(settings.max_requests, settings.max_cost_usd, requests, cost_usd),
        watcher,
    )
    try:
        reason = asyncio.run(_work(prober))
    except KeyboardInterrupt:
        probes.set_status(probe, "interrupted", "interrupted by the user")
        raise
    except Exception as error:
        with contextlib.suppress(ToolbeltError):  # the disk that refused a check may refuse this, too
            probes.set_status(probe, "incomplete", str(error))
        raise
    probes.set_status(probe, "incomplete" if reason else "finished", reason)
    return probes.get(probe)


async def _work(prober: Prober) -> str:
    asyncio.get_running_loop().set_exception_handler(_handle_exception)
    try:
        return await prober.work()
    finally:
        await prober.model.close()


def _handle_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handles exceptions that no task can receive: a second Ctrl-C needs no traceback."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


class _ForGood(Exception):  # noqa: N818  what became of a request, not a mistake
    """No other request of this model can do better."""


@dataclass(eq=False)
class Prober:
    """Runs the remaining checks of a probe.

    Attributes:
        model: The model to ask.
        planned: Keys of the checks, in order.
        settings: Counting, limits and concurrency.
        probes: Stores the results.
        probe: Id of the probe.
        budget: The limits on requests and cost.
        watcher: Receives the events.
    """

    model: Model
    planned: Sequence[str]
    settings: ProbeSettings
    probes: ProbeStore
    probe: str
    budget: Budget
    watcher: ProbeWatcher | None = None
    _pace: Pace = field(init=False)
    _reason: str = ""
    _unanswered: int = 0

    def __post_init__(self) -> None:
        self._pace = Pace(self.model.name, on_pause=self._paused)

    async def work(self) -> str:
        """Run all checks that can run.

        Returns:
            Why the probe is incomplete, in words; empty if it is complete.

        Raises:
            StorageError: a result could not be stored; earlier results are stored.
        """
        tools = ProbeTools(self.settings.counter, self.settings.form)
        scripts = make_scripts(tools)
        left = list(find_open_checks(self.probes.ended(self.probe).values(), self.planned))
        if FIRST in left:
            left.remove(FIRST)
            await self._worker(iter([FIRST]), scripts, tools)
        if self._reason:
            return self._reason
        first = self.probes.ended(self.probe).get(FIRST)
        match None if first is None else first.outcome:
            case CheckOutcome.REFUSED:
                await self._skip(left)
                return ""
            case CheckOutcome.TOOLS_NOT_SEEN | CheckOutcome.UNKNOWN:
                return self._count_open()
            case _:
                keys = iter(left)
                await run_workers(self._worker(keys, scripts, tools) for _ in range(self.settings.max_concurrency))
                return self._reason or self._count_open()

    async def _skip(self, keys: Sequence[str]) -> None:
        why = "Not asked: the API takes no tools."
        for key in keys:
            await self._keep(replace(Tally().result(key), outcome=CheckOutcome.SKIPPED, said=why))

    def _count_open(self) -> str:
        open_checks = [result for result in self.probes.ended(self.probe).values() if result.outcome.is_open]
        if not open_checks:
            return ""
        many = f"{len(open_checks)} checks stay open, the last" if len(open_checks) > 1 else "one check stays open"
        return f"{many}: {open_checks[-1].said}"

    async def _worker(self, keys: Iterator[str], scripts: Mapping[str, CheckScript], tools: ProbeTools) -> None:
        for key in keys:
            if self._reason:
                return
            try:
                result = await self._check(key, scripts[key], tools)
            except (CapReached, _ForGood) as ended:
                self._reason = self._reason or str(ended)  # of many at once, the first says it
                return
            await self._keep(result)
            self._unanswered = self._unanswered + 1 if result.outcome.is_open else 0
            if self._unanswered == _UNANSWERED_IN_A_ROW:
                self._reason = f"{self._unanswered} checks in a row stay open, the last: {result.said}"

    async def _keep(self, result: CheckResult) -> None:
        await self.probes.add_check(self.probe, result)
        if self.watcher is not None:
            self.watcher.checked(result)

    async def _check(self, key: str, script: CheckScript, tools: ProbeTools) -> CheckResult:
        """Run one check to its end.

        Raises:
            CapReached: the budget does not allow it.
            _ForGood: the model cannot be asked.
        """
        earlier = self.probes.find_earlier(self.probe, key)
        before = self.probes.ended(self.probe).get(key)
        if before is not None and before.outcome is CheckOutcome.TOOLS_NOT_SEEN:  # none of it was about the model
            earlier = {number: replace(attempts, reply=None) for number, attempts in earlier.items()}
        answers: list[ReplyOrError] = []
        tally = Tally()
        while isinstance(following := script.next_step(answers), CheckRequest):
            number = len(answers)
            own_tokens = following.offer.tokens + tools.count(following.messages)
            if (limits := self.settings.limits) is not None and not limits.has_room(own_tokens):
                following = CheckVerdict(CheckOutcome.TOO_LARGE, _describe_no_fit(limits, own_tokens))
                break
            known = earlier.get(number, Attempts())
            answer, attempts = await self._answer(key, following, number, known, own_tokens)
            if key == FIRST and not following.offer.tools and _is_for_good(answer):
                raise _ForGood(str(answer))
            tally.add(following.offer, answer, attempts)
            answers.append(answer)
        assert isinstance(following, CheckVerdict)  # noqa: S101  the loop ends by nothing else
        return replace(tally.result(key), outcome=following.outcome, said=one_line(following.said, LONGEST_SENTENCE))

    def _paused(self, pace: Pace) -> None:
        """Notify after the request that this pause may come from has: it knows what the provider says."""
        seconds = pace.pause_seconds(time.monotonic())
        if self.watcher is not None and seconds >= PAUSE_SHOWN_SECONDS:
            asyncio.get_running_loop().call_soon(self.watcher.waiting, seconds, "rate limit, nothing is sent")

    async def _answer(
        self, key: str, ask: CheckRequest, number: int, earlier: Attempts, own_tokens: int
    ) -> tuple[ReplyOrError, Attempts]:
        if earlier.reply is not None:
            return earlier.reply, earlier
        why = ""

        async def keep(record: RequestRecord) -> None:
            nonlocal why
            await self.probes.add_request(self.probe, key, record)
            why = f"{record.failure}: {record.message}"

        async def wait(seconds: float) -> None:
            if self.watcher is not None:
                self.watcher.waiting(seconds, why)
            await asyncio.sleep(seconds)

        # What took too long takes as long again.
        policy = replace(self.settings.policy, retries_timeouts=False)
        if ask.max_retries is not None:
            policy = replace(policy, max_retries=min(policy.max_retries, ask.max_retries))
        client = RetryingClient(self.model, self.budget, policy, keep, self._pace, sleep=wait)
        try:
            return await client.ask(
                ask.to_request(self.settings.max_tokens, self.settings.effort),
                0,
                number,
                earlier=earlier,
                own_tokens=own_tokens,
                is_opening=number == 0 or key == FIRST,
            )
        except Unanswered as unanswered:
            # Where a model is served from several places, `not found` may mean: none of them takes such a request.
            if _is_for_good(unanswered.error) and unanswered.error.failure is not Failure.NOT_FOUND:
                raise _ForGood(str(unanswered.error)) from None
            return unanswered.error, unanswered.earlier


def _is_for_good(answer: ReplyOrError) -> bool:
    return isinstance(answer, ModelError) and answer.failure.is_for_good


def _describe_no_fit(limits: ModelLimits, tokens: int) -> str:
    reserve = f" with {limits.output_reserve:,} kept for the answer" if limits.output_reserve else ""
    return (
        f"Not asked: its prompt of {tokens:,} tokens leaves no room in a window of {limits.context_window:,}{reserve}."
    )
