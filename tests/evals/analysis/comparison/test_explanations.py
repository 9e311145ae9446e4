"""Which cases differ, and of what kind they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.analysis.comparison.sides import OUTCOMES, Written, side
from toolbelt.evals.analysis.comparison import explanations
from toolbelt.evals.analysis.comparison.comparison import (
    Confusion,
    Contribution,
    Flip,
    KindContrast,
    Measure,
    count_changes,
)
from toolbelt.evals.analysis.comparison.explanations import (
    find_confusions,
    find_contribution,
    find_flips,
    missing_and_surplus,
    name_confusions,
    part_by_kind,
)
from toolbelt.evals.analysis.comparison.paired_cases import PairedCases, pair_cases
from toolbelt.evals.analysis.evidence.evidence import Attempt
from toolbelt.evals.scoring.outcome import Outcome


def paired(old: Written, new: Written) -> PairedCases:
    return pair_cases(old.read(0), new.read(0), old.about.cases, old.about.epochs)


def flips_of(old: Written, new: Written, measure: Measure = Measure.ACCURACY) -> tuple[Flip, ...]:
    flips, left_out = find_flips(paired(old, new), measure)
    assert not left_out
    return flips


def test_the_worse_ones_come_first_each_in_the_order_asked() -> None:
    found = flips_of(side("-+a+-e"), side("+-+u+-"))
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
    (flip,) = flips_of(side([old]), side([new]))
    assert flip.change == pytest.approx(change)
    assert (flip.old, flip.new) == tuple(OUTCOMES[one] for one in shown)


def test_equal_shares_are_no_flip() -> None:
    assert flips_of(side(["+-", "+."]), side(["-+", "++"])) == ()


def test_of_very_many_flips_some_are_kept_and_the_others_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanations, "_LEAST_FLIPS", 6)
    old, new = side("+" * 10 + "-" * 4 + "u+"), side("-" * 8 + "uu" + "+" * 4 + "u+")
    whole, _ = find_flips(paired(old, new), most=12)
    kept, left_out = find_flips(paired(old, new), pairs=2, most=12)
    assert len(whole) == 12  # 14 differ
    assert [flip.case for flip in kept] == ["c0", "c3", "c6", "c10", "c11", "c12"]
    assert [(each.old, each.new, each.is_worse, each.cases) for each in left_out] == [
        (OUTCOMES["+"], OUTCOMES["-"], True, 5),
        (OUTCOMES["+"], OUTCOMES["u"], True, 2),
        (OUTCOMES["-"], OUTCOMES["+"], False, 1),
    ]
    assert (count_changes(kept, left_out).worse, count_changes(kept, left_out).better) == (10, 4)


def test_solved_has_flips_of_its_own() -> None:
    old, new = side("+a-"), side("aa+")
    first, second = flips_of(old, new, Measure.SOLVED)
    assert (first.case, first.change, first.new) == ("c0", -1, OUTCOMES["a"])
    assert (second.case, second.change) == ("c2", 1)
    assert part_by_kind(paired(old, new), Measure.SOLVED) == (KindContrast("single", 3, 1, 1, 1 / 3, 1 / 3),)


def test_kinds_come_by_what_they_cost() -> None:
    kinds = ["one", "two", "two", "two", "three", "three", "none"]
    found = part_by_kind(paired(side("++++-++", kinds=kinds), side("---+++.", kinds=kinds)))
    assert found == (
        KindContrast("two", 3, 0, 2, 1, 1 / 3),  # a third is left, but it cost more than all of `one`
        KindContrast("one", 1, 0, 1, 1, 0),
        KindContrast("three", 2, 1, 0, 0.5, 1),
    )


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
    cases = pair_cases(old.read(0), new.read(0), 9, 1)
    assert find_confusions(cases) == (
        Confusion("a", "x", 1, 2),  # by one, more often
        Confusion("a", "", 0, 1),
        Confusion("a", "y", 3, 1),  # the case that is not scored in both arms is not there
        Confusion("b", "y", 1, 0),
        Confusion("b", "x", 1, 1),
    )


def test_E5_what_is_not_covered_and_what_is_not_chosen() -> None:
    # Coverage 1 → 0.5, selection 0.75 → 1: −0.5 × 0.875 and +0.25 × 0.75.
    found = find_contribution(paired(side("+++-" * 2), side("++uu" * 2)))
    assert found == Contribution(-0.4375, 0.1875, 1, 0.5, 0.75, 1, newly_uncovered=4, newly_covered=0)


def test_E5_where_nothing_is_covered_nothing_is_known_of_selection() -> None:
    found = find_contribution(paired(side("uuuu"), side("++-u")))
    assert found == Contribution(0.5, 0, 0, 0.75, None, 2 / 3, newly_uncovered=0, newly_covered=3)
    back = find_contribution(paired(side("++-u"), side("uuuu")))
    assert back is not None
    assert (back.coverage, back.selection, back.newly_uncovered) == (-0.5, 0, 3)
    assert find_contribution(paired(side("uu"), side("uu"))) == Contribution(0, 0, 0, 0, None, None)


def test_E5_a_case_that_is_covered_at_times_is_not_newly_so() -> None:
    found = find_contribution(paired(side(["+u", "++"]), side(["uu", "+u"])))
    assert found is not None
    assert (found.old_coverage, found.new_coverage, found.newly_uncovered) == (0.75, 0.25, 1)


def test_without_cases_there_is_nothing_to_divide() -> None:
    assert find_contribution(paired(side("e+"), side("+e"))) is None


EPOCHS = st.text("+-ua.", min_size=3, max_size=3)


@given(st.lists(st.tuples(EPOCHS, EPOCHS), min_size=1, max_size=12))
def test_E5_the_parts_add_up_and_change_sides_with_the_arms(cases: list[tuple[str, str]]) -> None:
    old, new = side(one for one, _ in cases), side(other for _, other in cases)
    pairs = paired(old, new)
    found, back = find_contribution(pairs), find_contribution(paired(new, old))
    if found is None or back is None:
        assert not len(pairs.scored)
        return
    both = [
        [case.scored for case in (old.read(0)[name], new.read(0)[name])]
        for name in old.read(0)
        if old.read(0)[name].scored and new.read(0)[name].scored
    ]
    shares = [[sum(attempt.is_right for attempt in tried) / len(tried) for tried in case] for case in both]
    before, after = (sum(column) / len(column) for column in zip(*shares, strict=True))
    assert found.coverage + found.selection == pytest.approx(after - before, abs=1e-12)
    assert found.old_coverage * (found.old_selection or 0) == pytest.approx(before)
    assert found.new_coverage * (found.new_selection or 0) == pytest.approx(after)
    assert (back.coverage, back.selection) == (-found.coverage, -found.selection)
    assert (back.newly_covered, back.newly_uncovered) == (found.newly_uncovered, found.newly_covered)
