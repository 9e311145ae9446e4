"""How often a run that stops when it is decided is wrong, how often it decides, and what it saves (rule X6).

`python -m tests.evals.statistics.sequential_simulation` draws 2,000 runs of each setting, each looked at as it would be
and once at its end, in a minute; it writes the table of `docs/statistics-checks.md`. `test_sequential.py` draws some.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.evals.statistics.many_runs import LOST, OPEN, PASSED, ManyRuns, decide, draw_runs
from tests.evals.statistics.simulation import Change, Floats, Setting
from toolbelt.evals.statistics.sequential import Look, make_looks

RUNS = 2000
COMPARISONS = 1
"""Right tools and right arguments are the same in every trial here, so that a look takes both for one hypothesis."""
SETTINGS = (
    Setting(724, (1, 1), 1, 0.015, 0.02),
    Setting(724, (1, 1), 1, 0.025, 0.02),
    Setting(724, (1, 1), 1, 0.0, 0.02, flaky=0.1),
    Setting(724, (1, 1), 3, 0.05, 0.02),
    Setting(300, (1, 1), 1, 0.025, 0.02),
    Setting(300, (3, 3), 1, 0.025, 0.02),
    Setting(600, (3, 3), 1, 0.025, 0.02),
    Setting(300, (1, 3), 3, 0.05, 0.02),
    Setting(600, (1, 3), 3, 0.05, 0.02),
    Setting(100, (1, 1), 1, 0.025, 0.1),
)
LOSSES = (0.0, None, 0.05, 0.1)
"""By whole clusters; `None` for the margin."""


@dataclass(frozen=True)
class Outcomes:
    """What the runs of a setting came to.

    Attributes:
        sequential: Verdicts where each run stopped when it was decided.
        single: Verdicts of a single look at all of each run.
        saved: Shares of the trials that were not asked.
    """

    sequential: NDArray[np.int8]
    single: NDArray[np.int8]
    saved: Floats


def simulate(
    setting: Setting, loss: float, runs: int = RUNS, seed: int = 0, looks: Sequence[Look] | None = None
) -> Outcomes:
    """Draw runs, and look at each."""
    change = Change.CLUSTERS if loss else Change.NONE
    drawn = draw_runs(np.random.default_rng(seed), setting, change, loss, runs)  # clusters are in random order already
    verdicts, saved = np.full(runs, OPEN, dtype=np.int8), np.zeros(runs)
    for look in make_looks(setting.clusters) if looks is None else looks:
        is_open = verdicts == OPEN
        if not is_open.any():
            break
        left = np.flatnonzero(is_open)
        verdicts[left] = decide(drawn[is_open].first(look.clusters), setting.margin, look.level, COMPARISONS)
        saved[left] = _saved(drawn, look.clusters)[left]
    return Outcomes(verdicts, decide(drawn, setting.margin, 0.95, COMPARISONS), saved)


def share(verdicts: NDArray[np.int8], verdict: int) -> float:
    """Of the runs that came to it."""
    return float(np.mean(verdicts == verdict))


def _saved(drawn: ManyRuns, clusters: int) -> Floats:
    return np.asarray(1 - drawn.sizes[:, :clusters].sum(axis=1) / drawn.sizes.sum(axis=1))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--setting", type=int, help="only this one, from 0")
    arguments = parser.parse_args()
    settings = SETTINGS if arguments.setting is None else SETTINGS[arguments.setting : arguments.setting + 1]
    lines = [
        "| clusters | epochs | trials that err | margin | lost | no_regression | regression | once | saved |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | --- | ---: |",
    ]
    for setting in settings:
        for given in LOSSES:
            loss = setting.margin if given is None else given
            if given and given <= setting.margin:
                continue
            found = simulate(setting, loss, arguments.runs)
            shares = [
                f"{100 * share(verdicts, verdict):.1f}%"
                for verdicts in (found.sequential, found.single)
                for verdict in (PASSED, LOST)
            ]
            rates = f"{shares[0]} | {shares[1]} | {shares[2]}, {shares[3]} | {found.saved.mean():.0%}"
            lines.append(f"| {setting} | {100 * loss:g} | {rates} |")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
