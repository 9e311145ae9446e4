"""A whole run over the direct transport takes less memory than litellm's import alone (rule X1)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.eval_work import CONCURRENCY, write_work
from tests.servers.running import ROOT, run_openai_server

CASES = 2_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the greatest memory as Linux reports it")
def test_X1_a_run_without_litellm_stays_under_130_mb(tmp_path: Path) -> None:
    folder = write_work(tmp_path / "work", CASES)
    with run_openai_server() as server:
        command = [sys.executable, "-m", "toolbelt", "eval", "run", "--model", "openai/pick-first"]
        command += ["--api-base", server.url, "--dataset", str(folder), "--toolset", "full"]
        command += ["--max-concurrency", str(CONCURRENCY), "--store", str(tmp_path / "runs.db")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=quiet, stderr=quiet) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        assert server.count("pick-first") == CASES
    megabytes = usage.ru_maxrss * 1024 / 1e6
    print(f"memory: {megabytes:.0f} MB at most, over {CASES:,} trials")
    assert megabytes < 130
