"""How often the verdict on a share is wrong, and how often it is given, where cases come in clusters and epochs.

`python -m tests.evals.statistics.simulation` draws 500 comparisons of each setting and change, which takes about ten
minutes of one core, and writes the tables of `docs/statistics-checks.md`. `test_simulation.py` draws fewer of some.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.statistics.paired import ShareContrast, paired_difference
from toolbelt.evals.statistics.verdict import SIGNIFICANT, Verdict, judge

RESAMPLES = 500
_RIGHT = 0.8
"""Share of the cases that the old arm gets right when no trial errs."""

Floats = NDArray[np.float64]


class Change(Enum):
    """How the new arm differs from the old one; each loses as much on average."""

    NONE = "nothing changes"
    CLUSTERS = "whole clusters are lost"
    LARGE = "whole clusters are lost, the more often the larger"
    CASES = "single cases are lost"
    ALL = "every case becomes a little worse"
    MIXED = "half by whole clusters, half by every case"
    SWAPS = "as many clusters are gained as are lost"


@dataclass(frozen=True, slots=True)
class Setting:
    """What is compared.

    Attributes:
        clusters: How many.
        sizes: Cases of a cluster, from the least to the most, each as likely.
        epochs: Trials of a case in each arm.
        error: Chance that a trial comes out the other way.
        margin: What may be lost.
        flaky: Share of the cases that are right in every other trial.
    """

    clusters: int
    sizes: tuple[int, int]
    epochs: int
    error: float
    margin: float
    flaky: float = 0.0

    def __str__(self) -> str:
        least, most = self.sizes
        sizes = f"{least}" if least == most else f"{least} to {most}"
        flaky = f", {self.flaky:.0%} flaky" if self.flaky else ""
        return f"{self.clusters} of {sizes} | {self.epochs} | {self.error:.1%}{flaky} | {100 * self.margin:g}"


SETTINGS = (
    Setting(100, (3, 3), 3, 0.015, 0.02),
    Setting(50, (3, 3), 3, 0.015, 0.02),
    Setting(100, (1, 1), 3, 0.015, 0.02),
    Setting(36, (1, 10), 3, 0.015, 0.1),
    Setting(300, (1, 1), 3, 0.015, 0.02),
    Setting(300, (1, 1), 2, 0.3, 0.1),
    Setting(300, (3, 3), 3, 0.015, 0.02),
    Setting(600, (1, 1), 5, 0.1, 0.02),
    Setting(100, (1, 1), 2, 0.0, 0.1, flaky=0.5),
    Setting(100, (1, 1), 5, 0.05, 0.05),
    Setting(100, (3, 3), 1, 0.05, 0.05),
    Setting(100, (3, 3), 3, 0.05, 0.05, flaky=0.1),
    Setting(50, (3, 3), 3, 0.05, 0.1),
    Setting(30, (4, 4), 3, 0.1, 0.15, flaky=0.3),
    Setting(20, (2, 2), 3, 0.05, 0.2),
    Setting(10, (1, 3), 5, 0.05, 0.3),
    Setting(100, (1, 10), 1, 0.015, 0.05),
    Setting(100, (1, 10), 3, 0.15, 0.08),
    Setting(300, (1, 10), 3, 0.05, 0.02),
)


def simulate(setting: Setting, change: Change, loss: float, runs: int, seed: int = 0) -> list[ShareContrast]:
    """Compare an old and a new arm, which differ by that loss on average, as often as asked."""
    rng = np.random.default_rng(seed)
    found = []
    for run in range(runs):
        pairs = draw(rng, setting, change, loss)
        found.append(paired_difference(pairs, seed=run, resamples=RESAMPLES))
    return found


def draw(rng: np.random.Generator, setting: Setting, change: Change, loss: float) -> list[list[tuple[float, float]]]:
    """The `(new, old)` shares of each case of each cluster."""
    sizes, right = draw_cases(rng, setting, change, loss)
    pairs = list(zip(*(share.tolist() for share in right / setting.epochs), strict=True))
    ends = np.cumsum(sizes).tolist()
    return [pairs[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)]


def draw_cases(
    rng: np.random.Generator, setting: Setting, change: Change, loss: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The size of each cluster; and of each case, cluster after cluster, how many trials are right: new, old."""
    sizes, chances = draw_chances(rng, setting, change, loss)
    return sizes, np.array([rng.binomial(setting.epochs, of_side) for of_side in chances])


def draw_chances(
    rng: np.random.Generator, setting: Setting, change: Change, loss: float
) -> tuple[NDArray[np.int64], tuple[Floats, Floats]]:
    """The size of each cluster; and of each case, cluster after cluster, the chance that a trial is right: new, old."""
    least, most = setting.sizes
    sizes = rng.integers(least, most + 1, setting.clusters)
    of = np.repeat(np.arange(setting.clusters), sizes)
    old = (rng.random(len(of)) < _RIGHT).astype(float)
    old[rng.random(len(of)) < setting.flaky] = 0.5
    new = old.copy()
    loss /= 1 - 2 * setting.error  # of which trials that err hide a part
    hit = rng.random(len(of)) < loss if change is Change.CASES else _hit(rng, sizes, change, loss)[of]
    if change is Change.SWAPS:
        gained = (rng.random(setting.clusters) < 0.5)[of]
        old[hit], new[hit] = ~gained[hit], gained[hit]
    else:
        old[hit], new[hit] = 1.0, 0.0
    if change in (Change.ALL, Change.MIXED):
        part = loss if change is Change.ALL else loss / 2 / (1 - loss / 2)
        old[~hit] = np.maximum(old[~hit], part)
        new[~hit] = old[~hit] - part
    return sizes, (setting.error + (1 - 2 * setting.error) * new, setting.error + (1 - 2 * setting.error) * old)


def _hit(rng: np.random.Generator, sizes: NDArray[np.int64], change: Change, loss: float) -> NDArray[np.bool_]:
    """Which clusters are lost, or swapped, wholly."""
    if change in (Change.NONE, Change.ALL, Change.CASES):
        return np.zeros(len(sizes), dtype=bool)
    chances = sizes ** (3.0 if change is Change.LARGE else 0.0)
    part = loss / 2 if change is Change.MIXED else loss
    return np.asarray(rng.random(len(sizes)) < chances * part * sizes.sum() / (chances @ sizes))


def share_of(found: Sequence[ShareContrast], verdict: Verdict, margin: float) -> float:
    """How many of the comparisons come to that verdict, each being the only one of its command."""
    return sum(judge(one.low, one.high, one.p_value, margin) is verdict for one in found) / len(found)


def share_covering(found: Sequence[ShareContrast], difference: float) -> float:
    """How many of the intervals hold the true difference."""
    return sum(one.low <= difference <= one.high for one in found) / len(found)


@dataclass(frozen=True, slots=True)
class Rates:
    """What a setting comes to, as fractions.

    Attributes:
        passed: By change, how often a loss of just the margin is called `no_regression`.
        cleared: How often nothing changed and that is called `no_regression`.
        seen: How often a loss of three times the margin is called a `regression`.
        alarms: How often equal arms are, with a margin of 0: the more often of nothing changed, and swaps.
        covered: How many intervals hold the truth, at least of all changes.
    """

    passed: dict[Change, float]
    cleared: float
    seen: float
    alarms: float
    covered: float


LOSSES = (Change.CLUSTERS, Change.LARGE, Change.CASES, Change.ALL, Change.MIXED)


def measure(setting: Setting, runs: int, seed: int = 0) -> Rates:
    """Simulate all changes of a setting."""
    margin = setting.margin
    losses = [change for change in LOSSES if change is not Change.LARGE or setting.sizes[0] < setting.sizes[1]]
    lost = {change: simulate(setting, change, margin, runs, seed) for change in losses}
    alike = simulate(setting, Change.NONE, 0.0, runs, seed)
    swaps = simulate(setting, Change.SWAPS, min(0.5, 2 * margin), runs, seed)
    clear = simulate(setting, Change.CLUSTERS, min(0.6, 3 * margin), runs, seed)
    return Rates(
        passed={change: share_of(found, Verdict.NO_REGRESSION, margin) for change, found in lost.items()},
        cleared=share_of(alike, Verdict.NO_REGRESSION, margin),
        seen=share_of(clear, Verdict.REGRESSION, margin),
        alarms=max(share_of(found, Verdict.REGRESSION, 0.0) for found in (alike, swaps)),
        covered=min(
            *(share_covering(found, -margin) for found in lost.values()),
            share_covering(alike, 0.0),
            share_covering(swaps, 0.0),
        ),
    )


def table(runs: int) -> Iterator[str]:
    """The lines of a Markdown table over all settings, in percent."""
    losses = " | ".join(change.value for change in LOSSES)
    yield f"| clusters | epochs | trials that err | margin | {losses} | cleared | seen | alarms | covered |"
    yield "|---" * (8 + len(LOSSES)) + "|"
    for setting in SETTINGS:
        rates = measure(setting, runs)
        passed = [f"{100 * rates.passed[change]:.1f}" if change in rates.passed else "" for change in LOSSES]
        power = [f"{100 * rate:.0f}" for rate in (rates.cleared, rates.seen)]
        errors = [f"{100 * rate:.1f}" for rate in (rates.alarms, rates.covered)]
        yield f"| {setting} | {' | '.join((*passed, *power, *errors))} |"


OPPOSED = (
    *((670, 27, 3, chance) for chance in (0.5, 0.35, 0.2, 0.1)),
    (100, 25, 3, 0.24),
    (300, 75, 3, 0.24),
    (100, 10, 5, 0.4),
    (300, 30, 5, 0.36),
    (1200, 60, 5, 0.3),
    (30, 3, 10, 0.18),
    (100, 10, 10, 0.2),
    (300, 30, 10, 0.18),
    (1000, 100, 10, 0.18),
    (300, 15, 4, 0.4),
    (300, 15, 4, 0.15),
    (604, 4, 12, 0.5),
    (601, 1, 12, 0.5),
)
"""Clusters, how many of them are large, the cases of those, and the chance of each to become wholly better; of the
others, which are single cases, as much becomes worse.
"""


def simulate_opposed(clusters: int, large: int, size: int, chance: float, runs: int) -> list[ShareContrast]:
    """Compare arms that are equally good, but not case by case: large clusters gain and single cases lose."""
    rng = np.random.default_rng(clusters + size)
    single = clusters - large
    found = []
    for run in range(runs):
        gained = rng.binomial(large, chance)
        lost = rng.binomial(single, chance * large * size / single)
        pairs = [[(1.0, 0.0)] * size] * gained + [[(1.0, 1.0)] * size] * (large - gained)
        pairs += [[(0.0, 1.0)]] * lost + [[(1.0, 1.0)]] * (single - lost)
        found.append(paired_difference(pairs, seed=run, resamples=RESAMPLES))
    return found


def opposed_table(runs: int) -> Iterator[str]:
    """The lines of a Markdown table over all of them, in percent."""
    yield "| clusters | large | cases of a large one | expected to change | called `regression` | p ≤ 0.05 | covered |"
    yield "|---" * 7 + "|"
    for clusters, large, size, chance in OPPOSED:
        found = simulate_opposed(clusters, large, size, chance, runs)
        significant = sum(one.p_value <= 0.05 for one in found) / runs
        rates = (share_of(found, Verdict.REGRESSION, 0.0), significant, share_covering(found, 0.0))
        figures = " | ".join(f"{100 * rate:.1f}" for rate in rates)
        yield f"| {clusters} | {large} | {size} | {large * chance:.1f} | {figures} |"


WINDOWS = tuple(
    (cases, fitting, rest) for cases in (40, 200, 1000) for fitting in (0.1, 0.65, 0.95) for rest in (0.0, 0.5)
)
"""Cases, the share of them that fits an arm, and the share that another, which all fit, may get right of the rest. Of
those that fit both, each gets the same ones right, but for one trial in twenty.
"""


@dataclass(frozen=True, slots=True)
class Windows:
    """What is found of an arm that was asked less than another, against that one.

    Attributes:
        contrast: Of what is right of all asked.
        leads_scored: Whether it is more accurate, each arm of what it was scored on.
    """

    contrast: ShareContrast
    leads_scored: bool


def simulate_windows(cases: int, fitting: float, rest: float, runs: int) -> list[Windows]:
    """Compare an arm that some cases are too long for with one that all fit."""
    rng = np.random.default_rng(cases + round(100 * fitting))
    found = []
    for run in range(runs):
        fits = rng.random(cases) < fitting
        fits[0] = True
        chances = np.where(rng.random(cases) < np.where(fits, _RIGHT, rest), 0.95, 0.0)
        less, more = (rng.random(cases) < chances for _ in range(2))
        pairs = [[(float(a and fit), float(b))] for a, b, fit in zip(less, more, fits, strict=True)]
        contrast = paired_difference(pairs, seed=run, resamples=RESAMPLES)
        found.append(Windows(contrast, bool(less[fits].mean() > more.mean())))
    return found


def windows_table(runs: int) -> Iterator[str]:
    """The lines of a Markdown table over all of them, in percent."""
    yield "| cases | fit the one | right of the rest | leads of scored | leads of asked | surely more | surely less |"
    yield "|---" * 7 + "|"
    for cases, fitting, rest in WINDOWS:
        found = simulate_windows(cases, fitting, rest, runs)
        contrasts = [each.contrast for each in found]
        surely = [each for each in contrasts if each.p_value < SIGNIFICANT]
        counts = (
            sum(each.leads_scored for each in found),
            sum(each.difference > 0 for each in contrasts),
            sum(each.low > 0 for each in surely),
            sum(each.high < 0 for each in surely),
        )
        figures = " | ".join(f"{100 * count / runs:.1f}" for count in counts)
        yield f"| {cases} | {fitting:.0%} | {rest:.0%} | {figures} |"


LOST = tuple((cases, error) for cases in (20, 50, 100) for error in (0.0, 0.02, 0.05))
"""Cases, each a cluster of its own and asked once, and the chance that a trial comes out the other way."""
LOST_LOSSES = (0.0, 0.05, 0.1, 0.2)
MOST_LOST = (0, 1, 2, 3, 5)


def simulate_lost(cases: int, error: float, loss: float, runs: int) -> NDArray[np.int64]:
    """How many cases are lost in each of so many comparisons."""
    rng = np.random.default_rng(cases)
    setting = Setting(cases, (1, 1), 1, error, 0.0)
    draws = (draw_cases(rng, setting, Change.CASES, loss)[1] for _ in range(runs))
    return np.array([(new < old).sum() for new, old in draws])


def lost_table(runs: int) -> Iterator[str]:
    """The lines of a Markdown table: how often `--max-lost N` passes, in percent, by what is truly lost."""
    yield f"| cases | trials that err | truly lost | {' | '.join(f'`--max-lost {most}`' for most in MOST_LOST)} |"
    yield "|---" * (3 + len(MOST_LOST)) + "|"
    for cases, error in LOST:
        for loss in LOST_LOSSES:
            lost = simulate_lost(cases, error, loss, runs)
            figures = " | ".join(f"{100 * (lost <= most).mean():.1f}" for most in MOST_LOST)
            yield f"| {cases} | {error:.0%} | {loss:.0%} | {figures} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="comparisons of each setting and change")
    runs = parser.parse_args().runs
    for line in chain(table(runs), opposed_table(2 * runs), windows_table(2 * runs), lost_table(8 * runs)):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
