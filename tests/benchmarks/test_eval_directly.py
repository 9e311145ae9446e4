"""A whole run over the direct transport takes less memory than litellm's import alone (rule X1)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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
            kilobytes = 0
            while process.poll() is None:
                kilobytes = max(kilobytes, _peak_kilobytes(process.pid))
                time.sleep(0.02)
        assert process.returncode == 0
        assert server.count("pick-first") == CASES
    megabytes = kilobytes * 1024 / 1e6
    print(f"memory: {megabytes:.0f} MB at most, over {CASES:,} trials")
    assert megabytes < 130


def _peak_kilobytes(pid: int) -> int:
    """The most memory so far; what `wait4` reports is at least that of who started the process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)
