"""Rings among names, against what can be seen by looking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.importers.openapi.graphs import closing_steps, closure, rings

NAMES = "abcdef"
GRAPHS = st.fixed_dictionaries(dict.fromkeys(NAMES, st.lists(st.sampled_from(NAMES), max_size=3)))


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"a": ["b"], "b": []}, [], id="a-chain-is-none"),
        pytest.param({"a": ["a"], "b": ["a"]}, ["a"], id="itself"),
        pytest.param({"a": ["b"], "b": ["c"], "c": ["b"]}, ["bc"], id="what-leads-to-one-is-not-in-it"),
        pytest.param({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"]}, ["ab", "cd"], id="one-leads-to-the-other"),
        pytest.param({"a": ["b", "c"], "b": ["a"], "c": ["a"]}, ["abc"], id="two-that-share-a-name-are-one"),
    ],
)
def test_rings(graph: dict[str, list[str]], expected: list[str]) -> None:
    assert sorted("".join(sorted(ring)) for ring in rings(graph)) == expected


@given(GRAPHS)
def test_a_ring_is_who_all_reach_each_other(graph: dict[str, list[str]]) -> None:
    reached = {name: closure(graph[name], graph.__getitem__) for name in graph}
    together = {frozenset(b for b in reached[a] if a in reached[b]) for a in graph if a in reached[a]}
    assert set(rings(graph)) == together
    assert len(rings(graph)) == len(together)


@given(GRAPHS)
def test_nothing_leads_back_without_the_closing_steps(graph: dict[str, list[str]]) -> None:
    closing = closing_steps(graph)
    left = {name: [target for target in targets if (name, target) not in closing] for name, targets in graph.items()}
    assert not any(name in closure(left[name], left.__getitem__) for name in left)
    assert bool(closing) == bool(rings(graph))


def test_a_long_ring_needs_no_stack() -> None:
    graph = {str(i): [str((i + 1) % 5000)] for i in range(5000)}
    assert [len(ring) for ring in rings(graph)] == [5000]
    assert closing_steps(graph) == {("4999", "0")}
