"""Chunks: every trial that is left is in exactly one of them, and a cluster is never cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.running.test_plan import make_plan
from toolbelt.evals.engines.chunks import MOST_TRIALS, choose_size, make_chunks
from toolbelt.evals.running.plan import Arm


@given(
    clusters=st.lists(st.integers(0, 5), min_size=1, max_size=20),
    epochs=st.integers(1, 3),
    size=st.integers(1, 30),
    data=st.data(),
)
def test_X5_what_is_left_is_split_by_cluster(clusters: list[int], epochs: int, size: int, data: st.DataObject) -> None:
    arms = (Arm("a", "full"), Arm("a", "tiered"))
    plan = replace(make_plan(cases=len(clusters), epochs=epochs), arms=arms)
    done = data.draw(st.sets(st.integers(0, plan.size - 1)))
    chunks = list(make_chunks(plan, clusters, range(len(clusters)), done, size))
    asked = [trial.number for chunk in chunks for trial in plan.trials(chunk.done, chunk.positions)]
    assert sorted(asked) == sorted(set(range(plan.size)) - done)
    assert [chunk.trials for chunk in chunks] == [
        len(list(plan.trials(chunk.done, chunk.positions))) for chunk in chunks
    ]
    homes = [{clusters[position] for position in chunk.positions} for chunk in chunks]
    assert sum(map(len, homes)) == len(set().union(*homes)), "a cluster is in one chunk"
    assert all(chunk.trials >= size for chunk in chunks[:-1])


@pytest.mark.parametrize(
    ("trials", "workers", "concurrency", "size"),
    [
        pytest.param(1_000_000, 2, 4, MOST_TRIALS, id="many-trials-come-in-large-chunks"),
        pytest.param(2_000, 2, 4, 250, id="each-worker-gets-several"),
        pytest.param(100, 2, 4, 32, id="but-none-too-small-to-keep-a-worker-busy"),
        pytest.param(100, 10, 4, 10, id="unless-others-would-have-none"),
        pytest.param(3, 10, 4, 1, id="more-workers-than-trials"),
        pytest.param(1_000_000, 2, 500, 4000, id="high-concurrency-fills-a-chunk-several-times"),
    ],
)
def test_X5_chunks_are_large_where_that_saves_time(trials: int, workers: int, concurrency: int, size: int) -> None:
    assert choose_size(trials, workers, concurrency) == size
