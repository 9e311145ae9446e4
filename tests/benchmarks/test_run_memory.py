"""A run of ten times as many trials takes hardly more memory to show, to compare, to save and to gate."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.large_run import multiply_run
from tests.benchmarks.test_dataset_memory import peak_mb
from tests.servers.running import ROOT

COPIES = (10, 100)
"""Of 200 cases in three arms: 6,000 trials, and 60,000."""
MOST_TIMES = 1.15
MOST_SECONDS = 20.0
"""As a multiple of what a tenth of the trials takes: a query that reads all trials for each of them takes 100 times."""
MANY = 750
"""Of 200 cases: 150,000 in two arms, whose figures are in a file, as those of more than 32,768 trials of an arm are."""
MOST_BYTES = 85
"""Of memory for a case more; it takes some 55."""
COMPARED = """
import sys
from pathlib import Path
from toolbelt.evals.analysis.comparison.compare import compare_runs
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.running.store import RunStore
with RunStore(Path(sys.argv[1])) as store:
    row = store.get("latest")
    compare_runs(StoredRun(store, row), StoredRun(store, row))
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) * 1024)
"""


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
        peaks, took = [], []
        for store, older in stores.items():
            arguments = command.format(store=store, older=older).split()
            began = time.perf_counter()
            peaks.append(peak_mb(store.parent, "eval", *arguments, "--json", "--store", str(store)))
            took.append(time.perf_counter() - began)
        print(
            f"{command}: {peaks[0]:.0f} MB and {took[0]:.1f} s for 6,000 trials, "
            f"{peaks[1]:.0f} MB and {took[1]:.1f} s for 60,000"
        )
        assert peaks[1] < MOST_TIMES * peaks[0], command
        assert took[1] < MOST_SECONDS * took[0], command


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from /proc")
def test_E8_a_case_more_of_a_large_run_takes_few_bytes_to_compare_with_another_run(tmp_path: Path) -> None:
    small = tmp_path / "small.db"
    asked = [
        sys.executable,
        "-m",
        "toolbelt",
        "eval",
        "run",
        "--limit",
        "200",
        "-t",
        "full,tiered",
        "--store",
        str(small),
    ]
    subprocess.run(asked, cwd=ROOT, capture_output=True, check=True)
    peaks = []
    for copies in (COPIES[0], MANY):
        store = tmp_path / f"{copies}.db"
        multiply_run(small, store, copies)
        done = subprocess.run(
            [sys.executable, "-c", COMPARED, str(store)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        peaks.append(int(done.stdout))
    of_each = (peaks[1] - peaks[0]) / (200 * (MANY - COPIES[0]))
    print(f"compare two runs: {peaks[1] / 1e6:.0f} MB for {200 * MANY:,} cases, {of_each:.0f} bytes each")
    assert of_each < MOST_BYTES
