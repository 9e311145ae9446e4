"""A run of ten times as many trials takes hardly more memory to show, to compare, to save and to gate."""

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
MOST_TIMES = 1.15


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    """Files of two runs, each of ten times as many trials as those of the file before, and the older run of each."""
    folder = tmp_path_factory.mktemp("runs")
    small = folder / "small.db"
    asked = [sys.executable, "-m", "toolbelt", "eval", "run", "--limit", "200", "--store", str(small)]
    subprocess.run(asked, cwd=ROOT, capture_output=True, check=True)
    found = {}
    for copies in COPIES:
        store = folder / f"{copies}.db"
        found[store] = multiply_run(small, store, copies)
        multiply_run(small, store, copies)
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from /proc")
@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(("show",), id="show"),
        pytest.param(("compare",), id="compare"),
        pytest.param(("baseline save --output {store}.json", "gate --baseline {store}.json"), id="save-and-gate"),
        pytest.param(("gate --baseline {older}",), id="gate-of-two-runs"),
    ],
)
def test_E8_ten_times_as_many_trials_take_hardly_more_memory(
    stores: dict[Path, str], commands: tuple[str, ...]
) -> None:
    for command in commands:
        peaks = [
            peak_mb(
                store.parent,
                "eval",
                *command.format(store=store, older=older).split(),
                "--json",
                "--store",
                str(store),
            )
            for store, older in stores.items()
        ]
        print(f"{command}: {peaks[0]:.0f} MB for 6,000 trials, {peaks[1]:.0f} MB for 60,000")
        assert peaks[1] < MOST_TIMES * peaks[0], command
