"""How many cases: against published formulas, against the tests themselves, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from toolbelt.evals.statistics.paired import paired_difference
from toolbelt.evals.statistics.planning import (
    cases_for_difference,
    cases_for_margin,
    design_effect,
    least_difference,
    least_margin,
    power_of_difference,
    power_of_margin,
)


def _connor(effect: float, discordance: float) -> float:
    """Connor (1987), Biometrics 43, formula 2: power 0.8, two-sided level 0.05."""
    z, b = stats.norm.ppf(0.975), stats.norm.ppf(0.8)
    return float((z * math.sqrt(discordance) + b * math.sqrt(discordance - effect**2)) ** 2 / effect**2)


@pytest.mark.parametrize(
    ("effect", "discordance"), [(0.03, 0.05), (0.03, 0.2), (0.1, 0.3), (0.2, 0.5), (0.05, 0.06), (0.01, 0.2)]
)
def test_cases_are_a_little_more_than_connors_approximation(effect: float, discordance: float) -> None:
    cases, near = cases_for_difference(effect, discordance), _connor(effect, discordance)
    assert cases is not None
    assert near < cases < near + 2.5 / effect  # an exact test wants about 2 more differing pairs
    assert power_of_difference(cases, effect, discordance) >= 0.8 > power_of_difference(cases - 1, effect, discordance)


@pytest.mark.parametrize(
    ("effect", "discordance", "power", "near"),
    [
        # Connor's formula as the R package MESS (Ekstrøm) prints it for power_mcnemar_test(paid, psi = 2).
        pytest.param(0.125, 0.375, 0.9, 247.9973, id="paid-0.125"),
        pytest.param(0.1, 0.3, 0.8, 233.0945, id="paid-0.1"),
    ],
)
def test_cases_are_a_little_more_than_published_ones(
    effect: float, discordance: float, power: float, near: float
) -> None:
    cases = cases_for_difference(effect, discordance, power)
    assert cases is not None
    assert near < cases < near + 2.5 / effect


def test_power_of_the_exact_test_agrees_with_a_published_value() -> None:
    # The R package MESS checks itself by it: 144 pairs, 0.25 against 0.45, one-sided 2.5%, the exact test: 0.80.
    assert power_of_difference(144, 0.2, 0.7) == pytest.approx(0.80, abs=5e-3)


@pytest.mark.parametrize(("cases", "effect", "discordance"), [(12, 0.3, 0.5), (25, 0.2, 0.2), (40, 0.05, 0.3)])
def test_power_is_the_chance_of_every_table_that_mcnemar_rejects(cases: int, effect: float, discordance: float) -> None:
    better, worse = (discordance + effect) / 2, (discordance - effect) / 2
    power = 0.0
    for b in range(cases + 1):
        for c in range(min(b, cases - b + 1)):
            if stats.binomtest(b, b + c).pvalue <= 0.05:
                power += stats.multinomial.pmf([b, c, cases - b - c], cases, [better, worse, 1 - better - worse])
    assert power_of_difference(cases, effect, discordance) == pytest.approx(power, rel=1e-6)
    assert power_of_difference(cases, -effect, discordance) == pytest.approx(power, rel=1e-6)


@pytest.mark.parametrize(
    ("cases", "margin", "discordance", "effect"), [(60, 0.1, 0.2, 0.0), (100, 0.05, 0.1, 0.03), (45, 0.2, 0.4, -0.05)]
)
def test_power_of_a_margin_is_how_often_the_interval_keeps_it(
    cases: int, margin: float, discordance: float, effect: float
) -> None:
    shares = [(discordance + effect) / 2, (discordance - effect) / 2, 1 - discordance]
    tables, counts = np.unique(np.random.default_rng(5).multinomial(cases, shares, 5_000), axis=0, return_counts=True)
    kept = 0
    for (better, worse, alike), count in zip(tables.tolist(), counts.tolist(), strict=True):
        pairs = [[(1, 0)]] * better + [[(0, 1)]] * worse + [[(1, 1)]] * alike
        kept += count * (paired_difference(pairs).low > -margin)
    power = power_of_margin(cases, margin, discordance, effect)
    assert abs(kept / 5_000 - power) < 4 * math.sqrt(0.25 / 5_000)


@pytest.mark.parametrize(("margin", "discordance"), [(0.02, 0.1), (0.03, 0.2), (0.1, 0.3)])
def test_cases_for_a_margin_are_near_the_normal_approximation(margin: float, discordance: float) -> None:
    cases = cases_for_margin(margin, discordance)
    assert cases is not None
    near = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 * discordance / margin**2
    assert 0.97 * near < cases < near + 3 / margin
    assert power_of_margin(cases, margin, discordance) >= 0.8


def test_a_true_gain_lets_a_margin_be_kept_with_fewer_cases_and_a_true_loss_with_more() -> None:
    better, equal, worse = (cases_for_margin(0.03, 0.2, effect) for effect in (0.01, 0.0, -0.01))
    assert better is not None
    assert equal is not None
    assert worse is not None
    assert better < equal < worse


@pytest.mark.parametrize("cases", [100, 724, 5_000])
@pytest.mark.parametrize("discordance", [0.1, 0.3])
def test_what_so_many_cases_show_takes_about_so_many_cases(cases: int, discordance: float) -> None:
    effect, margin = least_difference(cases, discordance), least_margin(cases, discordance)
    assert effect is not None
    assert margin is not None
    assert cases_for_difference(effect, discordance) == pytest.approx(cases, rel=0.02)
    assert cases_for_margin(margin, discordance) == pytest.approx(cases, rel=0.03)


@pytest.mark.parametrize(("size", "correlation"), [(3, 1.0), (3, 0.3), (5, 0.1)])
def test_cases_in_clusters_have_the_power_that_is_planned(size: int, correlation: float) -> None:
    effect, discordance = 0.1, 0.3
    alone = cases_for_difference(effect, discordance)
    assert alone is not None
    clusters = math.ceil(alone * design_effect(size, correlation) / size)
    rng = np.random.default_rng(17)
    seen = 0
    for seed in range(300):
        # Two cases that each follow their cluster's luck with that chance are as correlated as is asked.
        follows = rng.random((clusters, size)) < math.sqrt(correlation)
        luck = np.where(follows, rng.random((clusters, 1)), rng.random((clusters, size)))
        new, old = luck < 1 - (discordance - effect) / 2, luck >= (discordance + effect) / 2
        found = paired_difference(np.stack([new, old], axis=2).astype(float).tolist(), seed=seed, resamples=200)
        seen += found.low > 0 and found.p_value < 0.05
    assert stats.binom.ppf(1e-4, 300, 0.77) <= seen <= stats.binom.ppf(1 - 1e-4, 300, 0.83)


@pytest.mark.parametrize(("size", "correlation"), [(0.5, 0.5), (2, -0.1), (2, 1.1), (math.nan, 0.5), (2, math.nan)])
def test_clusters_that_cannot_be_are_refused(size: float, correlation: float) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        design_effect(size, correlation)


def test_what_cannot_be_shown_is_none() -> None:
    assert least_difference(20, 0.1) is None  # six of six that differ is the least that McNemar rejects
    assert least_difference(5, 1.0) is None
    assert least_difference(6, 1.0) is not None
    assert cases_for_difference(1e-4, 0.5) is None


@pytest.mark.parametrize("power", [0.5, 0.9, 0.99])
def test_more_power_takes_more_cases(power: float) -> None:
    less, more = cases_for_difference(0.05, 0.2, power - 0.05), cases_for_difference(0.05, 0.2, power)
    assert less is not None
    assert more is not None
    assert less < more


@pytest.mark.parametrize(
    ("effect", "discordance", "power"),
    [(0.3, 0.2, 0.8), (0.0, 0.2, 0.8), (0.1, 0.0, 0.8), (0.1, 1.2, 0.8), (0.1, 0.2, 1.0), (math.nan, 0.2, 0.8)],
)
def test_what_cannot_be_planned_is_refused(effect: float, discordance: float, power: float) -> None:
    with pytest.raises(ValueError):
        cases_for_difference(effect, discordance, power)


@pytest.mark.parametrize(("margin", "effect"), [(0.0, 0.0), (1.0, 0.0), (0.02, -0.02), (0.02, 0.5)])
def test_margins_that_cannot_be_kept_are_refused(margin: float, effect: float) -> None:
    with pytest.raises(ValueError):
        cases_for_margin(margin, 0.2, effect)
    with pytest.raises(ValueError):
        power_of_margin(0, 0.02, 0.2)
