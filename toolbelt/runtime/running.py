"""Calls under way: started, timed, and cut off where they must be (rules R3, R7).

What no code in the same process can survive is beyond this, too: a tool that calls `os._exit`, one that crashes the
interpreter, and an async one that blocks the event loop. Such tools belong into a process of their own.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.asking import GRACE_SECONDS, Held, give_up, is_async, is_being_cancelled
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.printing import Printed
from toolbelt.runtime.reducers.reducer import ReduceInfo, ToolResultReducer
from toolbelt.runtime.results import FailureCode, ToolResult, cut, describe, dispose, make_encodable, render
from toolbelt.runtime.threads import THREADS, call_soon, run_in_thread

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Start:
    """Everything that is known of a call that may be made.

    Attributes:
        tool: Which is run.
        arguments: The tool's own: it may change them.
        told: The same as the model gave them, in values that cannot be changed; empty where nobody is told.
        context: What the tool gets.
        cap_chars: How long its result may be.
        seconds: How long it may take; `None` for no limit.
        reducer: Of its results; `None` if there is none.
        first: What is to be done before; gives the context to run with, or why not to run. `None` for nothing.
    """

    tool: ExecutableTool
    arguments: dict[str, Any]
    told: FrozenDict
    context: ToolContext
    cap_chars: int
    seconds: float | None
    reducer: ToolResultReducer | None
    first: Callable[[], Awaitable[ToolContext | ToolResult]] | None


class Underway:
    """The calls of a batch, all at once: a result for each number, the first that comes."""

    def __init__(self, size: int) -> None:
        self.loop = asyncio.get_running_loop()
        self._results: list[ToolResult | None] = [None] * size
        self._left = size
        self._done: asyncio.Future[None] = self.loop.create_future()
        self._running: list[Running] = []
        self._timers: list[asyncio.TimerHandle] = []
        self._beginning: dict[float, list[Running]] | None = {}
        """Calls that begin together, by how long they may take; `None` once all that begin at once have begun."""

    def start(self, number: int, start: Start) -> None:
        """Begin a call."""
        running = Running(self, number, start)
        self._running.append(running)
        running.begin()

    def limit(self, running: Running, seconds: float) -> None:
        """Give a call up after so many seconds from now. Calls that begin together share a timer, as most do."""
        group = None if self._beginning is None else self._beginning.get(seconds)
        if group is None:
            group = []
            self._timers.append(self.loop.call_later(seconds, self._expire, group))
            if self._beginning is not None:
                self._beginning[seconds] = group
        group.append(running)

    def _expire(self, group: list[Running]) -> None:
        for running in group:
            if self._results[running.number] is None:
                running.expire()

    def settle(self, number: int, result: ToolResult) -> None:
        """The result of a call; whatever comes after the first is ignored."""
        if self._results[number] is None:
            self._results[number] = result
            self._left -= 1
            if not self._left and not self._done.done():
                self._done.set_result(None)

    async def finish(self) -> list[ToolResult]:
        """Wait for all; cancelled, it cancels what runs."""
        self._beginning = None
        try:
            if self._left:
                await self._done
        except BaseException as error:
            tasks = [task for running in self._running if (task := running.stop()) is not None]
            if tasks and isinstance(error, asyncio.CancelledError):
                await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            raise
        finally:
            for timer in self._timers:
                timer.cancel()
        return [result for result in self._results if result is not None]


class Running:
    """One call. Async functions run in a task of the loop, sync ones in a thread."""

    __slots__ = ("_held", "_is_stopped", "_printed", "_start", "_task", "_underway", "number")

    def __init__(self, underway: Underway, number: int, start: Start) -> None:
        self._underway = underway
        self.number = number
        self._start = start
        self._printed = Printed()
        self._held = Held()
        self._is_stopped = False
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start what comes first, or the tool itself."""
        if self._start.first is not None:
            self._spawn(self._ask_first(self._start.first))
        else:
            self._run()

    def stop(self) -> asyncio.Task[None] | None:
        """Cancel it, and give the task that is still to end; a thread is left to itself."""
        self._is_stopped = True
        if self._task is None:
            return None
        give_up(self._task, self._held)
        return None if self._task.done() else self._task

    # On the loop

    async def _ask_first(self, first: Callable[[], Awaitable[ToolContext | ToolResult]]) -> None:
        try:
            found = await first()
        except asyncio.CancelledError:
            self._settle(self._failed("it was cancelled"))
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  whatever it is, it costs this call alone (rule R7)
            found = self._raised(error)
        if isinstance(found, ToolResult):
            self._settle(self._trim(found))
        else:
            self._start.context = found
            self._run()

    def _run(self) -> None:
        start = self._start
        if start.seconds is not None:
            self._underway.limit(self, start.seconds)
        if start.tool.context_parameter is not None:
            start.arguments[start.tool.context_parameter] = start.context
        if is_async(start.tool.function):
            self._spawn(self._follow(None))
        else:
            context = copy_context()
            try:
                THREADS.start(lambda: context.run(self._work))
            except RuntimeError as error:
                self._settle(self._trim(self._raised(error)))

    def _spawn(self, coroutine: Any) -> None:
        self._task = self._underway.loop.create_task(coroutine)

    async def _follow(self, awaitable: Awaitable[Any] | None) -> None:
        """Run an async function, or wait for what a sync one gave to wait for."""
        start = self._start
        try:
            with self._printed:
                returned = await self._held.take(
                    start.tool.function(**start.arguments) if awaitable is None else awaitable
                )
                result = render(start.tool.name, returned)
        except KeyboardInterrupt:
            raise  # the user's, as it is raised in the thread of the loop
        except asyncio.CancelledError as error:
            if is_being_cancelled():
                self._settle(self._failed("it was cancelled"))
                raise
            result = self._raised(error)
        except BaseException as error:  # noqa: BLE001  somebody's function: SystemExit, too, costs its call alone (rule R7)
            result = self._raised(error)
        if start.reducer is None or not result.ok:
            self._settle(self._trim(result))
            return
        reduced = None
        try:
            reduced = (await run_in_thread(self._trim, result)).returned
        finally:  # cancelled here, by itself for one, it has returned all the same
            self._settle(reduced or self._trim(result, reduce=False))

    def _follow_up(self, awaitable: Awaitable[Any]) -> None:
        if self._is_stopped:
            dispose(awaitable)
        else:
            self._spawn(self._follow(awaitable))

    def expire(self) -> None:
        """Give it up: the time is over."""
        start = self._start
        still = "" if is_async(start.tool.function) else " It may still be at work."
        message = f"Tool {start.tool.name} took longer than {start.seconds:g} s and was given up.{still}"
        self._settle(self._trim(ToolResult.failure(FailureCode.TIMEOUT, message)))
        self.stop()

    def _settle(self, result: ToolResult) -> None:
        self._underway.settle(self.number, result)

    # In a thread

    def _work(self) -> None:
        start, loop = self._start, self._underway.loop
        if self._is_stopped:  # while it waited for a thread
            return
        try:
            with self._printed:
                returned = start.tool.function(**start.arguments)
                rendered = None if inspect.isawaitable(returned) else render(start.tool.name, returned)
            if rendered is None:
                if not call_soon(loop, self._follow_up, returned):
                    dispose(returned)
                return
            result = self._trim(rendered)
        except BaseException as error:  # noqa: BLE001  somebody's function: SystemExit, too, costs its call alone (rule R7)
            result = self._trim(self._raised(error), reduce=False)
        call_soon(loop, self._settle, result)

    # Anywhere

    def _raised(self, error: BaseException) -> ToolResult:
        tool = self._start.tool
        _log.debug("tool %s raised", tool.name, exc_info=error)
        if type(error) is TypeError and (fault := _find_misfit(tool, self._start.arguments)) is not None:
            message = f"The arguments of {tool.name} cannot be used: {fault}."
            return ToolResult.failure(FailureCode.INPUT_INVALID, message)
        return self._failed(describe(error))

    def _failed(self, reason: str) -> ToolResult:
        message = f"Tool {self._start.tool.name} failed: {reason}"
        return ToolResult.failure(FailureCode.EXECUTION_FAILED, message)

    def _trim(self, result: ToolResult, *, reduce: bool = True) -> ToolResult:
        """A result with what was printed, reduced, cut and fit to be sent."""
        start = self._start
        if printed := self._printed.text:
            value = f"[printed]\n{printed}" if result.ok and not result.value and result.structured is None else None
            result = replace(result, printed=printed, value=result.value if value is None else value)
        if reduce and start.reducer is not None and result.ok:
            result = _reduce(start.reducer, result, ReduceInfo(start.told, start.context.turn_count))
        return fit(result, start.cap_chars)


def fit(result: ToolResult, cap_chars: int) -> ToolResult:
    """A result that may be sent: cut to what it may have, and of characters that can be encoded."""
    result = cut(result, cap_chars)
    if result.value.isascii() and (result.error is None or result.error.isascii()) and not result.printed:
        return result
    error = None if result.error is None else make_encodable(result.error)
    return replace(result, value=make_encodable(result.value), error=error, printed=make_encodable(result.printed))


def _reduce(reducer: ToolResultReducer, result: ToolResult, info: ReduceInfo) -> ToolResult:
    """A result with the shorter text of a reducer; as it was, where the reducer does not give a usable one.

    Only the text is taken: what the program gets is nothing to be reduced.
    """
    try:
        reduced = reducer.reduce(result, info)
        if isinstance(reduced, ToolResult) and reduced.ok is True and isinstance(reduced.value, str):
            return replace(result, value=str.__str__(reduced.value))
    except BaseException:  # noqa: BLE001  somebody's reducer: a longer result is better than none (rule R5)
        _log.debug("the reducer of a tool raised", exc_info=True)
    return result


def _find_misfit(tool: ExecutableTool, arguments: dict[str, Any]) -> str | None:
    """Why a function cannot be called with arguments that the schema lets pass; `None` where it can."""
    try:
        inspect.signature(tool.function).bind(**arguments)
    except TypeError as error:
        return str(error)
    except ValueError:  # a function written in C that does not say what it takes
        return None
    return None
