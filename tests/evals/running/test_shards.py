"""Parts of a plan (rule X4): disjoint, balanced, together the whole, and no cluster is cut."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.errors import ToolbeltError
from toolbelt.evals.running.shards import Shard, choose_positions, parse_shard


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.data())
def test_X4_shards_are_disjoint_balanced_whole_and_cut_no_cluster(clusters: list[int], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(set(clusters))))
    parts = [choose_positions(clusters, Shard(number, count)) for number in range(1, count + 1)]
    assert sorted(position for part in parts for position in part) == list(range(len(clusters)))
    assert all(list(part) == sorted(part) for part in parts), "in the order of the plan"
    homes = [{clusters[position] for position in part} for part in parts]
    assert sum(map(len, homes)) == len(set(clusters)), "a cluster has one home"
    largest = max(Counter(clusters).values())
    assert max(map(len, parts)) - min(map(len, parts)) <= largest


def test_X4_cases_that_stand_alone_are_dealt_out_in_turn() -> None:
    assert [list(choose_positions(range(7), Shard(number, 3))) for number in (1, 2, 3)] == [[0, 3, 6], [1, 4], [2, 5]]


def test_X4_more_shards_than_clusters_are_refused() -> None:
    with pytest.raises(ToolbeltError, match="2 clusters of cases cannot be split into 3 shards"):
        choose_positions([1, 1, 1, 2], Shard(1, 3))


@pytest.mark.parametrize("text", ["1/1", " 3 / 8 ", "003/8"])
def test_X4_a_shard_is_read(text: str) -> None:
    assert parse_shard(str(parse_shard(text))) == parse_shard(text)


@pytest.mark.parametrize(
    "text", ["", "3", "0/8", "9/8", "-1/8", "1/0", "1/8/2", "a/b", "٣/8", "1/99999", "3/8\x1b[31m"]
)
def test_X4_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ToolbeltError, match=r"no shard|1 to 10,000 shards"):
        parse_shard(text)
