"""Sentences about a model that stay few, however many toolsets there are."""

from __future__ import annotations

import pytest

from tests.evals.analysis.matrix.runs import Asked, matrix_of
from toolbelt.evals.analysis.comparison.comparison import Contrast, Measure
from toolbelt.evals.analysis.matrix.wording import tell_accuracy, tell_difference
from toolbelt.evals.analysis.summary.measures import Rate

GOOD = "+" * 180 + "-" * 20


def test_many_that_lack_answers_are_one_sentence() -> None:
    arms = [Asked("full", GOOD, 9000), *(Asked(f"loadout:x{number}", "+" * 9 + "e" * 191) for number in range(12))]
    reasons = matrix_of(arms, 0.05).rows[0].pick.reasons
    assert len(reasons) == 2, "nor do they look promising"
    assert reasons[1].startswith("loadout:x0, loadout:x1, loadout:x2, ")
    assert reasons[1].endswith("were not considered: too many trials lack an answer.")


def test_many_that_are_too_long_are_one_sentence() -> None:
    arms = [Asked("full", GOOD, 9000), *(Asked(f"loadout:x{number}", "o" + GOOD[1:]) for number in range(12))]
    reasons = matrix_of(arms, 0.05).rows[0].pick.reasons
    assert reasons[1:] == ("12 smaller ones do not fit it in cases that fit with the best.",)


@pytest.mark.parametrize(
    ("rate", "told"),
    [(Rate(), "nothing"), (Rate(0, 9), "0.0%"), (Rate(1, 9000), "<0.1%"), (Rate(8999, 9000), ">99.9%")],
)
def test_a_share_is_never_rounded_to_all_or_none(rate: Rate, told: str) -> None:
    assert tell_accuracy(rate) == told


def test_a_difference_says_the_level_of_its_interval() -> None:
    contrast = Contrast(Measure.ACCURACY, difference=-0.01, low=-0.03, high=0.01)
    assert tell_difference(contrast, 0.02) == "-1.0 points, 95% interval -3.0 to +1.0"
    assert tell_difference(contrast, 0.02, 1 - 0.1 / 7) == "-1.0 points, 98.6% interval -3.0 to +1.0"
    assert tell_difference(Contrast(Measure.ACCURACY), 0.02) == ""
