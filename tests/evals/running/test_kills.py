"""Random kills while 32 trials run at once: nothing that was used is lost or asked again (rule E8)."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evals.running.kills import CONCURRENCY
from tests.servers.running import ROOT, OpenAIServer, openai_server

__all__ = ["openai_server"]

KILLS = 3
CASES, EPOCHS = 100, 6


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
@pytest.mark.parametrize("kind", ["at-once", "asked-over-http"])
def test_E8_random_kills_lose_nothing_and_repeat_no_answered_request(
    kind: str, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    model, api_base = "openai/pick-first@kills", openai_server.url
    if kind == "at-once":
        script = tmp_path / "script.yaml"
        script.write_text('- when: "*"\n  replies: [{calls: [{tool: read_file, args: {path: a}}]}]\n')
        model, api_base = f"scripted/{script}", ""
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
        "SELECT count(*), sum(requests), count(DISTINCT outcome) FROM trials"
    )
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert (trials, outcomes) == (CASES * EPOCHS, 1)
    assert (asked, attempts, failures) == (requests, 0, 0), "no answered request was asked again"
    if kind == "asked-over-http":
        sent = openai_server.count(model.removeprefix("openai/"))
        assert asked <= sent <= asked + ended["killed"] * CONCURRENCY, "at most those in flight at a kill"
