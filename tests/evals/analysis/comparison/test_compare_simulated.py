"""How often `compare` is wrong, by simulation: 1,200 comparisons of arms that are equally good, and some that are not.

The arms are drawn case by case with a known chance of being right, and compared as runs are: in clusters, over epochs,
several arms at once, with trials lost.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from tests.evals.analysis.comparison.sides import Written, side
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import Measure
from toolbelt.evals.analysis.comparison.pairing import pair_within
from toolbelt.evals.statistics.verdict import Verdict

SHARES = (Measure.ACCURACY, Measure.SOLVED)
RESAMPLES = 200
MARGIN = 0.1
CHANCE = 1e-4
"""Of a simulation that fails although all is well."""

Arms = list[list[str]]
Draw = Callable[[np.random.Generator], tuple[Arms, list[str] | None]]


def verdicts(run: Written, margin: float = MARGIN, seed: int = 0) -> list[Verdict | None]:
    found = compare_arms(
        run, run, pair_within(run.arms), margin=margin, measures=SHARES, seed=seed, resamples=RESAMPLES
    )
    return [pair.contrast(measure).verdict for pair in found.pairs for measure in SHARES]


def spell(right: np.ndarray) -> list[str]:
    """Epochs of each case, of shape (cases, epochs), as `side` reads them."""
    return ["".join("+" if one else "-" for one in epochs) for epochs in right.tolist()]


def single(rng: np.random.Generator, cases: int = 50) -> tuple[Arms, None]:
    chance = rng.beta(2, 1, cases)[:, None]
    return [spell(rng.random((cases, 1)) < chance) for _ in range(2)], None


def clusters(rng: np.random.Generator) -> tuple[Arms, list[str]]:
    """Paraphrases of a task mostly go the same way in an arm."""
    of = np.repeat(np.arange(20), rng.integers(1, 4, 20))
    arms = []
    for _ in range(2):
        luck = np.where(rng.random(len(of)) < 0.7, rng.random(20)[of], rng.random(len(of)))
        arms.append(spell(luck[:, None] < 0.6))
    return arms, [f"k{number}" for number in of]


def epochs(rng: np.random.Generator) -> tuple[Arms, None]:
    chance = rng.beta(1, 1, 25)[:, None]
    return [spell(rng.random((25, 3)) < chance) for _ in range(2)], None


def rare(rng: np.random.Generator) -> tuple[Arms, None]:
    """Two cases in a hundred differ, to either side."""
    old = rng.random((80, 1)) < 0.5
    return [spell(old), spell(np.where(rng.random((80, 1)) < 0.04, rng.random((80, 1)) < 0.5, old))], None


def family(rng: np.random.Generator) -> tuple[Arms, None]:
    chance = rng.beta(2, 1, 30)[:, None]
    return [spell(rng.random((30, 1)) < chance) for _ in range(4)], None


def arguments(rng: np.random.Generator) -> tuple[Arms, None]:
    """Arguments are wrong so seldom that in half of the comparisons none is, and both shares are the same."""
    (old, new), _ = single(rng, 100)
    return [["a" if one == "+" and rng.random() < 0.005 else one for one in arm] for arm in (old, new)], None


SETTINGS: dict[str, Draw] = {
    "single-cases": single,
    "clusters": clusters,
    "three-epochs": epochs,
    "rare-differences": rare,
    "a-family-of-three-arms": family,
    "arguments-seldom-wrong": arguments,
}


def test_E7_of_1200_comparisons_of_equal_arms_few_are_called_a_regression() -> None:
    wrong, given = {}, set()
    for number, (name, draw) in enumerate(SETTINGS.items()):
        rng, wrong[name] = np.random.default_rng(number), 0
        for seed in range(200):
            arms, labels = draw(rng)
            found = verdicts(side(*arms, clusters=labels), seed=seed)
            wrong[name] += Verdict.REGRESSION in found
            given.update(found)
    assert sum(wrong.values()) <= stats.binom.ppf(1 - CHANCE, 1200, 0.05), wrong
    assert max(wrong.values()) <= stats.binom.ppf(1 - CHANCE, 200, 0.05), wrong
    assert given == set(Verdict)  # one that is never given is never wrong either


@pytest.mark.parametrize(
    ("loss", "cases"),
    [pytest.param(2 * MARGIN, 40, id="twice-the-margin"), pytest.param(MARGIN, 100, id="just-the-margin")],
)
def test_E7_a_loss_of_the_margin_is_seldom_passed(loss: float, cases: int) -> None:
    rng, passed, found = np.random.default_rng(7), 0, 0
    for _ in range(200):
        luck = rng.random((cases, 1))
        worse, better = luck < 0.05 + loss, luck > 0.95
        run = side(spell(~better), spell(~worse))
        verdict, _ = verdicts(run)  # of both shares, which are the same
        passed += verdict is Verdict.NO_REGRESSION
        found += verdict is Verdict.REGRESSION
    assert passed <= stats.binom.ppf(1 - CHANCE, 200, 0.025)
    assert found >= 60  # where there is one, it is seen


def test_E7_losing_trials_never_makes_a_regression_nor_hides_one() -> None:
    """Whatever speaks for the new arm is lost with a chance of a half, or whatever speaks against it."""
    rng, unsure = np.random.default_rng(8), 0
    for _ in range(120):
        (old, new), _ = single(rng)
        whole, _ = verdicts(side(old, new))
        for kept in "+-":  # of the new arm; of the old one the other
            lost = [
                ["e" if trial != wanted and rng.random() < 0.5 else trial for trial in arm]
                for arm, wanted in ((old, "-" if kept == "+" else "+"), (new, kept))
            ]
            verdict, _ = verdicts(side(*lost))
            assert verdict in (whole, Verdict.INSUFFICIENT_DATA)
            unsure += verdict is not whole
    assert unsure  # some were verdicts that rested on what was lost
