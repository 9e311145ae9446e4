"""What coverage did to a difference, and what selection did."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.analysis.comparison.sides import Written, side
from toolbelt.evals.analysis.comparison.cases import Pair, lay_side_by_side
from toolbelt.evals.analysis.comparison.comparison import Contribution
from toolbelt.evals.analysis.comparison.contributions import find_contribution


def scored(old: Written, new: Written) -> tuple[Pair, ...]:
    return lay_side_by_side(old.read(0), new.read(0), old.about.cases, old.about.epochs).scored


def test_E5_what_is_not_covered_and_what_is_not_chosen() -> None:
    # Coverage 1 → 0.5, selection 0.75 → 1: −0.5 × 0.875 and +0.25 × 0.75.
    found = find_contribution(scored(side("+++-" * 2), side("++uu" * 2)))
    assert found == Contribution(-0.4375, 0.1875, 1, 0.5, 0.75, 1, newly_uncovered=4, newly_covered=0)


def test_E5_where_nothing_is_covered_nothing_is_known_of_selection() -> None:
    found = find_contribution(scored(side("uuuu"), side("++-u")))
    assert found == Contribution(0.5, 0, 0, 0.75, None, 2 / 3, newly_uncovered=0, newly_covered=3)
    back = find_contribution(scored(side("++-u"), side("uuuu")))
    assert back is not None
    assert (back.coverage, back.selection, back.newly_uncovered) == (-0.5, 0, 3)
    assert find_contribution(scored(side("uu"), side("uu"))) == Contribution(0, 0, 0, 0, None, None)


def test_E5_a_case_that_is_covered_at_times_is_not_newly_so() -> None:
    found = find_contribution(scored(side(["+u", "++"]), side(["uu", "+u"])))
    assert found is not None
    assert (found.old_coverage, found.new_coverage, found.newly_uncovered) == (0.75, 0.25, 1)


def test_without_cases_there_is_nothing_to_divide() -> None:
    assert find_contribution(scored(side("e+"), side("+e"))) is None


EPOCHS = st.text("+-ua.", min_size=3, max_size=3)


@given(st.lists(st.tuples(EPOCHS, EPOCHS), min_size=1, max_size=12))
def test_E5_the_parts_add_up_and_change_sides_with_the_arms(cases: list[tuple[str, str]]) -> None:
    old, new = side(one for one, _ in cases), side(other for _, other in cases)
    pairs = scored(old, new)
    found, back = find_contribution(pairs), find_contribution(scored(new, old))
    if found is None or back is None:
        assert not pairs
        return
    accuracies = [
        [sum(attempt.is_right for attempt in tried.attempts) / len(tried.attempts) for tried in arm]
        for arm in ([pair.old for pair in pairs], [pair.new for pair in pairs])
    ]
    before, after = (sum(shares) / len(shares) for shares in accuracies)
    assert found.coverage + found.selection == pytest.approx(after - before, abs=1e-12)
    assert found.old_coverage * (found.old_selection or 0) == pytest.approx(before)
    assert found.new_coverage * (found.new_selection or 0) == pytest.approx(after)
    assert (back.coverage, back.selection) == (-found.coverage, -found.selection)
    assert (back.newly_covered, back.newly_uncovered) == (found.newly_uncovered, found.newly_covered)
