"""An execution of a run, from its first trial to its end, by whichever engine runs the trials."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, cast

from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.records import Done, TrialRecord
from toolbelt.evals.running.store import RunStore
from toolbelt.text import plural

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


class Engine(Protocol):
    """Runs the trials of a plan: those of this process, or workers elsewhere.

    Attributes:
        reasons: Why the run cannot be finished now, in words; empty as long as it can.
        not_recorded: Trials that were left, as nothing may be asked and a response of theirs was not recorded.
    """

    reasons: list[str]
    not_recorded: int

    async def ask(self, positions: Sequence[int], done: Done) -> None:
        """Run the trials of the cases at these positions and store them, until none is left that can be run.

        Args:
            positions: In order; no case is in two calls.
            done: Numbers of the trials that were finished before.
        """
        ...

    async def close(self) -> None:
        """Close what was opened for it."""
        ...


@dataclass(eq=False)
class Runner:
    """Runs the unfinished trials of a plan, round by round.

    Attributes:
        plan: What is to be run.
        run: Its id in the store.
        store: Gets its trials.
        cases: The cases.
        engine: Runs the trials.
        is_decided: Asked after each round, by its number from 0, whether the others are not needed.
        done_before: Numbers of trials that are finished elsewhere.
    """

    plan: Plan
    run: str
    store: RunStore
    cases: CaseSource
    engine: Engine
    is_decided: Callable[[int], bool] = lambda _: False
    done_before: Collection[int] = ()
    _execution: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
    _is_interrupted: bool = False

    @property
    def reasons(self) -> list[str]:
        """Why the run cannot be finished now, in words."""
        left = self.engine.not_recorded
        return [*self.engine.reasons, *([f"not recorded, so unscored: {plural(left, 'trial')}"] if left else ())]

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
        done = self.store.done(self.run, self.plan.numbers)
        for trial in self.done_before:
            done.add(trial)
        for number, positions in enumerate(self.cases.rounds):
            await self.engine.ask(positions, done)
            if self.engine.reasons or self.is_decided(number):
                break
        return RunEnd.INCOMPLETE if self.reasons else RunEnd.FINISHED


def run_to_end(runner: Runner) -> RunEnd:
    """Run a plan in this process, and record in the store how it ended.

    Raises:
        KeyboardInterrupt: by the user; the run can be resumed.
        ToolbeltError: another process works on it, or the disk would not.
    """
    with runner.store.locks.claim(runner.run):
        runner.store.set_status(runner.run, "running")
        try:
            with _fewer_collections():
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
def _fewer_collections() -> Iterator[None]:
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
        await runner.engine.close()


def _hear(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle an exception that no task is left to receive: a second Ctrl-C needs no traceback."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)
