"""Which tools are called for which."""

from __future__ import annotations

import pytest

from tests.evals.analysis.comparison.sides import side
from toolbelt.evals.analysis.comparison.cases import lay_side_by_side
from toolbelt.evals.analysis.comparison.comparison import Confusion
from toolbelt.evals.analysis.comparison.confusions import (
    find_confusions,
    missing_and_surplus,
    name_confusions,
)
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.scoring.outcome import Outcome


def wrong(missing: str, surplus: str) -> Attempt:
    return Attempt(Outcome.WRONG_TOOL, True, missing=tuple(missing.split()), surplus=tuple(surplus.split()))


@pytest.mark.parametrize(
    ("missing", "surplus", "expected"),
    [
        pytest.param("a", "x", {("a", "x")}, id="one-for-one"),
        pytest.param("a b", "x y", {("a", "x"), ("b", "y")}, id="as-many-in-order"),
        pytest.param("a b", "b a", set(), id="called-in-the-wrong-order-is-no-confusion"),
        pytest.param("a b", "x a", {("b", "x")}, id="equal-ids-are-taken-out-first"),
        pytest.param("a a", "a x", {("a", "x")}, id="as-often-as-they-are-there"),
        pytest.param("a b", "x", {("a", "x"), ("b", "x")}, id="fewer-calls-may-stand-for-any"),
        pytest.param("a", "x y", {("a", "x"), ("a", "y")}, id="more-calls-may-be-for-one"),
        pytest.param("a", "x x", {("a", "x")}, id="a-trial-counts-once"),
        pytest.param("a", "", {("a", "")}, id="nothing-was-called"),
        pytest.param("", "x", {("", "x")}, id="nothing-was-wanted"),
        pytest.param("", "", set(), id="nothing-to-say"),
    ],
)
def test_what_is_confused_with_what(missing: str, surplus: str, expected: set[tuple[str, str]]) -> None:
    assert name_confusions(wrong(missing, surplus)) == expected


def test_what_is_missing_and_surplus_alike_took_no_place() -> None:
    assert tuple(map(list, missing_and_surplus(wrong("a b a", "b c a")))) == (["a"], ["c"])


def test_a_right_trial_confuses_nothing() -> None:
    assert name_confusions(Attempt(Outcome.WRONG_ARGUMENTS, True, surplus=("x",))) == set()


def test_confusions_are_counted_over_paired_cases_the_worse_first() -> None:
    ax, ay, bx, by, none = (wrong(*names) for names in ("ax", "ay", "bx", "by", ("a", "")))
    old = side([[ax], [ay], [ay], [bx], "+", [ay], "+", "e", [by]])
    new = side([[none], "+", "+", [bx], [ax], [ay], [ax], [ay], "+"])
    cases = lay_side_by_side(old.read(0), new.read(0), 9, 1)
    assert find_confusions(cases.scored) == (
        Confusion("a", "x", 1, 2),  # by one, more often
        Confusion("a", "", 0, 1),
        Confusion("a", "y", 3, 1),  # the case that is not scored in both arms is not there
        Confusion("b", "y", 1, 0),
        Confusion("b", "x", 1, 1),
    )
