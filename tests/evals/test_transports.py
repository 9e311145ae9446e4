"""Whole runs over each transport: the same trials, through faults of every kind and through kills (rules X1, E8)."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.running import OpenAIServer, openai_server
from toolbelt.evals import run_eval
from toolbelt.evals.run import Run
from toolbelt.evals.running.runner import RunEnd
from toolbelt.providers.endpoints import Transport

__all__ = ["openai_server"]
KILLS = int(os.environ.get("TOOLBELT_TEST_KILLS", "4"))
"""How often a run is killed; more by hand."""
COLUMNS = (
    *("case_id", "outcome", "reason", "ending", "called", "missing", "surplus", "hits", "made", "wanted"),
    *(
        "arguments_checked",
        "arguments_right",
        "definition_tokens",
        "own_prompt_tokens",
        "completion_tokens",
        "requests",
    ),
)
"""What must not depend on the transport. This server counts a prompt's tokens by its bytes, blanks included."""


def _run(server: OpenAIServer, model: str, store: Path, transport: Transport = Transport.AUTO, **settings: Any) -> Run:
    name = f"hosted_vllm/{model}"
    options: dict[str, Any] = {
        "toolsets": "oracle+5",
        "api_base": server.url,
        "transport": transport,
        "store": store,
        "limit": 60,
    } | settings
    return run_eval("assistant", name, max_concurrency=16, **options)


def _trials(run: Run) -> list[tuple[Any, ...]]:
    with sqlite3.connect(run.store) as connection:
        names = ", ".join(COLUMNS)
        return connection.execute(f"SELECT {names} FROM trials WHERE run = ? ORDER BY trial", (run.id,)).fetchall()


def _requests(run: Run) -> int:
    with sqlite3.connect(run.store) as connection:
        [count] = connection.execute("SELECT count(*) FROM requests WHERE run = ?", (run.id,)).fetchone()
        return int(count)


def test_X1_a_run_has_the_same_trials_over_each_transport(openai_server: OpenAIServer, tmp_path: Path) -> None:
    runs = [_run(openai_server, f"with-cache@{transport}", tmp_path / "runs.db", transport) for transport in Transport]
    first, second = map(_trials, runs)
    assert len(first) == 60
    assert first == second


@pytest.mark.parametrize("transport", list(Transport), ids=str)
def test_E4_faults_of_every_kind_on_30_percent_of_requests_change_no_score(
    openai_server: OpenAIServer, tmp_path: Path, transport: Transport
) -> None:
    model = f"faulty@{transport}"
    clean = _run(openai_server, f"pick-first@clean-{transport}", tmp_path / "runs.db", limit=30)
    # Six faults in a row, after which a trial is given up, are rare, but no more than that.
    settings = {"limit": 30, "timeout_seconds": 4.0, "max_retries": 12}
    faulty = _run(openai_server, model, tmp_path / "runs.db", transport, **settings)
    assert (faulty.end, faulty.summary.errors) == (RunEnd.FINISHED, 0)
    assert _trials(faulty) == _trials(clean)
    assert _requests(faulty) == openai_server.count(model) > 70, "every request is in the store, the failed ones too"


KILLING = """
import os, random, signal, sqlite3, sys, time
from contextlib import closing
from pathlib import Path
from toolbelt.evals import resume_run, run_eval
from toolbelt.evals import execution  # all that a run needs is loaded before the first fork
from toolbelt.providers import direct_client, timed_http
from toolbelt.providers.tokenizers import make_counter

url, store, kills = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
chance = random.Random(7)
make_counter("o200k_base").count(["a"])

def start(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return pid

def begin():
    run_eval("assistant", "hosted_vllm/slow-50@kills", "oracle+5", limit=300, epochs=1 + kills // 12, store=store,
             api_base=url, max_concurrency=8)

def stored():  # whether there is a run, what was answered, the trials that ended
    if not store.exists():
        return False, set(), set()
    # Closed at once: a connection that a fork inherits makes SQLite there believe in locks that it does not hold.
    with closing(sqlite3.connect(store, timeout=60)) as connection:
        if not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'trials'").fetchone()[0]:
            return False, set(), set()  # killed before the tables were made
        has_run = bool(connection.execute("SELECT count(*) FROM runs").fetchone()[0])
        rows = set(connection.execute("SELECT trial, request FROM requests WHERE failure IS NULL"))
        return has_run, rows, set(connection.execute("SELECT trial FROM trials"))

killed, before, lost = 0, (False, set(), set()), 0
while killed < kills:
    pid = start((lambda: resume_run(store=store)) if before[0] else begin)
    wanted = len(before[1]) + chance.randint(0, 12)
    while len(stored()[1]) < wanted:
        time.sleep(0.01)
        if os.waitpid(pid, os.WNOHANG)[0]:
            sys.exit(f"after {killed} kills the run ended by itself: {len(stored()[1])} answered, {wanted} waited for")
    time.sleep(chance.uniform(0, 0.05))
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    killed += os.WIFSIGNALED(status)
    after = stored()
    lost += len(before[1] - after[1]) + len(before[2] - after[2])
    before = after
_, status = os.waitpid(start(lambda: resume_run(store=store, max_concurrency=64)), 0)
with sqlite3.connect(store) as connection:
    [twice] = connection.execute("SELECT count(*) FROM (SELECT 1 FROM requests WHERE failure IS NULL "
                                 "GROUP BY trial, request HAVING count(*) > 1)").fetchone()
    [rows] = connection.execute("SELECT count(*) FROM requests").fetchone()
    [trials] = connection.execute("SELECT count(*) FROM trials").fetchone()
print(killed, lost, twice, rows, trials, os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a run is killed in a fork of one that has loaded everything")
def test_E8_kills_lose_nothing_and_nothing_answered_is_asked_again(openai_server: OpenAIServer, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLING, openai_server.url, str(tmp_path / "runs.db"), str(KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60 + 10 * KILLS)
    assert done.returncode == 0, done.stderr[-2000:]
    killed, lost, twice, rows, trials, code = map(int, done.stdout.split())
    asked = openai_server.count("slow-50@kills")
    print(f"{killed} kills: {lost} lost, {twice} asked again, {rows} requests in the store, {asked} at the server")  # noqa: T201
    assert (killed, lost, twice, code) == (KILLS, 0, 0, 0)
    assert trials == 300 * (1 + KILLS // 12)
    assert asked - rows <= 8 * KILLS, "at most what was under way at a kill was sent again"
