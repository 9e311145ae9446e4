"""How often `eval gate --top-up` is wrong, how often it decides, and how many epochs it asks (rule X6).

`python -m tests.evals.statistics.top_up_simulation` draws 2,000 runs of each setting, in a minute; it writes the
table of `docs/statistics-checks.md`. `test_top_up.py` draws some of it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.evals.statistics.many_runs import LOST, OPEN, PASSED, decide, draw_epochs
from tests.evals.statistics.sequential_simulation import share
from tests.evals.statistics.simulation import Change, Setting
from toolbelt.evals.statistics.sequential import find_level

RUNS = 2000
ARMS = 3
SETTINGS = (
    Setting(724, (1, 1), 3, 0.0, 0.02, flaky=0.1),
    Setting(724, (1, 1), 3, 0.01, 0.02, flaky=0.1),
    Setting(300, (1, 1), 3, 0.0, 0.03, flaky=0.1),
    Setting(300, (1, 3), 3, 0.0, 0.03, flaky=0.1),
    Setting(100, (1, 1), 5, 0.0, 0.1, flaky=0.3),
)
LOSSES = (
    (Change.NONE, 0.0),
    (Change.CLUSTERS, 1.0),
    (Change.ALL, 1.0),
    (Change.CLUSTERS, 2.5),
)
"""What is changed, and what is lost by it, in margins."""


@dataclass(frozen=True)
class Outcomes:
    """What the arms of a setting came to.

    Attributes:
        topped_up: Verdicts with a look after each epoch.
        once: Verdicts after one epoch, at 95%.
        all_epochs: Verdicts after all of them, at 95%.
        epochs: How many each arm was asked.
    """

    topped_up: NDArray[np.int8]
    once: NDArray[np.int8]
    all_epochs: NDArray[np.int8]
    epochs: NDArray[np.int64]


def simulate(setting: Setting, change: Change, loss: float, runs: int = RUNS, seed: int = 0) -> Outcomes:
    """Draw arms, each compared with its baseline, and look at them after each epoch while they are open."""
    after = draw_epochs(np.random.default_rng(seed), setting, change, loss, runs)
    level = find_level(tuple(epoch / setting.epochs for epoch in range(1, setting.epochs + 1)))
    verdicts, epochs = np.full(runs, OPEN, dtype=np.int8), np.zeros(runs, dtype=np.int64)
    for drawn in after:
        is_open = verdicts == OPEN
        if not is_open.any():
            break
        epochs[is_open] += 1
        verdicts[np.flatnonzero(is_open)] = decide(drawn[is_open], setting.margin, level)
    once, whole = (decide(drawn, setting.margin, 0.95) for drawn in (after[0], after[-1]))
    return Outcomes(verdicts, once, whole, epochs)


def main() -> None:
    """Print the table."""
    lines = [
        "| clusters | epochs | trials that err | margin | lost | one epoch | all epochs | topped up | epochs asked |",
        "| --- | ---: | --- | ---: | --- | --- | --- | --- | ---: |",
    ]
    for setting in SETTINGS:
        for change, margins in LOSSES:
            found = simulate(setting, change, margins * setting.margin)
            how = "by every case" if change is Change.ALL else "by whole clusters" if margins else ""
            verdicts = [
                f"{100 * share(each, PASSED):.1f}%, {100 * share(each, LOST):.1f}%"
                for each in (found.once, found.all_epochs, found.topped_up)
            ]
            lost = f"{100 * margins * setting.margin:g} {how}".rstrip()
            lines.append(f"| {setting} | {lost} | {' | '.join(verdicts)} | {found.epochs.mean():.2f} |")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
