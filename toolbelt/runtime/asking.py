"""Asking what is around a tool (guards, a person, backends), which may raise, block and hang like a tool itself."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from toolbelt.runtime.printing import print_aloud
from toolbelt.runtime.results import describe, dispose
from toolbelt.runtime.threads import Outcome, run_in_thread

GRACE_SECONDS = 2.0
"""How long a coroutine that is cancelled has to tidy up; then it is closed."""


class UnansweredError(Exception):
    """No answer came; says why, as the end of a sentence: `raised ValueError: no such user`."""


async def ask(function: Callable[..., Any], *args: Any, seconds: float | None, aloud: bool = False) -> Any:
    """What a function answers, sync (in a thread, as it may block) or async.

    Args:
        function: What is asked.
        args: What it is given.
        seconds: How long it may take; `None` for no limit.
        aloud: Whether it speaks to a person, and so prints where the agent does, also inside of another call.

    Raises:
        UnansweredError: it raised, or took too long.
    """
    held = Held()
    task = asyncio.get_running_loop().create_task(_answer(function, args, held, aloud=aloud))
    try:
        await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        give_up(task, held)
        raise
    if not task.done():
        give_up(task, held)
        raise UnansweredError(f"did not answer within {seconds:g} s")
    if task.cancelled():
        raise UnansweredError("was cancelled")
    outcome = task.result()
    if outcome.error is not None:
        raise UnansweredError(f"raised {describe(outcome.error)}")
    return outcome.returned


async def _answer(function: Callable[..., Any], args: tuple[Any, ...], held: Held, *, aloud: bool) -> Outcome:
    if aloud:
        print_aloud()  # in the context of this task alone
    try:
        if is_async(function):
            return Outcome(await held.take(function(*args)))
        outcome = await run_in_thread(function, *args)
        if inspect.isawaitable(outcome.returned):
            return Outcome(await held.take(outcome.returned))
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and not is_being_cancelled():
            return Outcome(error=error)
        raise
    except BaseException as error:  # noqa: BLE001  somebody's function: what it raises is an answer that did not come
        return Outcome(error=error)
    return outcome


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling a function gives a coroutine, as far as it shows."""
    kind = type(function)
    if kind is FunctionType or kind is MethodType:
        return inspect.iscoroutinefunction(function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(kind, "__call__", None))  # noqa: B004  not whether it has one


def is_being_cancelled() -> bool:
    """Whether it is the current task that is cancelled, and not merely something it waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class Held:
    """What a task awaits that somebody else wrote, held so that it can be closed."""

    __slots__ = ("_awaited",)

    def __init__(self) -> None:
        self._awaited: Any = None

    def take(self, awaited: Any) -> Any:
        """Hold it, and give it back."""
        self._awaited = awaited
        return awaited

    def close(self) -> None:
        """Close it, if it is a coroutine; what awaits it goes on as if it had raised."""
        try:
            dispose(self._awaited)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001  somebody's coroutine, which does not even let itself be closed
            return


def give_up(task: asyncio.Task[Any], held: Held) -> None:
    """Cancel a task without waiting for it; one that goes on all the same is closed after a while.

    Without that, a coroutine that catches its cancellation in a loop would keep `asyncio.run` from ever returning.
    """
    if task.done():
        _look(task)
        return
    task.add_done_callback(_look)
    task.cancel()
    task.get_loop().call_later(GRACE_SECONDS, _close, task, held)


def _close(task: asyncio.Task[Any], held: Held) -> None:
    if not task.done():
        held.close()
        task.cancel()


def _look(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended, so that asyncio does not complain that nobody did."""
    if not task.cancelled():
        task.exception()
