"""Time limits of tool calls, guards and backends: which limit a call gets, and how it ends once its time is over.

`asyncio.timeout` alone cannot do that. It waits until the cancelled function has ended, and a coroutine may ignore its
cancellation. So each function runs in a task or thread of its own, and nobody waits for one that is abandoned.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType
from typing import Any, Protocol

from toolbelt.runtime.output_capture import stop_capturing
from toolbelt.runtime.results import close_unawaited, describe_error
from toolbelt.runtime.threads import FunctionOutcome, run_in_thread

DEFAULT_TIMEOUT_SECONDS = 120.0
"""The time limit of a tool that has none of its own."""
GRACE_SECONDS = 2.0
"""Time that a cancelled coroutine has to clean up before it is closed."""


def choose_time_limit(own: float | None, default: float | None) -> float | None:
    """The time limit of a tool call in seconds: the tool's own, else the registry's default; `None` for no limit."""
    return default if own is None else own


class TimeLimited(Protocol):
    """A running call that can be given up."""

    @property
    def limit_seconds(self) -> float | None:
        """The time limit, from now; `None` for no limit."""
        ...

    def expire(self) -> None:
        """End the call with a time-out, unless it is done."""
        ...


def start_time_limits(calls: Iterable[TimeLimited]) -> list[asyncio.TimerHandle]:
    """Start the time limits of calls that begin now; calls with the same limit share a timer, as most do.

    Returns:
        The timers, for the caller to cancel.
    """
    by_limit: dict[float, list[TimeLimited]] = {}
    for call in calls:
        if call.limit_seconds is not None:
            by_limit.setdefault(call.limit_seconds, []).append(call)
    loop = asyncio.get_running_loop()
    return [loop.call_later(seconds, _expire_all, group) for seconds, group in by_limit.items()]


def _expire_all(calls: Iterable[TimeLimited]) -> None:
    for call in calls:
        call.expire()


class NoAnswerError(Exception):
    """A function raised or took too long; the message is the end of a sentence: `raised ValueError: no such user`."""


async def call_with_time_limit(
    function: Callable[..., Any], *args: Any, seconds: float | None, interactive: bool = False
) -> Any:
    """Call a guard, backend or confirmation: a sync function in a thread, as it may block, an async one on the loop.

    Args:
        function: Sync or async.
        args: Its arguments.
        seconds: The time limit; `None` for no limit.
        interactive: Whether the function talks to a person. Its output is then not captured.

    Raises:
        NoAnswerError: the function raised, or took too long.
    """
    handle = CoroutineHandle()
    task = asyncio.get_running_loop().create_task(_call(function, args, handle, interactive=interactive))
    try:
        await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        abandon_task(task, handle)
        raise
    if not task.done():
        abandon_task(task, handle)
        raise NoAnswerError(f"did not answer within {seconds:g} s")
    if task.cancelled():
        raise NoAnswerError("was cancelled")
    outcome = task.result()
    if outcome.error is not None:
        raise NoAnswerError(f"raised {describe_error(outcome.error)}")
    return outcome.returned


async def _call(
    function: Callable[..., Any], args: tuple[Any, ...], handle: CoroutineHandle, *, interactive: bool
) -> FunctionOutcome:
    if interactive:
        stop_capturing()  # in the context of this task alone
    try:
        if is_async(function):
            return FunctionOutcome(await handle.hold(function(*args)))
        outcome = await run_in_thread(function, *args)
        if inspect.isawaitable(outcome.returned):
            return FunctionOutcome(await handle.hold(outcome.returned))
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and not is_being_cancelled():
            return FunctionOutcome(error=error)
        raise
    except BaseException as error:  # noqa: BLE001  someone else's function: SystemExit, too, is only a missing answer
        return FunctionOutcome(error=error)
    return outcome


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call of the function gives a coroutine, as far as its declaration shows."""
    kind = type(function)
    if kind is FunctionType or kind is MethodType:
        return inspect.iscoroutinefunction(function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(kind, "__call__", None))  # noqa: B004  not whether it has one


def is_being_cancelled() -> bool:
    """Whether the current task itself is being cancelled, not only something that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class CoroutineHandle:
    """Holds what a task awaits, so that `abandon_task` can close it."""

    __slots__ = ("_awaitable",)

    def __init__(self) -> None:
        self._awaitable: Any = None

    def hold(self, awaitable: Any) -> Any:
        """Keep the awaitable, and return it."""
        self._awaitable = awaitable
        return awaitable

    def close(self) -> None:
        """Close the awaitable if it is a coroutine."""
        try:
            close_unawaited(self._awaitable)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001  someone else's coroutine, which refuses to be closed
            return


def abandon_task(task: asyncio.Task[Any], handle: CoroutineHandle) -> None:
    """Cancel a task without waiting for it; close its coroutine if it still runs after `GRACE_SECONDS`.

    Otherwise a coroutine that catches its cancellation in a loop would keep `asyncio.run` from ever returning.
    """
    if task.done():
        _retrieve_exception(task)
        return
    task.add_done_callback(_retrieve_exception)
    task.cancel()
    task.get_loop().call_later(GRACE_SECONDS, _close, task, handle)


def _close(task: asyncio.Task[Any], handle: CoroutineHandle) -> None:
    if not task.done():
        handle.close()
        task.cancel()


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Retrieve the exception of a task, because asyncio logs those that nobody retrieves."""
    if not task.cancelled():
        task.exception()
