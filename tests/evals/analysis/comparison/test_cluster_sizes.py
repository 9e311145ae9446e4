"""That few large clusters may carry what is found is said where it applies, and nowhere else."""

from __future__ import annotations

import pytest

from tests.evals.analysis.comparison.sides import side
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.pairing import pair_arms
from toolbelt.evals.analysis.comparison.reasons import ClusterSizes, ComparisonNote


def notes(sizes: list[int], old: str = "+") -> tuple[ComparisonNote, ...]:
    clusters = [f"k{number}" for number, size in enumerate(sizes) for _ in range(size)]
    one, other = side(old * len(clusters), clusters=clusters), side("+" * len(clusters), clusters=clusters, name="b")
    return compare_arms(one, other, pair_arms(one.arms, other.arms), resamples=100).notes


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([1] * 643 + [3] * 27, id="as-the-shipped-cases-are"),
        pytest.param([1] * 75 + [3] * 25, id="many-of-three"),
        pytest.param(list(range(1, 11)) * 5, id="mixed-1-to-10"),
        pytest.param([10] * 5, id="all-large"),
        pytest.param([1] * 900 + [10] * 100, id="large-ones-that-are-many"),
        pytest.param([1] * 1000 + [4], id="a-large-one-of-no-weight"),
        pytest.param([12], id="one-cluster"),
    ],
)
def test_E7_clusters_that_do_no_harm_are_not_spoken_of(sizes: list[int]) -> None:
    assert notes(sizes) == ()


@pytest.mark.parametrize(
    ("sizes", "largest", "mean"),
    [
        pytest.param([1] * 600 + [12], 12, 1.0, id="one-of-twelve"),
        pytest.param([1] * 90 + [5] * 10, 5, 1.4, id="a-tenth-of-five"),
        pytest.param([1] * 270 + [10] * 30, 10, 1.9, id="a-tenth-of-ten"),
        pytest.param([1] * 285 + [4] * 15, 4, 1.1, id="some-of-four"),
    ],
)
def test_E7_few_large_clusters_are_told(sizes: list[int], largest: int, mean: float) -> None:
    (note,) = notes(sizes)
    assert isinstance(note, ClusterSizes)
    assert (note.largest, round(note.mean, 1)) == (largest, mean)


def test_E7_sizes_are_of_the_cases_that_were_scored() -> None:
    assert len(notes([1] * 600 + [12], old="e")) == 1, "that none is scored is told, and no more"
