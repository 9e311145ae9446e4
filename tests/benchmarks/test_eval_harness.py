"""The harness by itself: what a trial costs beside the model, what is prepared once, and that memory stays flat."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.eval_work import Harness, InstantModel, write_work
from tests.servers.running import ROOT

EPOCHS = 5
ROUNDS = 9
"""At most: as many as it takes, as another program on the machine's cores only ever makes a round slower."""
BARE_ROWS = 5_000
MOST = {"full": 6.0, "tiered": 9.5, "oracle+9": 7.5}
"""A trial's CPU as a multiple of its bare rows'. 4.1, 6.7 and 5.3 when this was set; without commits shared by trials
and cases remembered it was twice as much."""


def _write_bare_rows(file: Path) -> None:
    """What a store without grouped commits takes alone: rows with a reply as JSON, each committed before the next."""
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    columns = ", ".join(f"column_{number}" for number in range(20))
    connection.execute(f"CREATE TABLE bare (run, number, reply, {columns}, PRIMARY KEY (run, number)) WITHOUT ROWID")
    marks = ",".join("?" * 23)
    for number in range(BARE_ROWS):
        reply = json.dumps({"calls": [[f"call_{number}", "read_file", '{"path": "notes.txt"}']], "served_by": "bare"})
        row = ("20260101-000000-aaaa", number, reply, *["a short text", None, 0.25, number] * 5)
        connection.execute(f"INSERT INTO bare VALUES ({marks})", row)
    connection.close()


def _cpu_ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1e3


def _rows_per_trial(store: Path) -> float:
    connection = sqlite3.connect(store)
    [(requests, trials)] = connection.execute("SELECT sum(requests), count(*) FROM trials")
    connection.close()
    return float(requests / trials + 1)


@pytest.mark.parametrize("toolset", MOST)
def test_a_trial_takes_a_few_times_what_its_rows_take_alone(toolset: str, tmp_path: Path) -> None:
    """Plan, toolset, scoring and store over the shipped catalog and its cases, with a model that answers at once.

    The model calls a tool at its first request; over `tiered` it browses and loads a category before, so that a trial
    is three requests. What one run over the cases takes is set against what a run with more epochs takes, so that
    reading the files and counting the catalog are left out. Beside it, in turn, as many rows as a trial has, one for
    each request and one for the trial, are written and committed one by one, with nothing else done.
    """
    store = tmp_path / "runs.db"
    harness = Harness("assistant", InstantModel(), toolset, store)
    harness.run()
    bare, once, often, trials = float("inf"), float("inf"), float("inf"), 0
    for number in range(ROUNDS):
        sizes: list[int] = []
        bare = min(bare, _cpu_ms(lambda: _write_bare_rows(tmp_path / f"bare-{number}.db")))  # noqa: B023  called at once
        once = min(once, _cpu_ms(lambda: sizes.append(harness.run())))  # noqa: B023
        often = min(often, _cpu_ms(lambda: sizes.append(harness.run(1 + EPOCHS))))  # noqa: B023
        trials = sizes[1] - sizes[0]
        each, rows = (often - once) / trials, bare / BARE_ROWS * _rows_per_trial(store)
        if each / rows < MOST[toolset]:
            break
    print(f"harness over {toolset}: {each:.3f} ms of CPU a trial, {each / rows:.2f} times its bare rows' {rows:.3f} ms")
    assert each / rows < MOST[toolset]


def test_definitions_are_prepared_once_for_a_toolset(tmp_path: Path) -> None:
    model = InstantModel()
    harness = Harness(write_work(tmp_path / "work", 50), model, "full", tmp_path / "runs.db")
    assert harness.run(epochs=2) == len(model.definitions) == 100
    assert len({id(definitions) for definitions in model.definitions}) == 1


def test_definitions_of_a_tool_are_shared_by_all_that_is_offered(tmp_path: Path) -> None:
    """Where each case is shown other tools, each tool is still written down once."""
    model = InstantModel()
    Harness("assistant", model, "oracle+9", tmp_path / "runs.db").run()
    by_name: dict[str, set[int]] = {}
    for definitions in model.definitions:
        for definition in definitions:
            by_name.setdefault(definition["function"]["name"], set()).add(id(definition))
    assert len(by_name) > 50
    assert all(len(ids) == 1 for ids in by_name.values())


GROWTH = """
import sys
from pathlib import Path
from tests.benchmarks.eval_work import Harness, InstantModel, resident_mb

folder, store, few, many = sys.argv[1:]
harness = Harness(folder, InstantModel(remembers=False), "full", Path(store))
made = harness.run(int(few)), resident_mb(), harness.run(int(many)), resident_mb()
print(*made)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from /proc")
def test_memory_stays_flat_however_many_trials(tmp_path: Path) -> None:
    """The greatest memory of a process after 1,000 trials, and after 15,000 more."""
    folder = write_work(tmp_path / "work", 100)
    command = [sys.executable, "-c", GROWTH, str(folder), str(tmp_path / "runs.db"), "10", "150"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    few, before, many, after = map(float, done.stdout.split())
    assert (few, many) == (1_000, 15_000)
    print(f"memory: {before:.1f} MB after {few:,.0f} trials, {after:.1f} MB after {many:,.0f} more")
    assert after - before < 5
