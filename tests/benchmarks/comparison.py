"""Measuring two things against each other in the same run.

A shared machine slows down and speeds up by itself, so nothing here is held to a time: what is asserted is the
ratio of the fastest of several runs, taken in turn.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path


def fastest_in_turn(
    *works: Callable[[], object],
    rounds: int = 7,
    enough: Callable[..., bool] = lambda *_: True,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Seconds of the fastest run of each, run in turn.

    Args:
        works: What is run.
        rounds: Of all of them.
        enough: Told the seconds; while it says no there are more rounds, five times as many at most, as what else the
            machine does only ever adds.
        clock: `time.process_time` where a work neither waits nor starts processes: others do not count in it.
    """
    best = [float("inf")] * len(works)
    for done in range(5 * rounds):
        if done >= rounds and enough(*best):
            break
        for number, work in enumerate(works):
            started = clock()
            work()
            best[number] = min(best[number], clock() - started)
    return best


def process(command: Sequence[str], folder: Path) -> Callable[[], object]:
    """A run of a whole process, its output thrown away."""
    return lambda: subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
