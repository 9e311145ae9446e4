"""Random kills while 32 trials run at once: nothing that was used is lost or asked again (rule E8)."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.eval_work import write_work
from tests.evals.running.kills import CONCURRENCY, SAME, finished_trials
from tests.servers.running import ROOT, OpenAIServer, openai_server
from toolbelt.evals import resume_run
from toolbelt.evals.running.runner import RunEnd

__all__ = ["openai_server"]

KILLS = 3
CASES, EPOCHS = 100, 6


def write_script(folder: Path) -> str:
    """A model that answers at once."""
    script = folder / "script.yaml"
    script.write_text('- when: "*"\n  replies: [{calls: [{tool: read_file, args: {path: a}}]}]\n')
    return f"scripted/{script}"


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
@pytest.mark.parametrize("kind", ["at-once", "asked-over-http"])
def test_E8_random_kills_lose_nothing_and_repeat_no_answered_request(
    kind: str, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    model, api_base = "openai/pick-first@kills", openai_server.url
    if kind == "at-once":
        model, api_base = write_script(tmp_path), ""
    arguments = [str(tmp_path), model, api_base, str(KILLS), str(CASES), str(EPOCHS)]
    command = [sys.executable, "-m", "tests.evals.running.kills", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout)
    assert ended["status"] == 0, done.stderr
    assert ended["killed"] > 0
    assert (ended["lost"], ended["repeated"]) == (0, 0)
    connection = sqlite3.connect(tmp_path / "runs.db")
    [(asked, attempts, failures)] = connection.execute("SELECT count(*), max(attempt), count(failure) FROM requests")
    [(trials, requests, outcomes)] = connection.execute(
        "SELECT count(*), sum(requests) FILTER (WHERE same_as IS NULL), count(DISTINCT outcome) FROM trials"
    )
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert (trials, outcomes) == (CASES * EPOCHS * len(SAME), 1)
    assert (asked, attempts, failures) == (requests, 0, 0), "no answered request was asked again"
    if kind == "asked-over-http":
        sent = openai_server.count(model.removeprefix("openai/"))
        assert asked <= sent <= asked + ended["killed"] * CONCURRENCY, "at most those in flight at a kill"


_ON_A_FULL_DISK = """
import resource, signal, sys
from toolbelt.errors import StorageError
from toolbelt.evals import run_eval
work, model, store = sys.argv[1:]
reported = []
def report(record):
    if not reported:  # from now on the log cannot grow much
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    reported.append(record.trial)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    run_eval(work, model, "full", epochs=20, store=store, max_concurrency=32, on_trial=report)
except StorageError as error:
    sys.stdout.write(" ".join(map(str, reported)))
    sys.exit(error.exit_code)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_E8_a_disk_that_is_full_at_a_commit_loses_nothing_that_was_reported(tmp_path: Path) -> None:
    work, store = write_work(tmp_path / "work", 50), tmp_path / "runs.db"
    command = [sys.executable, "-c", _ON_A_FULL_DISK, str(work), write_script(tmp_path), str(store)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3, done.stderr
    reported = {int(trial) for trial in done.stdout.split()}
    stored = finished_trials(store)
    assert reported
    assert reported == stored.keys(), "what could not be stored was not reported, and the other way round"
    run = resume_run(store=store)
    assert run.end == RunEnd.FINISHED
    assert stored.items() <= finished_trials(store).items()
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT count(*), max(attempt) FROM requests").fetchone() == (1000, 0)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
