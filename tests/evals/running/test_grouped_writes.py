"""Rows of one step of the event loop are stored together, before anyone goes on (rule E8)."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tests.evals.running.test_plan import make_plan
from tests.evals.running.test_store import request_record, trial_record
from toolbelt.errors import StorageError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.running.grouped_writes import GroupedWrites, Rows
from toolbelt.evals.running.store import RunStore

WRITERS = 32


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs.db")


def begin(store: RunStore) -> str:
    return store.create(make_plan(), ["t"] * 3)


def stored(path: Path, table: str = "requests") -> list[int]:
    """Numbers of the trials that another connection finds."""
    reader = sqlite3.connect(path)
    try:
        return [row[0] for row in reader.execute(f"SELECT trial FROM {table} ORDER BY trial")]
    finally:
        reader.close()


def commits(store: RunStore) -> list[str]:
    statements: list[str] = []
    store.connection.set_trace_callback(lambda text: statements.append(text) if text == "COMMIT" else None)
    return statements


async def settle(writers: list[Coroutine[Any, Any, None]]) -> list[BaseException | None]:
    return await asyncio.wait_for(asyncio.gather(*writers, return_exceptions=True), 10)


def test_E8_rows_of_one_step_are_one_transaction_and_each_writer_goes_on_after_it(store: RunStore) -> None:
    run, committed = begin(store), commits(store)

    async def write(trial: int) -> None:
        await store.add_request(run, request_record(trial))
        assert trial in stored(store.path), "a response is durable before it is used"
        await store.add_trial(run, trial_record(trial))
        assert trial in stored(store.path, "trials"), "a trial is durable before it is reported"

    assert asyncio.run(settle([write(trial) for trial in range(WRITERS)])) == [None] * WRITERS
    assert len(committed) == 2
    assert stored(store.path) == stored(store.path, "trials") == [*range(WRITERS)]


def test_E8_nobody_else_finds_an_open_transaction(store: RunStore) -> None:
    run = begin(store)

    async def work() -> None:
        writer = asyncio.create_task(store.add_request(run, request_record(0)))
        await asyncio.sleep(0)
        assert not writer.done()
        assert not store.connection.in_transaction
        store.add_cases(run, [Case("case-1", (), ())])
        store.set_status(run, "running")
        assert begin(store) != run
        assert store.find_earlier(run, 0) == {}, "what is not stored yet is not found"
        await writer
        assert store.find_earlier(run, 0)[0].attempts == 1

    asyncio.run(work())


def fill_disk(store: RunStore) -> None:
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    store.connection.execute(f"PRAGMA max_page_count={pages + 1}")  # what a full disk looks like to SQLite


def remove_file(store: RunStore) -> None:
    store.path.rename(store.path.with_name("elsewhere.db"))


@pytest.mark.parametrize("fault", [fill_disk, remove_file])
def test_E8_a_commit_that_fails_reaches_every_writer_and_stores_nothing(
    store: RunStore, fault: Callable[[RunStore], None]
) -> None:
    run = begin(store)
    fault(store)
    failures = asyncio.run(settle([store.add_request(run, request_record(trial)) for trial in range(100)]))
    assert {type(failure) for failure in failures} == {StorageError}
    assert store.connection.execute("SELECT count(*) FROM requests").fetchone() == (0,)
    assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_E8_after_a_commit_that_failed_the_next_one_stores_what_it_is_given(store: RunStore) -> None:
    run = begin(store)
    fill_disk(store)
    asyncio.run(settle([store.add_request(run, request_record(trial)) for trial in range(100)]))
    store.connection.execute("PRAGMA max_page_count=100000")  # somebody has made space
    asyncio.run(store.add_request(run, request_record(1)))
    assert stored(store.path) == [1]
    assert store.connection.execute("SELECT count(*) FROM offers").fetchone() == (1,)


def test_E8_who_is_cancelled_while_waiting_loses_nothing_and_holds_nobody_up(store: RunStore) -> None:
    run = begin(store)

    async def work() -> list[BaseException | None]:
        tasks = [asyncio.create_task(store.add_request(run, request_record(trial))) for trial in range(3)]
        await asyncio.sleep(0)  # all wait now
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, cancelled, last = asyncio.run(work())
    assert (first, type(cancelled), last) == (None, asyncio.CancelledError, None)
    assert stored(store.path) == [0, 1, 2]


def test_E8_rows_of_an_interrupted_commit_are_stored_by_the_next() -> None:
    taken: list[Rows] = []
    interruptions = iter([KeyboardInterrupt()])

    def write(rows: Rows) -> None:
        for interruption in interruptions:
            raise interruption
        taken.append(rows)

    writes = GroupedWrites(write)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(writes.add(("INSERT", (1,))))
    assert taken == []
    asyncio.run(writes.add(("INSERT", (2,))))
    assert taken == [{"INSERT": [(1,), (2,)]}]


def test_E8_what_was_handed_in_is_stored_when_the_file_is_closed(store: RunStore) -> None:
    run = begin(store)
    loop = asyncio.new_event_loop()
    writer = loop.create_task(store.add_request(run, request_record(0)))
    loop.call_soon(loop.stop)
    loop.run_forever()
    assert stored(store.path) == []
    store.close()
    assert stored(store.path) == [0]
    loop.run_until_complete(writer)
    loop.close()


def test_E8_a_loop_that_ended_early_holds_up_no_later_one(store: RunStore) -> None:
    run = begin(store)
    loop = asyncio.new_event_loop()
    writer = loop.create_task(store.add_request(run, request_record(0)))
    loop.call_soon(loop.stop)
    loop.run_forever()
    writer.cancel()
    loop.stop()
    loop.close()
    asyncio.run(asyncio.wait_for(store.add_request(run, request_record(1)), 10))
    assert stored(store.path) == [0, 1]


_WRITER = """
import asyncio, sys, time
from pathlib import Path
from tests.evals.running.test_store import request_record
from toolbelt.evals.running.store import RunStore

async def work(store, run):
    async def write(worker):
        count = 0
        while time.monotonic() < end:
            await store.add_request(run, request_record(worker, count))
            count += 1
        return count
    end = time.monotonic() + 1
    return await asyncio.gather(*(write(worker) for worker in range(32)))

with RunStore(Path(sys.argv[1]), must_exist=True) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    print(sum(asyncio.run(work(store, sys.argv[2]))))
"""


def test_E8_two_processes_that_write_all_the_time_both_get_on(store: RunStore) -> None:
    runs = [begin(store), begin(store)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(store.path), run],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for run in runs
    ]  # fmt: skip
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        written = [int(process.communicate(timeout=60)[0]) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait(10)
    assert written == [
        store.connection.execute("SELECT count(*) FROM requests WHERE run = ?", (run,)).fetchone()[0] for run in runs
    ]
    assert min(written) > max(written) / 10, "neither waits for the other to end"
