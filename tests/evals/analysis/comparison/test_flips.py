"""Which cases differ, and of what kind they are."""

from __future__ import annotations

import pytest

from tests.evals.analysis.comparison.sides import OUTCOMES, Written, side
from toolbelt.evals.analysis.comparison.cases import Pair, lay_side_by_side
from toolbelt.evals.analysis.comparison.comparison import Measure, Part
from toolbelt.evals.analysis.comparison.flips import find_flips, part_by_kind


def scored(old: Written, new: Written) -> tuple[Pair, ...]:
    return lay_side_by_side(old.read(0), new.read(0), old.about.cases, old.about.epochs).scored


def test_the_worse_ones_come_first_each_in_the_order_asked() -> None:
    found = find_flips(scored(side("-+a+-e"), side("+-+u+-")))
    assert [(flip.case, flip.change) for flip in found] == [("c1", -1), ("c3", -1), ("c0", 1), ("c4", 1)]
    assert (found[1].old, found[1].new) == (OUTCOMES["+"], OUTCOMES["u"])


@pytest.mark.parametrize(
    ("old", "new", "change", "shown"),
    [
        pytest.param("a++", "+-u", -2 / 3, "a-", id="the-first-of-each-sort"),
        pytest.param("u-a", "--u", -1 / 3, "a-", id="right-once-before"),
        pytest.param("+++", ".+-", -1 / 2, "+-", id="wrong-once-now"),
        pytest.param("a-.", "+++", 1 / 2, "-+", id="wrong-before-where-it-got-better"),
        pytest.param("---", "u+-", 1 / 3, "-+", id="right-once-now"),
    ],
)
def test_an_attempt_of_each_arm_is_shown(old: str, new: str, change: float, shown: str) -> None:
    (flip,) = find_flips(scored(side([old]), side([new])))
    assert flip.change == pytest.approx(change)
    assert (flip.old, flip.new) == tuple(OUTCOMES[one] for one in shown)


def test_equal_shares_are_no_flip() -> None:
    assert find_flips(scored(side(["+-", "+."]), side(["-+", "++"]))) == ()


def test_solved_has_flips_of_its_own() -> None:
    both = scored(side("+a-"), side("aa+"))
    first, second = find_flips(both, Measure.SOLVED)
    assert (first.case, first.change, first.new) == ("c0", -1, OUTCOMES["a"])
    assert (second.case, second.change) == ("c2", 1)
    assert part_by_kind(both, Measure.SOLVED) == (Part("single", 3, 1, 1, 1 / 3, 1 / 3),)


def test_kinds_come_by_what_they_cost() -> None:
    kinds = ["one", "two", "two", "two", "three", "three", "none"]
    found = part_by_kind(scored(side("++++-++", kinds=kinds), side("---+++.", kinds=kinds)))
    assert found == (
        Part("two", 3, 0, 2, 1, 1 / 3),  # a third is left, but it cost more than all of `one`
        Part("one", 1, 0, 1, 1, 0),
        Part("three", 2, 1, 0, 0.5, 1),
    )
