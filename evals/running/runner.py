"""Runs the trials of a plan, several at once."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, islice
from typing import Any, Protocol, cast

from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.running.client import CapReached, NotRecorded, Unanswered
from toolbelt.evals.running.plan import Plan, Trial
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.running.reply_faults import CHECKED_TOKENS
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.running.trial import TrialRunner
from toolbelt.evals.scoring.outcome import Ending, Outcome
from toolbelt.text import plural


async def run_workers(workers: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run workers until all have ended; the first that raises, or a cancellation, ends the others before it is heard.

    Raises:
        Exception: what the first of them raised.
    """
    tasks = [asyncio.create_task(worker) for worker in workers]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


CASES_AT_ONCE = 32
"""Cases that are stored in one transaction; fewer than a dataset holds after reading."""
ERRORS_IN_A_ROW = 20
"""Consecutive trials of a model that may end with an error before the model is left out; more with more concurrency."""
FAULTY_TRIALS = 5
"""Trials of a model without an answer by one who saw the tools, none between them with one, before it is left out."""

_COLLECT_EVERY = 50_000
"""Objects made and not freed after which the garbage collector looks at the youngest; a trial leaves some hundreds."""


class RunEnd(StrEnum):
    """How an execution of a run ended."""

    FINISHED = "finished"
    INCOMPLETE = "incomplete"
    INTERRUPTED = "interrupted"


class CaseSource(Protocol):
    """Gives the cases of a plan by their position."""

    @property
    def rounds(self) -> Sequence[Sequence[int]]:
        """Positions of the cases that are asked, in order, by round; most runs have one."""
        ...

    def case(self, index: int) -> Case:
        """The case at that position."""
        ...


class RunWatcher(Protocol):
    """Gets every trial that was stored."""

    def finished(self, record: TrialRecord) -> None:
        """A trial has ended and is stored."""
        ...


@dataclass(eq=False)
class Runner:
    """Runs the unfinished trials of a plan.

    Attributes:
        plan: What is to be run.
        run: Its id in the store.
        store: Gets its trials.
        cases: The cases.
        trial_runners: One an arm.
        watcher: Receives finished trials and why the run stops.
        max_concurrency: Trials under way at once.
        is_decided: Asked after each round, by its number from 0, whether the others are not needed.
        reasons: Why the run cannot be finished now, in words.
        not_recorded: Trials that were left, as nothing may be asked and a response of theirs was not recorded.
    """

    plan: Plan
    run: str
    store: RunStore
    cases: CaseSource
    trial_runners: Sequence[TrialRunner]
    watcher: RunWatcher
    max_concurrency: int = 8
    is_decided: Callable[[int], bool] = lambda _: False
    reasons: list[str] = field(default_factory=list)
    not_recorded: int = 0
    _given_up: set[str] = field(default_factory=set)
    _errors: Counter[str] = field(default_factory=Counter)
    _faults: dict[str, Counter[str]] = field(default_factory=dict)
    _is_capped: bool = False
    _kept: bytearray = field(init=False)
    _coming: Iterator[int] = field(init=False)
    _execution: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
    _is_interrupted: bool = False

    def __post_init__(self) -> None:
        self._kept, self._coming = bytearray(self.plan.cases), chain.from_iterable(self.cases.rounds)

    def interrupt(self) -> None:
        """End the execution as Ctrl-C does; from any thread, before or while it is running."""
        self._is_interrupted = True
        if self._execution is not None:
            loop, task = self._execution
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(task.cancel)

    async def work(self) -> RunEnd:
        """Run until nothing is left that can be.

        Returns:
            `finished` or `incomplete`, the latter with `reasons`.

        Raises:
            StorageError: a trial could not be stored; the trials stored before remain.
        """
        self._execution = (asyncio.get_running_loop(), cast("asyncio.Task[Any]", asyncio.current_task()))
        if self._is_interrupted:
            raise asyncio.CancelledError
        unfinished = self.store.unfinished(self.run)
        done = self.store.done(self.run, self.plan.numbers)
        for number, positions in enumerate(self.cases.rounds):
            left = self._left(positions, done)
            await run_workers(self._worker(left, unfinished) for _ in range(self.max_concurrency))
            if self.reasons or self.is_decided(number):
                break
        if self.not_recorded:
            self._add_reason(f"not recorded, so unscored: {plural(self.not_recorded, 'trial')}")
        return RunEnd.INCOMPLETE if self.reasons else RunEnd.FINISHED

    def _left(self, positions: Sequence[int], done: Collection[int]) -> Iterator[Trial]:
        for trial in self.plan.trials(done, positions):
            if self._is_capped:
                return
            if self.plan.arms[trial.arm].model not in self._given_up:
                yield trial

    async def _worker(self, left: Iterator[Trial], unfinished: set[int]) -> None:
        for trial in left:
            earlier = self.store.find_earlier(self.run, trial.number) if trial.number in unfinished else None
            self._keep_cases(trial.case)
            case = self.cases.case(trial.case)
            try:
                record = await self.trial_runners[trial.arm].run(trial, case, earlier)
            except CapReached as reached:
                if not self._is_capped:  # of many at once, the first reports it
                    self._add_reason(str(reached))
                self._is_capped = True
                return
            except NotRecorded:
                self.not_recorded += 1
                await asyncio.sleep(0)
                continue
            except Unanswered as unanswered:
                model = self.plan.arms[trial.arm].model
                self._given_up.add(model)
                self._add_reason(f"{model}: {unanswered}")
                continue
            await self.store.add_trial(self.run, record)  # others get a turn here, even where no model is waited for
            self._mind_errors(record)
            self._mind_faults(record)
            self.watcher.finished(record)

    def _keep_cases(self, position: int) -> None:
        """Store a case before its first trial, and the next ones with it; trials begin in the order of their cases."""
        if self._kept[position]:
            return
        for passed in self._coming:  # those before were stored by an earlier execution
            self._kept[passed] = True
            if passed == position:
                break
        coming = [position, *islice(self._coming, CASES_AT_ONCE - 1)]
        for each in coming:
            self._kept[each] = True
        self.store.add_cases(self.run, map(self.cases.case, coming))

    def _mind_errors(self, record: TrialRecord) -> None:
        """Leave out a model whose requests only fail, because every trial would wait for a server that is down."""
        model = self.plan.arms[record.arm].model
        if record.outcome != Outcome.ERROR:
            self._errors[model] = 0
            return
        self._errors[model] += 1
        if self._errors[model] == max(ERRORS_IN_A_ROW, 2 * self.max_concurrency):
            self._given_up.add(model)
            self._add_reason(f"{model}: {self._errors[model]} trials in a row failed, the last by {record.reason}")

    def _mind_faults(self, record: TrialRecord) -> None:
        """Leave out a model whose server answers without having seen what was asked (rule E4).

        An answer over few tools shows that the server answers, but not that it sees tools.
        """
        model = self.plan.arms[record.arm].model
        faults = self._faults.setdefault(model, Counter())
        if record.ending in (Ending.BROKEN_ANSWER, Ending.TOOLS_NOT_SEEN):
            faults[record.ending] += 1
            if faults.total() == FAULTY_TRIALS:
                self._given_up.add(model)
                self._add_reason(f"{model}: stopped after {FAULTY_TRIALS} trials: {record.reason}")
        elif Outcome(record.outcome).is_scored:
            del faults[Ending.BROKEN_ANSWER]
            if _shows_sight(record):
                faults.clear()

    def _add_reason(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)


def _shows_sight(record: TrialRecord) -> bool:
    """Whether a trial shows that the server sees tools: one was called, or all of a long prompt was counted."""
    is_checked = record.definition_tokens > CHECKED_TOKENS and record.prompt_tokens is not None
    return is_checked or record.selections > 0


def run_to_end(runner: Runner) -> RunEnd:
    """Run a plan in this process, and record in the store how it ended.

    Raises:
        KeyboardInterrupt: by the user; the run can be resumed.
        ToolbeltError: another process works on it, or the disk would not.
    """
    with runner.store.locks.claim(runner.run):
        runner.store.set_status(runner.run, "running")
        try:
            with _calm_collector():
                end = asyncio.run(_work(runner))
        except (KeyboardInterrupt, asyncio.CancelledError) as error:
            runner.store.set_status(runner.run, RunEnd.INTERRUPTED, "interrupted by the user")
            raise KeyboardInterrupt from error
        except Exception as error:
            with contextlib.suppress(ToolbeltError):  # the disk that refused a trial may refuse this, too
                runner.store.set_status(runner.run, RunEnd.INCOMPLETE, str(error))
            raise
        runner.store.set_status(runner.run, end, "; ".join(runner.reasons))
        return end


@contextlib.contextmanager
def _calm_collector() -> Iterator[None]:
    """Keep the garbage collector from visiting litellm's hundred thousand objects again and again.

    That would take a tenth of a run. Objects made in a run are still collected, only less often.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def _work(runner: Runner) -> RunEnd:
    asyncio.get_running_loop().set_exception_handler(_hear)
    try:
        return await runner.work()
    finally:
        for model in {
            id(trial_runner.client.model): trial_runner.client.model for trial_runner in runner.trial_runners
        }.values():
            await model.close()


def _hear(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle an exception that no task is left to receive: a second Ctrl-C needs no traceback."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)
