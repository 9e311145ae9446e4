"""How often a run that stops when it is decided is wrong, how often it decides, and what it saves (rule X6).

`python -m tests.evals.statistics.sequential_simulation` draws 2,000 runs of each setting, each looked at as it would be
and once at its end; it writes the table of `docs/statistics.md`. `test_sequential.py` draws fewer of some.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tests.evals.statistics.simulation import Change, Setting, draw
from toolbelt.evals.statistics.paired import paired_difference
from toolbelt.evals.statistics.sequential import Look, make_looks
from toolbelt.evals.statistics.verdict import Verdict, judge

RUNS = 2000
SINGLE = Look(0, 0.95)
SETTINGS = (
    Setting(724, (1, 1), 1, 0.015, 0.02),
    Setting(724, (1, 1), 1, 0.025, 0.02),
    Setting(300, (3, 3), 1, 0.025, 0.02),
    Setting(300, (1, 3), 3, 0.05, 0.02),
    Setting(724, (1, 1), 3, 0.05, 0.02),
    Setting(100, (1, 1), 1, 0.025, 0.1),
)
TRUTHS = ((Change.SWAPS, 0.0), (Change.CLUSTERS, None), (Change.CLUSTERS, 0.05), (Change.CLUSTERS, 0.1))
"""What is changed, and what is lost by it; `None` for the margin."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What the runs of a setting came to.

    Attributes:
        sequential: Verdicts where each run stopped when it was decided, as fractions.
        single: Verdicts of a single look at all of each run.
        saved: Share of the trials that was not asked, on average.
    """

    sequential: Mapping[Verdict, float]
    single: Mapping[Verdict, float]
    saved: float


def simulate(setting: Setting, change: Change, loss: float, runs: int, seed: int = 0) -> Outcomes:
    """Draw runs, and look at each."""
    rng = np.random.default_rng(seed)
    looks = make_looks(setting.clusters)
    found = tuple(dict.fromkeys(Verdict, 0.0) for _ in range(2))
    saved = 0.0
    for run in range(runs):
        pairs = draw(rng, setting, change, loss)  # the order of clusters is random already
        for look in looks:
            verdict = decide(pairs[: look.clusters], setting.margin, look, run)
            if verdict is not Verdict.INSUFFICIENT_DATA:
                break
        found[0][verdict] += 1 / runs
        found[1][decide(pairs, setting.margin, SINGLE, run)] += 1 / runs
        saved += (1 - sum(map(len, pairs[: look.clusters])) / sum(map(len, pairs))) / runs
    return Outcomes(found[0], found[1], saved)


def decide(pairs: list[list[tuple[float, float]]], margin: float, look: Look, seed: int) -> Verdict:
    """The verdict at a look, of a comparison that is the only one of its command."""
    contrast = paired_difference(pairs, look.level, seed, max(500, math.ceil(4 / (1 - look.level))))
    return judge(contrast.low, contrast.high, contrast.p_value, margin, look.significant)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--setting", type=int, help="only this one, from 0")
    arguments = parser.parse_args()
    runs = arguments.runs
    settings = SETTINGS if arguments.setting is None else SETTINGS[arguments.setting : arguments.setting + 1]
    lines = [
        "| clusters | epochs | trials that err | margin | lost | no_regression | regression | once | saved |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | --- | ---: |",
    ]
    for setting in settings:
        for change, given in TRUTHS:
            loss = setting.margin if given is None else given
            if given is not None and 0 < given <= setting.margin:
                continue
            found = simulate(setting, change, loss, runs)
            shares = [
                f"{100 * outcome[verdict]:.1f}%"
                for outcome in (found.sequential, found.single)
                for verdict in (Verdict.NO_REGRESSION, Verdict.REGRESSION)
            ]
            rates = f"{shares[0]} | {shares[1]} | {shares[2]}, {shares[3]} | {found.saved:.0%}"
            lines.append(f"| {setting} | {100 * loss:g} | {rates} |")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
