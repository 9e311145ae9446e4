"""A run of ten times as many trials takes hardly more memory to show and to compare."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.large_run import multiply_run
from tests.benchmarks.test_dataset_memory import peak_mb
from tests.servers.running import ROOT

COPIES = (10, 100)
"""Of 200 cases in three arms: 6,000 trials, and 60,000."""
MOST_TIMES = 1.3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from /proc")
@pytest.mark.parametrize("command", ["show", "compare"])
def test_E8_ten_times_as_many_trials_take_hardly_more_memory(tmp_path: Path, command: str) -> None:
    small = tmp_path / "small.db"
    asked = [sys.executable, "-m", "toolbelt", "eval", "run", "--limit", "200", "--store", str(small)]
    subprocess.run(asked, cwd=ROOT, capture_output=True, check=True)
    peaks = []
    for copies in COPIES:
        store = tmp_path / f"{copies}.db"
        multiply_run(small, store, copies)
        peaks.append(peak_mb(tmp_path, "eval", command, "--json", "--store", str(store)))
    print(f"{command}: {peaks[0]:.0f} MB for 6,000 trials, {peaks[1]:.0f} MB for 60,000")
    assert peaks[1] < MOST_TIMES * peaks[0]
