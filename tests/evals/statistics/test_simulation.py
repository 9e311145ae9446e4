"""A few of the simulations of `docs/statistics-checks.md`, with fewer draws: cases in clusters and epochs (rule E7)."""

from __future__ import annotations

import pytest
from scipy import stats

from tests.evals.statistics.simulation import SETTINGS, Change, Setting, share_of, simulate, simulate_windows
from toolbelt.evals.statistics.verdict import Verdict

CHANCE = 1e-4
"""Of a simulation that fails although all is well."""


def _at_most(found: float, runs: int, rate: float) -> bool:
    return bool(found * runs <= stats.binom.ppf(1 - CHANCE, runs, rate))


@pytest.mark.parametrize("setting", SETTINGS[:4], ids=str)
def test_E7_where_a_sample_may_well_lack_a_loss_of_the_margin_it_is_not_passed(setting: Setting) -> None:
    """Each had passed in 4 to 12% of the runs, as trials that err lessened the weight of what the sample lacked."""
    lost = simulate(setting, Change.CLUSTERS, setting.margin, runs=200)
    assert _at_most(share_of(lost, Verdict.NO_REGRESSION, setting.margin), 200, 0.005)


def test_E7_over_epochs_equal_arms_pass_and_a_clear_loss_is_seen() -> None:
    setting = Setting(300, (3, 3), 3, 0.015, 0.02)
    alike = simulate(setting, Change.NONE, 0.0, runs=60)
    assert share_of(alike, Verdict.NO_REGRESSION, setting.margin) > 0.9
    assert share_of(alike, Verdict.REGRESSION, 0.0) < 0.1
    clear = simulate(setting, Change.CLUSTERS, 3 * setting.margin, runs=60)
    assert share_of(clear, Verdict.REGRESSION, setting.margin) > 0.9
    assert share_of(clear, Verdict.NO_REGRESSION, setting.margin) == 0


@pytest.mark.parametrize(
    "setting", [Setting(10, (1, 3), 5, 0.05, 0.0), Setting(40, (2, 2), 2, 0.1, 0.0, flaky=0.2)], ids=str
)
def test_E7_over_epochs_gains_and_losses_alike_are_seldom_called_a_regression(setting: Setting) -> None:
    swapped = simulate(setting, Change.SWAPS, 0.3, runs=200)
    assert _at_most(share_of(swapped, Verdict.REGRESSION, setting.margin), 200, 0.025)


@pytest.mark.parametrize("fitting", [0.1, 0.65])
def test_V1_an_arm_that_few_cases_fit_does_not_lead_by_being_asked_less(fitting: float) -> None:
    found = simulate_windows(200, fitting, rest=0.5, runs=40)
    assert sum(each.leads_scored for each in found) > 30, "by the accuracy of what was scored it would"
    assert not [each for each in found if each.contrast.difference > 0]
    equal = [each.contrast for each in simulate_windows(200, fitting, rest=0.0, runs=200)]
    for surely in ([each.low > 0 for each in equal], [each.high < 0 for each in equal]):
        assert _at_most(sum(surely) / 200, 200, 0.025)
