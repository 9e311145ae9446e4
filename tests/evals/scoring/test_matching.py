"""Calls made laid against calls asked for: held against trying every way."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.scoring.matching import MatchedCall, MatchQuality, match_calls

FITS = st.sampled_from([None, MatchQuality(False, False), MatchQuality(True, False), MatchQuality(True, True)])


@st.composite
def grids(draw: st.DrawFn) -> tuple[list[list[MatchQuality | None]], list[bool]]:
    """How each call made meets each call asked for, and which calls made may be surplus."""
    wanted, made = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    fits = [[draw(FITS) for _ in range(made)] for _ in range(wanted)]
    return fits, [draw(st.booleans()) for _ in range(made)]


def value(fits: list[list[MatchQuality | None]], permitted: list[bool], laid: list[tuple[int, int]]) -> tuple[int, ...]:
    """What counts, the weightiest first; greater is better."""
    pairs = [(fits[row][column], permitted[column]) for row, column in laid]
    return (
        len(pairs),
        sum(not may_be for _, may_be in pairs),
        sum(fit.is_valid for fit, _ in pairs if fit),
        sum(fit.is_right for fit, _ in pairs if fit),
    )


def best_of_all(fits: list[list[MatchQuality | None]], permitted: list[bool], in_order: bool) -> tuple[int, ...]:
    """Every way there is, tried."""
    wanted, made = len(fits), len(permitted)
    found = [(0, 0, 0, 0)]
    for size in range(1, min(wanted, made) + 1):
        for rows in itertools.combinations(range(wanted), size):
            for columns in itertools.permutations(range(made), size):
                if in_order and list(columns) != sorted(columns):
                    continue
                laid = list(zip(rows, columns, strict=True))
                if all(fits[row][column] for row, column in laid):
                    found.append(value(fits, permitted, laid))  # type: ignore[arg-type]
    return max(found)


@given(grids(), st.booleans())
def test_E3_no_way_to_lay_calls_is_better(
    grid: tuple[list[list[MatchQuality | None]], list[bool]], in_order: bool
) -> None:
    fits, permitted = grid
    pairs = match_calls(len(fits), permitted, lambda row, column: fits[row][column], in_order=in_order)
    laid = [(pair.wanted, pair.made) for pair in pairs]
    assert value(fits, permitted, laid) == best_of_all(fits, permitted, in_order)
    assert all(pair.fit is fits[pair.wanted][pair.made] for pair in pairs)
    assert [row for row, _ in laid] == sorted({row for row, _ in laid}), "each call asked for is met once, in order"
    columns = [column for _, column in laid]
    assert len(set(columns)) == len(columns), "each call made meets one"
    if in_order:
        assert columns == sorted(columns)


@given(grids())
def test_E3_an_answer_is_met_exactly_if_some_assignment_meets_it(
    grid: tuple[list[list[MatchQuality | None]], list[bool]],
) -> None:
    fits, permitted = grid
    pairs = match_calls(len(fits), permitted, lambda row, column: fits[row][column])
    met = {pair.made for pair in pairs}
    found = len(pairs) == len(fits) and all(permitted[c] or c in met for c in range(len(permitted)))
    ways = itertools.permutations(range(len(permitted)), len(fits)) if len(fits) <= len(permitted) else ()
    assert found == any(
        all(fits[row][column] for row, column in enumerate(way))
        and all(permitted[c] or c in way for c in range(len(permitted)))
        for way in ways
    )


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("made", [50, 120])
def test_E3_fifty_parallel_calls_of_one_tool_do_not_blow_up(made: int, in_order: bool) -> None:
    def fit(row: int, column: int) -> MatchQuality:
        right = (column == row) if in_order else (column * 7) % made == row
        return MatchQuality(is_valid=True, is_right=right)

    started = time.process_time()
    pairs = match_calls(50, [True] * made, fit, in_order=in_order)
    assert time.process_time() - started < 5
    assert [pair.fit.is_right for pair in pairs] == [True] * 50


def test_E3_right_arguments_are_found_where_the_first_assignment_would_miss_them() -> None:
    right = {(0, 1), (1, 0)}
    pairs = match_calls(2, [False, False], lambda row, column: MatchQuality(True, (row, column) in right))
    assert pairs == [MatchedCall(0, 1, MatchQuality(True, True)), MatchedCall(1, 0, MatchQuality(True, True))]
