"""The engine of one process: runs trials here, several at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import Any

from toolbelt.evals.running.client import CapReached, NotRecorded, Unanswered
from toolbelt.evals.running.plan import Plan, Trial
from toolbelt.evals.running.records import Done, TrialRecord
from toolbelt.evals.running.reply_faults import CHECKED_TOKENS
from toolbelt.evals.running.runner import CaseSource, RunWatcher
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.running.trial import TrialRunner
from toolbelt.evals.scoring.outcome import Ending, Outcome

CASES_AT_ONCE = 32
"""Cases that are stored in one transaction; fewer than a dataset holds after reading."""
ERRORS_IN_A_ROW = 20
"""Consecutive trials of a model that may end with an error before the model is left out; more with more concurrency."""
FAULTY_TRIALS = 5
"""Trials of a model without an answer by one who saw the tools, none between them with one, before it is left out."""


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


@dataclass(eq=False)
class ProcessEngine:
    """Runs trials in this process.

    Attributes:
        plan: What is to be run.
        run: Its id in the store.
        store: Gets its trials.
        cases: The cases.
        trial_runners: One an arm.
        watcher: Receives finished trials.
        max_concurrency: Trials under way at once.
        given_up: Models that are not asked any more.
        is_capped: Whether a cap was reached.
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
    given_up: set[str] = field(default_factory=set)
    is_capped: bool = False
    reasons: list[str] = field(default_factory=list)
    not_recorded: int = 0
    _errors: Counter[str] = field(default_factory=Counter)
    _faults: dict[str, Counter[str]] = field(default_factory=dict)
    _kept: bytearray = field(init=False)
    _coming: Iterator[int] = field(init=False)
    _comparable: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        self._kept, self._coming = bytearray(self.plan.cases), chain.from_iterable(self.cases.rounds)
        fixed = {arm: self.plan.arms[arm].model for arm, each in enumerate(self.trial_runners) if each.toolset.is_fixed}
        models = Counter(fixed.values())
        self._comparable = frozenset(arm for arm, model in fixed.items() if models[model] > 1)

    async def ask(self, positions: Sequence[int], done: Done) -> None:
        """Run the trials of the cases at these positions.

        Raises:
            StorageError: a trial could not be stored; the trials stored before remain.
        """
        unfinished = self.store.unfinished(self.run)
        left = self._left(positions, done)
        await run_workers(self._worker(left, unfinished) for _ in range(self.max_concurrency))

    async def close(self) -> None:
        """Close the models."""
        for model in {id(each.client.model): each.client.model for each in self.trial_runners}.values():
            await model.close()

    def _left(
        self, positions: Sequence[int], done: Collection[int]
    ) -> Iterator[tuple[TrialRecord | None, list[Trial]]]:
        """What is left, trials that send one model the same requests together, after what another had for an answer.

        The first of them asks for all, unless one was asked before.
        """
        for _, of_case in groupby(self.plan.trials((), positions), key=attrgetter("epoch", "case")):
            same: dict[object, list[Trial]] = {}
            trials = list(of_case)
            if all(trial.number in done for trial in trials):
                continue
            for trial in trials:
                same.setdefault(self._requests_key(trial), []).append(trial)
            for trials in same.values():
                left = [trial for trial in trials if trial.number not in done]
                if self.is_capped:
                    return
                if left and self.plan.arms[left[0].arm].model not in self.given_up:
                    yield self._find_asked(trials, done) if len(trials) > len(left) else None, left

    def _requests_key(self, trial: Trial) -> object:
        """Equal for trials of a case and epoch that send the same requests; its own for one that may not."""
        if trial.arm not in self._comparable:
            return trial.number
        key = self.trial_runners[trial.arm].find_requests_key(trial, self.cases.case(trial.case))
        return trial.number if key is None else (self.plan.arms[trial.arm].model, key)

    def _find_asked(self, trials: Iterable[Trial], done: Collection[int]) -> TrialRecord | None:
        """The first of the trials that asked, and had an answer."""
        finished = (self.store.find_trial(self.run, trial.number) for trial in trials if trial.number in done)
        asked = (each for each in finished if each and each.same_as is None and each.outcome != Outcome.ERROR)
        return next(asked, None)

    async def _worker(self, left: Iterator[tuple[TrialRecord | None, list[Trial]]], unfinished: set[int]) -> None:
        for asked, trials in left:
            if asked is not None:
                await self._share(asked, trials)
                continue
            trial = trials[0]
            earlier = self.store.find_earlier(self.run, trial.number) if trial.number in unfinished else None
            self._keep_cases(trial.case)
            case = self.cases.case(trial.case)
            try:
                record = await self.trial_runners[trial.arm].run(trial, case, earlier)
            except CapReached as reached:
                if not self.is_capped:  # of many at once, the first reports it
                    self._add_reason(str(reached))
                self.is_capped = True
                return
            except NotRecorded:
                self.not_recorded += len(trials)
                await asyncio.sleep(0)
                continue
            except Unanswered as unanswered:
                model = self.plan.arms[trial.arm].model
                self.given_up.add(model)
                self._add_reason(f"{model}: {unanswered}")
                continue
            self._note_errors(record)
            self._note_faults(record)
            await self._share(record, trials[1:], record)

    async def _share(self, asked: TrialRecord, others: Iterable[Trial], *new: TrialRecord) -> None:
        """Store what has ended: those that are new, and others with the same requests, so the same answers."""
        same = [replace(asked, trial=each.number, arm=each.arm, same_as=asked.trial) for each in others]
        await self.store.add_trial(self.run, *new, *same)  # others get a turn here, even where no model is waited for
        for record in (*new, *same):
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

    def _note_errors(self, record: TrialRecord) -> None:
        """Leave out a model whose requests only fail, because every trial would wait for a server that is down."""
        model = self.plan.arms[record.arm].model
        if record.outcome != Outcome.ERROR:
            self._errors[model] = 0
            return
        self._errors[model] += 1
        if self._errors[model] == max(ERRORS_IN_A_ROW, 2 * self.max_concurrency):
            self.given_up.add(model)
            self._add_reason(f"{model}: {self._errors[model]} trials in a row failed, the last by {record.reason}")

    def _note_faults(self, record: TrialRecord) -> None:
        """Leave out a model whose server answers without showing what the model chose (rules E4, V2).

        An answer over few tools shows that the server answers, but not that it sees tools; one without a call, that it
        sees them, but not that it reads calls; a call, that it does both.
        """
        model = self.plan.arms[record.arm].model
        faults = self._faults.setdefault(model, Counter())
        if Ending(record.ending).is_server_fault:
            faults[record.ending] += 1
            if faults.total() == FAULTY_TRIALS:
                self.given_up.add(model)
                self._add_reason(f"{model}: stopped after {FAULTY_TRIALS} trials: {record.reason}")
        elif record.selections:
            faults.clear()
        elif Outcome(record.outcome).is_scored:
            del faults[Ending.BROKEN_ANSWER]
            if record.definition_tokens > CHECKED_TOKENS and record.prompt_tokens is not None:
                del faults[Ending.TOOLS_NOT_SEEN]  # all of a long prompt was counted

    def _add_reason(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)
