"""Looks after each epoch, at one level (rule X6): against published constants, and by a simulation."""

from __future__ import annotations

import pytest
from scipy import stats

from tests.evals.statistics.many_runs import LOST, PASSED
from tests.evals.statistics.sequential_simulation import share
from tests.evals.statistics.simulation import Change, Setting
from tests.evals.statistics.top_up_simulation import simulate
from toolbelt.evals.statistics.sequential import ALPHA, find_level

PUBLISHED = {1: 1.960, 2: 2.178, 3: 2.289, 4: 2.361, 5: 2.413}
"""Of looks an equal way apart: Jennison and Turnbull 2000, Group Sequential Methods, table 2.1."""


@pytest.mark.parametrize(("looks", "bound"), PUBLISHED.items())
def test_X6_one_level_for_all_looks_is_that_published(looks: int, bound: float) -> None:
    level = find_level(tuple(number / looks for number in range(1, looks + 1)))
    assert stats.norm.isf((1 - level) / 2) == pytest.approx(bound, abs=6e-4)


def test_X6_top_up_decides_nearly_as_often_as_all_epochs_and_errs_as_one_look() -> None:
    """The whole table is in docs/statistics-checks.md; a correct design fails here once in 10,000 times."""
    setting, runs, most = Setting(724, (1, 1), 3, 0.0, 0.02, flaky=0.1), 500, stats.binom.ppf(1 - 1e-4, 500, ALPHA)
    equal = simulate(setting, Change.NONE, 0.0, runs)
    assert share(equal.once, PASSED) < 0.7
    assert share(equal.topped_up, PASSED) > share(equal.all_epochs, PASSED) - 0.05
    assert equal.epochs.mean() < 1.8
    assert share(equal.topped_up, LOST) * runs <= most
    lost = simulate(setting, Change.CLUSTERS, setting.margin, runs)
    assert share(lost.topped_up, PASSED) * runs <= most
