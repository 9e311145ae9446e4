"""A kill between the response cache and the file of runs leaves the truth in both (rules E8, X3)."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.running import OpenAIServer, openai_server
from toolbelt.evals import resume_run, run_eval

__all__ = ["openai_server"]
CASES = 24
KILLED = """
import os, signal, sys
from pathlib import Path
from toolbelt.evals import run_eval
from toolbelt.evals.running.store import RunStore

url, model, moment, left = *sys.argv[1:4], int(sys.argv[4])
store = RunStore._write

def die_at(self, rows):
    global left
    left -= any("requests" in statement for statement in rows)
    if moment == "before" and not left:
        os.kill(os.getpid(), signal.SIGKILL)
    store(self, rows)
    if moment == "after" and not left:
        os.kill(os.getpid(), signal.SIGKILL)

RunStore._write = die_at
run_eval("assistant", model, "oracle+5", limit=24, max_concurrency=8, store=Path("runs.db"), api_base=url,
         response_cache=["cache.db"])
"""
"""A run that is killed when some rows are about to be, or have been, stored: their responses are in the cache."""


@pytest.mark.parametrize(("moment", "times"), [("before", 1), ("after", 3)])
def test_X3_a_response_that_was_paid_for_before_a_kill_is_no_reused_one(
    moment: str, times: int, openai_server: OpenAIServer, tmp_path: Path
) -> None:
    name = f"pick-first@killed-{moment}-{times}"
    command = [sys.executable, "-c", KILLED, openai_server.url, f"hosted_vllm/{name}", moment, str(times)]
    killed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert killed.returncode == -9, killed.stderr[-2000:]
    stored, cached = _count(tmp_path / "runs.db", "requests"), _count(tmp_path / "cache.db", "responses")
    assert stored < cached if moment == "before" else stored == cached
    run = resume_run(store=tmp_path / "runs.db", response_cache=[tmp_path / "cache.db"])
    assert run.summary.scored == CASES
    [used] = run.summary.responses
    assert used.recorded.responses == 0, "nothing was there before this run"
    assert used.live.responses == _count(tmp_path / "runs.db", "requests") == _count(tmp_path / "cache.db", "responses")
    # At most what was under way at the kill was asked twice, as nobody got its answer.
    assert 0 <= openai_server.count(name) - used.live.responses <= 8


def test_X3_a_response_of_another_run_is_a_reused_one(openai_server: OpenAIServer, tmp_path: Path) -> None:
    runs = [
        run_eval(
            "assistant",
            "hosted_vllm/pick-first@reused",
            "oracle+5",
            limit=CASES,
            store=tmp_path / f"{number}.db",
            api_base=openai_server.url,
            response_cache=[tmp_path / "cache.db"],
        )
        for number in range(2)
    ]
    asked = openai_server.count("pick-first@reused")
    origins = [(used.live.responses, used.recorded.responses) for run in runs for used in run.summary.responses]
    assert origins == [(asked, 0), (0, asked)]


def _count(path: Path, table: str) -> int:
    with sqlite3.connect(path) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
