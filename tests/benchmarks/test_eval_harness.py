"""The harness by itself: what a trial costs beside the model, what is prepared once, and that memory stays flat."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.benchmarks.eval_work import Harness, InstantModel, write_work
from tests.servers.running import ROOT

EPOCHS = 5
ROUNDS = 3
UNIT_MS = 0.45
"""What the unit below takes on the machine on which the limit was set, with nothing else running there."""


def _unit() -> None:
    """A known amount of work of the interpreter's and its C code's: a document to JSON and back, many times."""
    document = {"text": "as good as any other text", "numbers": list(range(20)), "deep": [{"key": "value"}] * 5}
    for _ in range(50):
        json.loads(json.dumps(document))


def _cpu_ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1e3


@pytest.mark.parametrize("toolset", ["full", "tiered", "oracle+9"])
def test_the_harness_takes_less_than_a_millisecond_of_cpu_a_trial(toolset: str, tmp_path: Path) -> None:
    """Plan, toolset, scoring and store over the shipped catalog and its cases, with a model that answers at once.

    The model calls a tool at its first request; over `tiered` it browses and loads a category before, so that a trial
    is three requests. What one run over the cases takes is set against what a run with more epochs takes, so that
    reading the files and counting the catalog are left out. The limit is a millisecond where the unit takes
    `UNIT_MS`, and in proportion where it takes more or less, measured in turn in the same run.
    """
    harness = Harness("assistant", InstantModel(), toolset, tmp_path / "runs.db")
    harness.run()
    unit, once, often, trials = float("inf"), float("inf"), float("inf"), 0
    for _ in range(ROUNDS):
        sizes: list[int] = []
        unit = min(unit, _cpu_ms(_unit))
        once = min(once, _cpu_ms(lambda: sizes.append(harness.run())))  # noqa: B023  called at once
        often = min(often, _cpu_ms(lambda: sizes.append(harness.run(1 + EPOCHS))))  # noqa: B023
        trials = sizes[1] - sizes[0]
    each = (often - once) / trials
    print(f"harness over {toolset}: {each:.3f} ms of CPU a trial, {each / unit:.2f} of the unit of {unit:.2f} ms")
    assert each / unit < 1.0 / UNIT_MS


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
