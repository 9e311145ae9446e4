"""Marks of axes are round, inside, and not too many."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.views.pictures.canvas import (
    is_logarithmic,
    linear_marks,
    logarithmic_marks,
    share_range,
    short_number,
)


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (0, 9_000, [0, 2000, 4000, 6000, 8000]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.43, 0.71, [0.5, 0.6, 0.7]),
        (7, 7, [7]),
    ],
)
def test_linear_marks(low: float, high: float, marks: list[float]) -> None:
    assert linear_marks(low, high) == pytest.approx(marks)


@pytest.mark.parametrize(
    ("low", "high", "marks"),
    [
        (1, 50, [1, 2, 5, 10, 20, 50]),
        (60, 16_000, [100, 300, 1000, 3000, 10_000]),
        (0.5, 2e6, [1, 10, 100, 1e3, 1e4, 1e5, 1e6]),
    ],
)
def test_logarithmic_marks(low: float, high: float, marks: list[float]) -> None:
    assert logarithmic_marks(low, high) == pytest.approx(marks)


@given(st.floats(0, 1e6), st.floats(1e-3, 1e6))
def test_linear_marks_are_few_and_inside(low: float, span: float) -> None:
    marks = linear_marks(low, low + span)
    assert len(marks) <= 7
    slack = span * 1e-6 + low * 1e-9
    assert all(low - slack <= mark <= low + span + slack for mark in marks)


@given(st.lists(st.floats(0, 1), min_size=1))
def test_a_range_of_shares_holds_all_and_makes_no_mountain_of_a_little(shares: list[float]) -> None:
    low, high = share_range(shares, shares)
    assert 0 <= low <= min(shares)
    assert max(shares) <= high <= 1
    assert high - low >= 0.1499


@pytest.mark.parametrize(
    ("values", "expected"), [([], False), ([0, 1000], False), ([100, 1000], False), ([80, 12_000], True)]
)
def test_only_values_far_apart_need_a_logarithm(values: list[float], expected: bool) -> None:
    assert is_logarithmic(values) == expected


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (250, "250"), (1000, "1k"), (2500, "2.5k"), (12e6, "12M"), (3e9, "3G")]
)
def test_short_numbers(value: float, shown: str) -> None:
    assert short_number(value) == shown
