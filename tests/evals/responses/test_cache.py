"""The response cache: a real file, several processes, a full disk (rule X3)."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evals.responses.samples import make_key, make_payment, make_response
from tests.wording import mentions
from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.responses.response import Payment
from toolbelt.evals.running.store import RunStore

ROOT = Path(__file__).resolve().parents[3]


def test_X3_what_is_added_is_found_also_by_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "new" / "cache.db"
    with ResponseCache(path) as cache:
        assert cache.find(make_key(0)) is None
        cache.add([make_response(0)])
    with ResponseCache(path) as cache:
        assert cache.find(make_key(0)) == make_response(0)
        assert len(cache) == 1


def test_X3_the_response_that_came_first_stays(tmp_path: Path) -> None:
    with ResponseCache(tmp_path / "c.db") as cache:
        cache.add([make_response(0)])
        cache.add([make_response(0, text="later")])
        assert cache.find(make_key(0)) == make_response(0)


def test_responses_are_deleted_all_or_none(tmp_path: Path) -> None:
    with ResponseCache(tmp_path / "c.db") as cache:
        for number in range(5):
            cache.add([make_response(number)])
        assert cache.delete(map(make_key, (1, 3, 99))) == 2
        left = {response.key for response in cache.read_all()}
    assert left == set(map(make_key, (0, 2, 4)))


@pytest.mark.parametrize("content", [b"not a database, but longer than the header of one", b"SQLite format 3\0broken"])
def test_what_is_no_cache_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "c.db"
    path.write_bytes(content)
    with pytest.raises(ToolbeltError) as refused:
        ResponseCache(path)
    assert mentions(str(refused.value), str(path))
    assert path.read_bytes() == content


def test_a_file_of_runs_is_no_cache(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.db"):
        pass
    with pytest.raises(ToolbeltError, match="no response cache"):
        ResponseCache(tmp_path / "runs.db")


def test_a_cache_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with ResponseCache(path):
        pass
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=9")
    with pytest.raises(ToolbeltError, match="version 9"):
        ResponseCache(path)


def test_an_empty_file_becomes_a_cache_and_is_no_source(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    path.touch()
    with pytest.raises(ToolbeltError, match="nothing was recorded"):
        ResponseCache(path, read_only=True)
    with ResponseCache(path) as cache:
        cache.add([make_response()])


def test_X3_a_row_that_was_changed_by_hand_is_an_error_when_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with ResponseCache(path) as cache:
        cache.add([make_response(0)])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE responses SET response = replace(response, 'git_push', 'git_pull')")
    with ResponseCache(path) as cache, pytest.raises(ToolbeltError, match="changed"):
        cache.find(make_key(0))


def test_X3_a_cache_that_was_replaced_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with ResponseCache(path) as cache:
        path.unlink()
        with pytest.raises(StorageError, match="removed or replaced"):
            cache.add([make_response()])


def test_X3_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with ResponseCache(path) as cache:
        cache.add([make_response(0)])
        cache._connection.execute("PRAGMA max_page_count=3")  # what a full disk looks like to SQLite
        with pytest.raises(StorageError, match="full"):
            cache.add([make_response(1, text="long" * 10_000)])
    with ResponseCache(path) as cache:
        assert cache.find(make_key(0)) == make_response(0)


_READ = """
import os, sys
from pathlib import Path
from toolbelt.evals.responses.cache import ResponseCache
if os.getuid() == 0:
    os.setuid(65534)  # whom the modes of files stop
with ResponseCache(Path(sys.argv[1]), read_only=True) as cache:
    print(len(cache))
"""


def test_X3_a_cache_on_a_read_only_disk_is_read(tmp_path: Path) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:  # as pytest's own are shut to others
        path = Path(folder) / "c.db"
        with ResponseCache(path) as cache:
            cache.add([make_response()])
        path.chmod(0o444)
        path.parent.chmod(0o555)
        try:
            done = subprocess.run([sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, timeout=60)
        finally:
            path.parent.chmod(0o755)
    assert (done.stdout, done.stderr) == ("1\n", "")


_WRITE = """
import sys
from pathlib import Path
from tests.evals.responses.samples import make_response
from toolbelt.evals.responses.cache import ResponseCache
sys.stdin.readline()
with ResponseCache(Path(sys.argv[1])) as cache:
    for number in range(int(sys.argv[2]), int(sys.argv[3])):
        cache.add([make_response(number)])
        print(number, flush=True)
    sys.stdin.readline()
"""


def write(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITE, str(path), str(first), str(last)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True, env={**os.environ, "PYTHONPATH": "."}
    )


def test_X3_two_processes_write_one_cache_and_a_kill_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    both = [write(path, 0, 300), write(path, 200, 500)]
    for process in both:  # at once, also while the table is made
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    stored = set[int]()
    for process in both:
        assert process.stdout is not None
        stored.update(int(process.stdout.readline()) for _ in range(250))
        process.kill()  # in the middle of it
        stored.update(int(line) for line in process.stdout.read().splitlines())
        process.wait(timeout=60)
        assert process.stdin is not None
        process.stdin.close()
        process.stdout.close()
    with ResponseCache(path) as cache:
        assert {response.key for response in cache.read_all()} >= set(map(make_key, stored))
        assert len(stored) >= 400


def test_X3_a_file_of_an_earlier_version_gets_the_table_of_payments_once_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    with ResponseCache(path) as cache:
        cache.add([make_response(0)])
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE payments")
    connection.close()
    with ResponseCache(path, read_only=True) as cache:
        assert (cache.find_payments("run"), cache.find(make_key(0))) == ({}, make_response(0))
    with ResponseCache(path) as cache:
        cache.add([make_response(1)], [make_payment(1, trial=5)])
        assert cache.find_payments("run") == {(5, 1): make_payment(1, trial=5)}


def test_X3_with_a_response_what_is_known_of_its_payment_is_deleted(tmp_path: Path) -> None:
    with ResponseCache(tmp_path / "responses.db") as cache:
        cache.add(map(make_response, (1, 2)), map(make_payment, (1, 2)))
        assert cache.delete([make_key(1)]) == 1
        assert set(cache.find_payments("run")) == {(0, 2)}


def test_X3_responses_and_payments_are_stored_all_or_none(tmp_path: Path) -> None:
    with ResponseCache(tmp_path / "responses.db") as cache:
        broken = Payment("run", 0, 1, None, 0.0)  # type: ignore[arg-type]
        with pytest.raises(StorageError):
            cache.add([make_response(1)], [broken])
        assert len(cache) == 0
