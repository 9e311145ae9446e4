"""Threads: as many as needed, used again, and in nobody's way."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
import weakref
from collections.abc import Awaitable
from contextvars import ContextVar
from functools import partial
from queue import SimpleQueue

import pytest

from tests.runtime.samples import no_more_threads, only_one_thread, own_threads
from toolbelt.runtime import threads
from toolbelt.runtime.threads import Threads, run_in_thread


def test_an_idle_thread_is_used_again() -> None:
    pool = Threads()
    seen: list[int] = []
    for _ in range(5):
        done = threading.Event()

        def job(done: threading.Event = done) -> None:
            seen.append(threading.get_ident())
            done.set()

        pool.start(job)
        assert done.wait(10)
        time.sleep(0.02)  # it becomes idle after the job
    assert len(set(seen)) == 1


def test_a_thread_that_is_taken_stops_no_other() -> None:
    pool = Threads()
    barrier = threading.Barrier(41, timeout=20)

    def meet() -> None:
        barrier.wait()

    for _ in range(40):
        pool.start(meet)
    barrier.wait()


def test_threads_are_daemons() -> None:
    pool = Threads()
    found: list[bool] = []
    done = threading.Event()

    def job() -> None:
        found.append(threading.current_thread().daemon)
        done.set()

    pool.start(job)
    assert done.wait(10)
    assert found == [True]


def test_an_idle_thread_ends_after_a_while_and_no_job_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "IDLE_SECONDS", 0.005)
    pool = Threads()
    done: list[int] = []
    for number in range(200):
        pool.start(partial(done.append, number))
        time.sleep(0.005 if number % 3 else 0.001)
    for extra in range(200, 210):
        deadline = time.monotonic() + 1
        while (len(done) < extra or pool._idle) and time.monotonic() < deadline:
            time.sleep(0.01)
        if not pool._idle:
            break
        pool.start(partial(done.append, extra))  # for a thread whose queue waits on, see `IDLE_SECONDS`
    assert sorted(done)[:200] == list(range(200))
    assert pool._idle == 0


def test_a_function_in_a_thread_sees_the_caller_s_context_variables() -> None:
    variable = ContextVar("variable", default="unset")

    async def main() -> object:
        variable.set("set")
        return (await run_in_thread(variable.get)).returned

    assert asyncio.run(main()) == "set"


@pytest.mark.parametrize("error", [ValueError("a"), SystemExit(1), KeyboardInterrupt(), StopIteration()])
def test_whatever_is_raised_in_a_thread_is_an_outcome(error: BaseException) -> None:
    def fail() -> None:
        raise error

    async def main() -> BaseException | None:
        return (await run_in_thread(fail)).error

    assert asyncio.run(main()) is error


def test_a_coroutine_that_comes_too_late_is_closed() -> None:
    begun, release, ended = threading.Event(), threading.Event(), threading.Event()

    async def nothing() -> None: ...

    def late() -> Awaitable[None]:
        begun.set()
        release.wait(10)
        ended.set()
        return nothing()

    async def main() -> None:
        future = run_in_thread(late)
        assert await asyncio.to_thread(begun.wait, 10)
        future.cancel()
        release.set()
        assert await asyncio.to_thread(ended.wait, 10)
        await asyncio.sleep(0.02)

    asyncio.run(main())
    gc.collect()  # "was never awaited" would be raised here


def test_no_thread_to_be_had_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    own_threads(monkeypatch)
    no_more_threads(monkeypatch)

    async def main() -> str:
        return str((await run_in_thread(print)).error)

    assert asyncio.run(main()) == "can't start new thread"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_does_not_count_on_the_threads_of_its_parent() -> None:
    async def main() -> object:
        return (await run_in_thread(os.getpid)).returned

    assert asyncio.run(main()) == os.getpid()
    time.sleep(0.02)  # now there is an idle thread, which the child will not have
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if asyncio.run(asyncio.wait_for(main(), 10)) == os.getpid() else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_a_job_holds_is_let_go_though_its_thread_lives_on() -> None:
    class Held:
        """What only the job knows."""

    pool = Threads()
    held = Held()
    seen = weakref.ref(held)
    done = threading.Event()
    pool.start(partial(lambda _: done.set(), held))
    del held
    assert done.wait(10)
    until = time.monotonic() + 5
    while seen() is not None and time.monotonic() < until:
        time.sleep(0.01)
        gc.collect()
    assert seen() is None


def test_where_the_system_gives_no_more_threads_a_job_waits_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Threads()
    go = threading.Event()
    done: SimpleQueue[int] = SimpleQueue()
    pool.start(lambda: done.put(int(go.wait(10))))

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    for number in range(2, 6):
        pool.start(partial(done.put, number))
    assert done.empty()
    go.set()
    assert [done.get(timeout=10) for _ in range(5)] == [1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError):
        Threads().start(go.set)


def test_what_is_given_up_before_a_thread_is_free_is_never_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    async def main() -> None:
        run_in_thread(begun.append, 1).cancel()

    with only_one_thread(monkeypatch):
        asyncio.run(main())
    assert begun == []
