"""Rule S3: recall, MRR and nDCG of one search."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.cases.case import Answer, Case, ExpectedCall
from toolbelt.evals.retrieval.measures import find_places, ndcg_at, recall_at, reciprocal_rank


def answer(*calls: str) -> Answer:
    """A call of each; `a/b` may be of either tool."""
    return tuple(ExpectedCall(tuple(call.split("/"))) for call in calls)


def case(*answers: Answer) -> Case:
    """A case with these right answers."""
    return Case("c", ({"role": "user", "content": "q"},), answers[0], accept=answers[1:])


SECOND = 1 / log2(3)


@pytest.mark.parametrize(
    ("answers", "found", "recalls", "mrr", "ndcg"),
    [
        pytest.param([answer("a")], "abc", (1, 1), 1, 1, id="first"),
        pytest.param([answer("a")], "bac", (0, 1), 1 / 2, SECOND, id="second"),
        pytest.param([answer("a")], "bcd", (0, 0), 0, 0, id="not-found"),
        pytest.param([answer("a")], "", (0, 0), 0, 0, id="nothing-found"),
        pytest.param([answer("a", "b")], "ab", (1 / 2, 1), 1, 1, id="two-tools"),
        pytest.param([answer("a", "b")], "ba", (1 / 2, 1), 1, 1, id="in-any-order"),
        pytest.param([answer("a", "b")], "xa", (0, 1 / 2), 1 / 2, SECOND / (1 + SECOND), id="one-of-two"),
        pytest.param([answer("a", "a", "a")], "a", (1, 1), 1, 1, id="a-repeated-tool-counts-once"),
        pytest.param([answer("a", "b"), answer("c")], "xc", (0, 1), 1 / 2, SECOND, id="the-best-answer"),
        pytest.param([answer("a/b")], "xb", (0, 1), 1 / 2, SECOND, id="either-tool"),
        pytest.param([answer("b/a")], "ab", (1, 1), 1, 1, id="the-sooner-of-either"),
    ],
)
def test_S3_the_measures_of_a_case(
    answers: list[Answer], found: str, recalls: tuple[float, float], mrr: float, ndcg: float
) -> None:
    places = find_places(case(*answers), list(found))
    assert (recall_at(places, 1), recall_at(places, 2)) == pytest.approx(recalls)
    assert reciprocal_rank(places) == pytest.approx(mrr)
    assert ndcg_at(places, 10) == pytest.approx(ndcg)


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4), min_size=1, max_size=3),
    st.permutations("abcdefgh"),
    st.integers(0, 8),
)
def test_S3_more_that_is_looked_at_never_lessens_recall(
    answers: list[list[str]], order: list[str], length: int
) -> None:
    places = find_places(case(*(answer(*calls) for calls in answers)), order[:length])
    recalls = [recall_at(places, k) for k in range(9)]
    assert recalls == sorted(recalls)
    assert 0 <= recalls[0] <= recalls[-1] <= 1
    assert 0 <= ndcg_at(places, 10) <= 1
    assert (reciprocal_rank(places) > 0) == (recalls[-1] > 0) == (ndcg_at(places, 10) > 0)


def test_S3_what_comes_after_the_depth_counts_as_not_found() -> None:
    places = find_places(case(answer("a")), ["x"] * 10 + ["a"])
    assert (recall_at(places, 10), ndcg_at(places, 10), reciprocal_rank(places)) == (0, 0, 1 / 11)
