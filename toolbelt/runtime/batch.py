"""The calls of a batch, run at once: each in a task or a thread, with its own time limit (rules R3, R7).

Nothing in this process can end an async function that blocks the event loop, or survive `os._exit` and a crash. The
watchdog sees to it that no other call is charged for the former; such tools can be isolated.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import read_availability
from toolbelt.runtime.output_capture import CapturedOutput
from toolbelt.runtime.reducers.reducer import ReduceInfo, ToolResultReducer
from toolbelt.runtime.results import (
    FailureCode,
    ToolResult,
    close_unawaited,
    describe_error,
    limit_result,
    make_result,
)
from toolbelt.runtime.threads import THREADS, FunctionOutcome, call_soon, run_in_thread
from toolbelt.runtime.time_limits import (
    GRACE_SECONDS,
    CoroutineHandle,
    abandon_task,
    is_being_cancelled,
    start_time_limits,
)
from toolbelt.runtime.watchdog import CURRENT_CALL, WATCHDOG, LoopClock

if TYPE_CHECKING:
    from toolbelt.runtime.isolation import IsolatedCall

LENIENCY_SECONDS = 0.5
"""How much later a batch may end because its loop was blocked."""
_TICK_SECONDS = 0.001
"""A loop may call back that much too early."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class PlannedCall:
    """A call that passed every check.

    Attributes:
        tool: The tool.
        arguments: The tool's own copy, which it may change.
        frozen_arguments: The arguments as the model gave them, for the reducer; empty where there is none.
        context: What the tool gets.
        max_chars: The size limit of the result.
        timeout_seconds: The time limit, from the start of the tool; `None` for no limit.
        reducer: Shortens the results of the tool; `None` if there is none.
        prepare: Runs before the tool: gives its context, or the result where the tool must not run. `None` for none.
        question: Whether the tool is available, where it has not answered yet; waiting for it takes of the call's time.
        known: The result, where the tool is not run even if it is available.
    """

    tool: ExecutableTool
    arguments: dict[str, Any]
    frozen_arguments: FrozenDict
    context: ToolContext
    max_chars: int
    timeout_seconds: float | None
    reducer: ToolResultReducer | None
    prepare: Callable[[], Awaitable[ToolContext | ToolResult]] | None
    question: Future[FunctionOutcome] | None = None
    known: ToolResult | None = None


async def run_batch(planned: Sequence[PlannedCall | ToolResult]) -> list[ToolResult]:
    """Run all calls at once, and wait for them.

    Args:
        planned: The calls, in order; a call that failed before it began is its result.

    Returns:
        A result for each, in order.

    Raises:
        asyncio.CancelledError: the batch was cancelled; its tasks are cancelled too, its threads are left alone.
    """
    started = [each for each in planned if isinstance(each, PlannedCall)]
    clock = WATCHDOG.watch()
    longest = max([each.timeout_seconds or 0.0 for each in started], default=0.0)
    loop = asyncio.get_running_loop()
    start = Start(clock, loop.time(), clock.blocked_seconds, longest)
    calls = [RunningCall(each, loop, start) for each in started]
    timers = start_time_limits(call for call in calls if call.is_prepared)
    for call in calls:
        call.start()
    try:
        for call in reversed(calls):  # most end in order: then the first wait is the only one
            await call.result
    except BaseException as error:
        tasks = [task for call in calls if (task := call.stop()) is not None]
        if tasks and isinstance(error, asyncio.CancelledError):
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)
        raise
    finally:
        clock.users -= 1
        for timer in timers:
            timer.cancel()
    results = (call.result.result() for call in calls)
    return [each if isinstance(each, ToolResult) else next(results) for each in planned]


class Start(NamedTuple):
    """From where the time of calls counts.

    Attributes:
        clock: Of the loop.
        at, blocked_seconds: The time, and how long the loop had been blocked by then.
        longest_seconds: The longest time limit in the batch.
    """

    clock: LoopClock
    at: float
    blocked_seconds: float
    longest_seconds: float


class RunningCall:
    """One call. An async function runs in a task on the loop, a sync one in a thread.

    Attributes:
        result: The first result; later ones are ignored.
        limit_seconds: The time limit of the tool; `None` for no limit.
        is_prepared: Whether the tool starts at once, without preparation.
        blocked_seconds: Time for which the call blocked the loop.
    """

    __slots__ = (
        "_handle",
        "_is_stopped",
        "_isolated",
        "_loop",
        "_output",
        "_planned",
        "_start",
        "_task",
        "_timers",
        "blocked_seconds",
        "is_prepared",
        "limit_seconds",
        "result",
    )

    def __init__(self, planned: PlannedCall, loop: asyncio.AbstractEventLoop, start: Start) -> None:
        self._planned = planned
        self._loop = loop
        self._start = start
        self._output = CapturedOutput()
        self._handle = CoroutineHandle()
        self._task: asyncio.Task[None] | None = None
        self._timers: Iterable[asyncio.TimerHandle] = ()
        self._is_stopped = False
        self._isolated: IsolatedCall | None = None
        self.result: asyncio.Future[ToolResult] = loop.create_future()
        self.limit_seconds = planned.timeout_seconds
        self.is_prepared = planned.prepare is None and planned.question is None
        self.blocked_seconds = 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time that the call has left; `None` for no limit.

        The time for which others blocked the loop is given back. Where that is more than `LENIENCY_SECONDS` beyond the
        longest limit of the batch, and beyond the end of the blocking, what is more is lost: a batch has to end.
        """
        if self.limit_seconds is None:
            return None
        now = self._loop.time()
        left = self.limit_seconds - (now - self._start.at)
        others = self._start.clock.blocked_seconds - self._start.blocked_seconds - self.blocked_seconds
        if others <= 0:
            return left
        latest = max(self._start.at + self._start.longest_seconds, self._start.clock.freed_at) + LENIENCY_SECONDS
        return min(left + others, latest - now)

    def start(self) -> None:
        """Start the preparation, or the tool itself."""
        if self.is_prepared:
            self._start_tool()
        else:
            self._task = self._loop.create_task(self._prepare())

    def expire(self) -> None:
        """Give the call up because its time is over, unless it has some left because the loop was blocked."""
        if self.result.done():
            return
        if (left := self.seconds_left) is not None and left > _TICK_SECONDS:
            self._timers = (self._loop.call_later(left, self.expire),)
            return
        self._set_result(self._timed_out())
        self.stop()

    def stop(self) -> asyncio.Task[None] | None:
        """Cancel the call; returns its task if that is still to end. A thread is left alone."""
        self._is_stopped = True
        if self._isolated is not None:
            self._isolated.kill()
        for timer in self._timers:
            timer.cancel()
        if self._task is None:
            return None
        abandon_task(self._task, self._handle)
        return None if self._task.done() else self._task

    # On the loop

    async def _prepare(self) -> None:
        planned = self._planned
        prepared: ToolContext | ToolResult = planned.context
        try:
            if planned.question is not None:
                prepared = await self._ask(planned.question)
            if planned.prepare is not None and not isinstance(prepared, ToolResult):
                prepared = await planned.prepare()
        except asyncio.CancelledError:
            self._set_result(self._failed("it was cancelled"))
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  whatever it is, it costs only this call (rule R7)
            prepared = self._failure_of(error)
        if isinstance(prepared, ToolResult):
            self._set_result(self._finish(prepared, reduce=False))
        else:
            planned.context = prepared
            self._start_time()
            self._start_tool()

    def _start_time(self) -> None:
        self._start = self._start._replace(at=self._loop.time(), blocked_seconds=self._start.clock.blocked_seconds)
        self._timers = start_time_limits((self,))

    async def _ask(self, question: Future[FunctionOutcome]) -> ToolContext | ToolResult:
        """The context if the tool is available, else why it is not; the time that takes is the call's."""
        planned = self._planned
        self._start_time()
        outcome = await asyncio.wrap_future(question)
        for timer in self._timers:
            timer.cancel()
        self.limit_seconds = self.seconds_left
        if (refusal := read_availability(planned.tool, outcome)) is not None:
            return ToolResult.failure(FailureCode.NOT_AVAILABLE, str(refusal))
        return planned.context if planned.known is None else planned.known

    def _start_tool(self) -> None:
        planned, tool = self._planned, self._planned.tool
        if tool.context_parameter is not None:
            planned.arguments[tool.context_parameter] = planned.context
        if tool.isolated:
            from toolbelt.runtime.isolation import IsolatedCall  # and with it multiprocessing

            self._isolated = IsolatedCall(tool.name, tool.function, planned.arguments)
        elif tool.is_async:
            self._task = self._loop.create_task(self._run_on_loop(None))
            return
        context = copy_context()
        try:
            THREADS.start(lambda: context.run(self._run_in_thread))
        except RuntimeError as error:
            self._set_result(self._finish(self._failure_of(error), reduce=False))

    async def _run_on_loop(self, awaitable: Awaitable[Any] | None) -> None:
        """Run an async function, or await what a sync one returned."""
        tool = self._planned.tool
        CURRENT_CALL.set(self)
        try:
            with self._output:
                if awaitable is None:
                    awaitable = tool.function(**self._planned.arguments)
                result = make_result(tool.name, await self._handle.hold(awaitable))
        except KeyboardInterrupt:
            raise  # the user's: it is raised in the thread of the loop
        except asyncio.CancelledError as error:
            if is_being_cancelled():
                self._set_result(self._failed("it was cancelled"))
                raise
            result = self._failure_of(error)
        except BaseException as error:  # noqa: BLE001  someone else's function: SystemExit, too, costs only this call (rule R7)
            result = self._failure_of(error)
        if self._planned.reducer is None:
            self._set_result(self._finish(result))
        else:
            reduced = None
            try:
                reduced = (await run_in_thread(self._finish, result)).returned
            finally:  # also where it was cancelled while the reducer ran: the tool has returned
                self._set_result(reduced or self._finish(result, reduce=False))
        self._task = None  # the context of the task leads back to this call: neither would be freed before the next gc

    def _await_returned(self, awaitable: Awaitable[Any]) -> None:
        if self._is_stopped:
            close_unawaited(awaitable)
        else:
            self._task = self._loop.create_task(self._run_on_loop(awaitable))

    def _set_result(self, result: ToolResult) -> None:
        for timer in self._timers:
            timer.cancel()
        if self.result.done():
            return
        if self.blocked_seconds and (left := self.seconds_left) is not None and left <= 0:
            result = self._timed_out()  # it blocked the loop beyond its limit, so that no timer could run
        self.result.set_result(result)

    # In a thread

    def _run_in_thread(self) -> None:
        if self._is_stopped:  # while it waited for a thread
            return
        tool = self._planned.tool
        try:
            with self._output:
                if self._isolated is not None:
                    returned = self._isolated.run()
                    self._output.write(returned.printed)
                else:
                    returned = tool.function(**self._planned.arguments)
                result = None if inspect.isawaitable(returned) else make_result(tool.name, returned)
            if result is None:
                if not call_soon(self._loop, self._await_returned, returned):
                    close_unawaited(returned)
                return
            result = self._finish(result)
        except BaseException as error:  # noqa: BLE001  someone else's function: SystemExit, too, costs only this call (rule R7)
            result = self._finish(self._failure_of(error))
        call_soon(self._loop, self._set_result, result)

    # In either

    def _timed_out(self) -> ToolResult:
        tool = self._planned.tool
        blocked = f" It blocked the event loop for {self.blocked_seconds:.1f} s." if self.blocked_seconds else ""
        note = "" if tool.isolated or tool.is_async else " It may still be at work."
        limit = f"{self._planned.timeout_seconds:g} s"
        message = f"Tool {tool.name} took longer than {limit} and was given up.{blocked}{note}"
        return self._finish(ToolResult.failure(FailureCode.TIMEOUT, message), reduce=False)

    def _failure_of(self, error: BaseException) -> ToolResult:
        tool = self._planned.tool
        _log.debug("tool %s raised", tool.name, exc_info=error)
        if type(error) is TypeError and (mismatch := _find_mismatch(tool, self._planned.arguments)) is not None:
            message = f"The arguments of {tool.name} cannot be used: {mismatch}."
            return ToolResult.failure(FailureCode.INPUT_INVALID, message)
        return self._failed(describe_error(error))

    def _failed(self, reason: str) -> ToolResult:
        return ToolResult.failure(FailureCode.EXECUTION_FAILED, f"Tool {self._planned.tool.name} failed: {reason}")

    def _finish(self, result: ToolResult, *, reduce: bool = True) -> ToolResult:
        """The result with what the tool printed, reduced, and cut to size."""
        planned = self._planned
        if printed := self._output.text:
            is_empty = result.ok and not result.value and result.structured is None
            value = f"[printed]\n{printed}" if is_empty else result.value
            result = replace(result, printed=printed, value=value)
        if reduce and planned.reducer is not None:
            result = _reduce(planned.reducer, result, ReduceInfo(planned.frozen_arguments, planned.context.turn_count))
        return limit_result(result, planned.max_chars)


def _reduce(reducer: ToolResultReducer, result: ToolResult, info: ReduceInfo) -> ToolResult:
    """The result with the shorter texts of the reducer; unchanged where the reducer gives no usable ones."""
    try:
        reduced = reducer.reduce(result, info)
        if not isinstance(reduced, ToolResult) or reduced.ok is not result.ok or not isinstance(reduced.value, str):
            return result
        value = str.__str__(reduced.value)
        if result.ok:
            return replace(result, value=value)  # only the text: `structured` is the program's
        if isinstance(reduced.error, str):
            return replace(result, value=value, error=str.__str__(reduced.error))
    except BaseException:  # noqa: BLE001  someone else's reducer: a longer result is better than none (rule R5)
        _log.debug("the reducer of a tool raised", exc_info=True)
    return result


def _find_mismatch(tool: ExecutableTool, arguments: dict[str, Any]) -> str | None:
    """Why the function cannot be called with arguments that the schema accepts; `None` where it can."""
    try:
        inspect.signature(tool.function).bind(**arguments)
    except TypeError as error:
        return str(error)
    except ValueError:  # a function written in C that does not state its parameters
        return None
    return None
