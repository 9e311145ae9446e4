"""The file that keeps the runs (rule E8)."""

from __future__ import annotations

import asyncio
import dataclasses
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.evals.running.test_plan import make_plan
from toolbelt.errors import NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.offers import Offer
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.running.records import Attempts, RequestRecord, TrialRecord
from toolbelt.evals.running.schema import TABLES
from toolbelt.evals.running.store import RunStore
from toolbelt.providers.chat import Usage

REPLY = Reply(
    text="on it \ud800 \x1b[31m",
    calls=(ToolUse.from_text("c1", "git_push", '{"branch": "main"}'), ToolUse.from_text("c2", "ls", "{broken")),
    usage=Usage(100, 7, 50, None),
    finish_reason="tool_calls",
    served_by="some-model",
    fingerprint="fp_1",
    latency_seconds=0.25,
)


def request_record(trial: int = 0, request: int = 0, attempt: int = 0, reply: Reply | None = REPLY) -> RequestRecord:
    failure = None if reply else "rate_limit"
    usage, said = (reply.usage, "") if reply else (Usage(), "slow down")
    return RequestRecord(trial, request, attempt, Offer(), reply, usage, failure, said, 0.25, 0.001)


def trial_record(trial: int = 0, outcome: str = "correct", **changes: object) -> TrialRecord:
    record = TrialRecord(
        trial, 0, 0, "case-1", "case-1", "single", "2026-01-01T00:00:00+00:00", outcome, "", "steps", False, True, True,
        False, 1, 1, 1, 1, '["git/git_push"]', "[]", "[]", 1, 1, 120, 120, 150, None, None, None, None, 0, 0, 1, 0,
        0.25, 0.001,
    )  # fmt: skip
    return dataclasses.replace(record, **changes)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "deep" / "runs.db")


def test_the_records_are_the_columns(store: RunStore) -> None:
    columns = [row[1] for row in store.connection.execute("PRAGMA table_info(trials)")]
    assert columns == ["run", *(field.name for field in dataclasses.fields(TrialRecord))]
    assert TABLES.count("CREATE TABLE") == 11


def test_E8_what_was_kept_is_found_by_another_session(store: RunStore) -> None:
    plan = make_plan()
    run = store.create(plan, ["o200k_base"] * 3)
    asyncio.run(store.add_request(run, request_record(4, 0, 0, None)))
    asyncio.run(store.add_request(run, request_record(4, 0, 1)))
    store.add_cases(run, [Case(trial_record(2).case_id, (), ())])
    asyncio.run(store.add_trial(run, trial_record(2)))
    store.close()

    with RunStore(store.path, must_exist=True) as again:
        row = again.get(run)
        assert (row.plan, row.status, row.finished) == (plan, "running", 1)
        assert list(again.done(run, plan.size)) == [2]
        assert again.unfinished(run) == {4}
        assert again.find_earlier(run, 4) == {0: Attempts(2, 0.002, REPLY)}
        assert again.spent(run) == (2, 0.002)


def test_E8_only_a_run_of_which_nothing_was_asked_is_removed(store: RunStore) -> None:
    empty, begun, asked = (store.create(make_plan(), ["t"] * 3) for _ in range(3))
    store.add_cases(empty, [Case("case-1", (), ())])
    asyncio.run(store.add_request(begun, request_record(0, 0, 0)))
    asyncio.run(store.add_trial(asked, trial_record(0)))
    for run in (empty, begun, asked):
        store.remove_empty(run)
    assert {row.run for row in store.runs()} == {begun, asked}
    for table in ("arms", "cases"):
        assert not store.connection.execute(f"SELECT 1 FROM {table} WHERE run = ?", (empty,)).fetchall()


def test_E8_errors_are_run_again_only_when_asked_for(store: RunStore) -> None:
    run = store.create(make_plan(), ["t"] * 3)
    asyncio.run(store.add_trial(run, trial_record(0)))
    asyncio.run(store.add_trial(run, trial_record(1, "error", reason="timeout: none came")))
    asyncio.run(store.add_request(run, request_record(1, 0, 0, None)))
    assert list(store.done(run, 30)) == [0, 1]
    assert store.find_common_error(run) == "timeout: none came"
    assert store.forget_errors(run) == 1
    assert list(store.done(run, 30)) == [0]
    assert store.find_earlier(run, 1)[0].attempts == 1, "what a retried trial cost before stays counted"


def test_runs_are_found_by_id_beginning_and_as_the_latest(store: RunStore) -> None:
    first = store.create(make_plan(), ["t"] * 3)
    store.connection.execute("UPDATE runs SET created = '2001-01-01', run = '20010101-000000-aaaa'")
    store.connection.execute("UPDATE arms SET run = '20010101-000000-aaaa'")
    second = store.create(make_plan(), ["t"] * 3)
    assert first != second
    assert store.get("latest").run == store.get(second).run == store.get(second[:-1]).run == second
    assert store.get("2001").run == "20010101-000000-aaaa"
    assert [row.run for row in store.runs()] == [second, "20010101-000000-aaaa"]
    with pytest.raises(ToolbeltError, match="2 runs begin with '20'"):
        store.get("20")
    with pytest.raises(NotFoundError, match="20010101-000000-aaaa"):
        store.get("20010101-000000-aaab")
    with pytest.raises(NotFoundError, match="Did you mean 'latest'"):
        store.get("latset")


def test_one_process_at_a_time_works_on_a_run(store: RunStore) -> None:
    run = store.create(make_plan(), ["t"] * 3)
    held = (
        "import sys; from pathlib import Path; from toolbelt.evals.running.store import RunStore\n"
        f"with RunStore(Path({str(store.path)!r})).locks.claim({run!r}): print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert store.locks.is_held(run)
        with pytest.raises(ToolbeltError, match="another process"), store.locks.claim(run):
            pass
    finally:
        other.kill()  # which is what lets go of it
        other.communicate()
    assert not store.locks.is_held(run)
    with store.locks.claim(run):
        pass


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"this is a text" * 100, "no file of runs", id="another-kind-of-file"),
        pytest.param(b"SQLite format 3\0" + b"\xff" * 4096, "no file of runs", id="a-damaged-file"),
    ],
)
def test_what_is_no_store_is_refused_and_left_as_it_is(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(content)
    with pytest.raises(ToolbeltError, match=says):
        RunStore(path)
    assert path.read_bytes() == content


def test_E8_a_file_that_was_taken_away_keeps_nothing_and_says_so(store: RunStore) -> None:
    run = store.create(make_plan(), ["t"] * 3)
    asyncio.run(store.add_request(run, request_record(0)))
    store.path.rename(store.path.with_name("elsewhere.db"))
    with pytest.raises(StorageError, match="removed or replaced"):
        asyncio.run(store.add_request(run, request_record(1)))
    store.path.write_text("another file")
    with pytest.raises(StorageError, match="removed or replaced"):
        asyncio.run(store.add_request(run, request_record(1)))


def test_a_name_that_means_something_to_sqlite_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with RunStore(Path(":memory:")) as kept:
        run = kept.create(make_plan(), ["t"] * 3)
    with RunStore(Path(":memory:"), must_exist=True) as again:
        assert again.get("latest").run == run


def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE customers (name TEXT)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(ToolbeltError, match="no file of runs"):
        RunStore(path)
    assert path.read_bytes() == before


def test_a_store_of_another_version_is_refused(store: RunStore) -> None:
    store.connection.execute("PRAGMA user_version=99")
    store.connection.execute("PRAGMA journal_mode=DELETE")
    store.close()
    before = store.path.read_bytes()
    with pytest.raises(ToolbeltError, match="version 99"):
        RunStore(store.path)
    assert store.path.read_bytes() == before, "nor is it changed before it is known to be another's"


def test_a_store_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="toolbelt eval run"):
        RunStore(tmp_path / "none.db", must_exist=True)
    assert not (tmp_path / "none.db").exists()


def test_E9_a_disk_that_refuses_is_infrastructure(store: RunStore) -> None:
    run = store.create(make_plan(), ["t"] * 3)
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    store.connection.execute(f"PRAGMA max_page_count={pages + 2}")  # what a full disk looks like to SQLite

    async def fill() -> None:
        for number in range(10_000):
            await store.add_request(run, request_record(number))

    with pytest.raises(StorageError, match="full") as refused:
        asyncio.run(fill())
    assert refused.value.exit_code == 3
    kept = store.connection.execute("SELECT count(*) FROM requests").fetchone()[0]
    assert kept > 10, "what was kept before is safe"


def test_E8_the_log_is_a_write_ahead_one(store: RunStore) -> None:
    assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    reader = sqlite3.connect(store.path)
    run = store.create(make_plan(), ["t"] * 3)
    assert reader.execute("SELECT run FROM runs").fetchall() == [(run,)], "each write is seen at once by others"
    reader.close()


@pytest.mark.parametrize(("survives_crash", "level"), [(True, 1), (False, 0)], ids=["a-run", "a-part-of-one"])
def test_E8_the_disk_is_waited_for_where_a_crash_of_the_machine_is_to_be_survived(
    survives_crash: bool, level: int, tmp_path: Path
) -> None:
    for _ in ("new", "there already"):
        with RunStore(tmp_path / "runs.db", survives_crash=survives_crash) as store:
            assert store.connection.execute("PRAGMA synchronous").fetchone() == (level,)


_READ_ONLY = """
import os, sys
from pathlib import Path
import filelock
from toolbelt.errors import StorageError
from toolbelt.evals.running.store import RunStore
if os.getuid() == 0:
    os.setuid(65534)  # whom the modes of files stop
path = Path(sys.argv[1])
try:
    with RunStore(path, must_exist=True) as store:
        row = store.get("latest")
        print(row.run, store.find_status(row))
        store.set_status(row.run, "finished")
except StorageError as error:
    print(error)
"""


def test_a_file_that_is_only_to_be_read_is_read_where_no_log_can_be_opened() -> None:
    with tempfile.TemporaryDirectory() as folder:  # as pytest's own are shut to others
        path = Path(folder) / "runs.db"
        with RunStore(path) as store:
            run = store.create(make_plan(), ["t"] * 3)
        path.chmod(0o444)
        path.parent.chmod(0o555)

        def read() -> list[str]:
            command = [sys.executable, "-c", _READ_ONLY, str(path)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            assert done.stderr == ""
            return done.stdout.splitlines()

        before, first = path.read_bytes(), read()
        path.parent.chmod(0o755)
        assert (first[0], path.read_bytes(), [*path.parent.iterdir()]) == (f"{run} killed", before, [path])
        assert "readonly database" in first[1]
        (path.parent / "runs.db-wal").write_bytes(bytes(4096))  # what it holds is not in the file
        path.parent.chmod(0o555)
        [refused] = read()
        path.parent.chmod(0o755)
        assert "cannot be used: " in refused


def test_what_holds_prompts_is_for_its_owner_alone_and_a_file_that_was_shared_stays_so(tmp_path: Path) -> None:
    with ResponseCache(tmp_path / "cache.db") as cache:
        RunStore(tmp_path / "runs.db").connection.close()
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}, cache
    shared = tmp_path / "runs.db"
    shared.chmod(0o644)
    RunStore(shared).connection.close()
    assert shared.stat().st_mode & 0o777 == 0o644
