"""pass@k and pass^k."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.statistics.pass_at_k import Passing, pass_all_k, pass_at_k


@pytest.mark.parametrize(
    ("successes", "n", "k", "at_least_once", "each_time"),
    [
        pytest.param(1, 2, 1, 0.5, 0.5, id="one-draw-is-the-mean"),
        pytest.param(3, 10, 2, 1 - 21 / 45, 3 / 45, id="two-of-ten"),
        pytest.param(0, 5, 3, 0.0, 0.0, id="never"),
        pytest.param(5, 5, 3, 1.0, 1.0, id="always"),
        pytest.param(4, 5, 2, 1.0, 6 / 10, id="too-few-failures-to-draw"),
    ],
)
def test_passing(successes: int, n: int, k: int, at_least_once: float, each_time: float) -> None:
    assert pass_at_k([(successes, n)], k).value == pytest.approx(at_least_once)
    assert pass_all_k([(successes, n)], k).value == pytest.approx(each_time)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_it_is_the_mean_over_every_draw_there_is(drawn: tuple[int, int, int]) -> None:
    successes, n, k = drawn
    draws = list(combinations([True] * successes + [False] * (n - successes), k))
    assert pass_at_k([(successes, n)], k).value == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_all_k([(successes, n)], k).value == pytest.approx(sum(map(all, draws)) / len(draws))


@pytest.mark.parametrize(
    ("successes", "n", "k"), [(13, 200, 1), (13, 200, 10), (13, 200, 100), (1, 200, 200), (0, 200, 5)]
)
def test_it_is_the_product_that_chen_and_others_compute(successes: int, n: int, k: int) -> None:
    # Chen et al. (2021), figure 3: the same estimator as a product, for it does not overflow.
    wrong = n - successes
    product = 1.0 if wrong < k else 1.0 - float(np.prod(1.0 - k / np.arange(wrong + 1, n + 1)))
    assert pass_at_k([(successes, n)], k).value == pytest.approx(product)


def test_a_mean_travels_with_how_many_cases_it_covers() -> None:
    assert pass_at_k([(1, 2), (0, 2), (1, 1), (0, 0)], 2) == Passing(0.5, 2, 2)
    assert pass_all_k([(1, 1)], 2) == Passing(None, 0, 1)


@pytest.mark.parametrize(("counts", "k"), [([(1, 2)], 0), ([(3, 2)], 1), ([(-1, 2)], 1)])
def test_what_is_no_count_is_refused(counts: list[tuple[int, int]], k: int) -> None:
    with pytest.raises(ValueError):
        pass_at_k(counts, k)
