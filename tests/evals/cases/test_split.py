"""Which cases are held out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import needs_shared_data
from tests.evals.cases.samples import CATALOG, case, open_public, write_dataset
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.cases.split import LargeGroup, SplitGrouping, SplitSide, draw_split


def rows(clusters: int, kind: str = "single", each: int = 3, **fields: Any) -> list[dict[str, Any]]:
    return [
        case(id=f"{kind}-{n}-{m}", query=f"{kind} {n} {m}", cluster=f"{kind}-{n}", kind=kind, **fields)
        for n in range(clusters)
        for m in range(each)
    ]


def opened(folder: Path, made: list[dict[str, Any]], catalog: Catalog = CATALOG) -> Dataset:
    return open_dataset(str(write_dataset(folder, made, catalog)))


def held(dataset: Dataset, share: float = 0.2, **options: Any) -> set[str]:
    """Clusters that are held out."""
    split = draw_split(dataset, share, **options)
    cases = [dataset.case(position) for position in range(len(dataset))]
    sides = {part: {c.cluster for n, c in enumerate(cases) if split.part(n) is part} for part in SplitSide}
    assert not sides[SplitSide.DEVELOPMENT] & sides[SplitSide.HELD_OUT]
    assert {part: len(clusters) for part, clusters in sides.items()} == split.groups or "by" in options
    return sides[SplitSide.HELD_OUT]


@pytest.mark.parametrize(
    ("clusters", "share", "expected"),
    [
        pytest.param(1, 0.5, 0, id="a-single-cluster-stays"),
        pytest.param(2, 0.01, 1, id="at-least-one"),
        pytest.param(2, 0.99, 1, id="at-most-all-but-one"),
        pytest.param(12, 0.2, 2, id="the-nearest-whole-number-below"),
        pytest.param(13, 0.2, 3, id="the-nearest-whole-number-above"),
        pytest.param(40, 0.25, 10, id="the-share"),
    ],
)
def test_E7_each_kind_has_its_share_of_clusters(tmp_path: Path, clusters: int, share: float, expected: int) -> None:
    dataset = opened(tmp_path / "d", [*rows(clusters, "few"), *rows(20, "many", each=1)])
    found = Counter(cluster.split("-")[0] for cluster in held(dataset, share))
    assert found["few"] == expected
    assert draw_split(dataset, share).single == (("few",) if clusters == 1 else ())


def test_E7_the_draw_goes_by_seed_and_names_alone(tmp_path: Path) -> None:
    lines = rows(60)
    before = held(opened(tmp_path / "a", lines))
    assert held(opened(tmp_path / "b", lines[::-1])) == before
    assert held(opened(tmp_path / "c", lines[::3])) == before, "cases of a cluster follow it"
    other = held(opened(tmp_path / "d", lines), seed=1)
    assert len(other) == len(before)
    assert other != before


@settings(max_examples=25, deadline=None)
@given(names=st.sets(st.text(min_size=1, max_size=3).filter(str.strip), min_size=2, max_size=25), data=st.data())
def test_E7_a_new_cluster_moves_at_most_one_other(
    tmp_path_factory: pytest.TempPathFactory, names: set[str], data: st.DataObject
) -> None:
    ordered = sorted(names)
    new = data.draw(st.sampled_from(ordered))
    share = data.draw(st.floats(0.05, 0.95))
    folder = tmp_path_factory.mktemp("d")
    made = [case(id=f"{n}", cluster=name, kind="k") for n, name in enumerate(ordered)]
    after = held(opened(folder / "after", made), share)
    if len(ordered) == 2:
        return
    before = held(opened(folder / "before", [row for row in made if row["cluster"] != new]), share)
    assert len((before ^ after) - {new}) <= 1


def test_E3_by_tool_no_right_tool_is_in_both_parts(tmp_path: Path) -> None:
    tools = ("git_push", "git_log", "file/read", "web/read", "search")
    made = [
        case(id=f"{tool}-{n}", cluster=f"{tool}-{n}", expected=[{"tool": tool}], kind="k")
        for tool in tools
        for n in range(4)
    ]
    made.append(case(id="both", kind="k", expected=[{"tool": "git_push"}, {"tool": "git_log"}]))
    made += [case(id=f"none-{n}", kind="none", expected=[]) for n in range(5)]
    dataset = opened(tmp_path / "d", made)
    split = draw_split(dataset, 0.5, by=SplitGrouping.TOOL)
    tools_of = {part: set[str]() for part in SplitSide}
    for position in range(len(dataset)):
        tools_of[split.part(position)] |= dataset.case(position).right_ids
    assert not tools_of[SplitSide.DEVELOPMENT] & tools_of[SplitSide.HELD_OUT]
    linked = [side for side in tools_of.values() if {"git/git_push", "git/git_log"} & side]
    assert len(linked) == 1, "a case over both holds them together"
    assert sum(split.groups.values()) == 4 + 5


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan"), float("inf")])
def test_E9_a_share_that_is_none(tmp_path: Path, share: float) -> None:
    with pytest.raises(ToolbeltError, match="between 0 and 1"):
        draw_split(opened(tmp_path / "d", rows(3)), share)


def test_E9_where_nothing_can_be_held_out(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError, match="more than one cluster"):
        draw_split(opened(tmp_path / "d", [*rows(1), *rows(1, "other")]), 0.5)


HUB = [f"hub{n}" for n in range(12)]
SMALL = [f"tool{n}" for n in range(30)]


def unequal(folder: Path, hub_cases: int, small_cases: int) -> Dataset:
    """One group of a dozen linked tools, and thirty of a tool each."""
    made = [
        case(id=f"hub-{n}", kind="k", expected=[{"tool": HUB[n % 12]}, {"tool": HUB[(n + 1) % 12]}])
        for n in range(hub_cases)
    ]
    made += [case(id=f"{tool}-{n}", kind="k", expected=[{"tool": tool}]) for tool in SMALL for n in range(small_cases)]
    tools = tuple(Tool(name, f"Does {name}.") for name in (*HUB, *SMALL))
    return opened(folder, made, Catalog((Plugin("p", tools),)))


def test_E7_by_tool_a_large_group_is_held_out_as_often_as_a_small_one(tmp_path: Path) -> None:
    dataset = unequal(tmp_path / "d", hub_cases=12, small_cases=3)  # 12 of 102 cases: less than the share
    seeds = 200
    splits = [draw_split(dataset, 0.2, by=SplitGrouping.TOOL, seed=seed) for seed in range(seeds)]
    of_hub = sum(split.parts[0] for split in splits) / seeds
    of_another = sum(split.parts[12] for split in splits) / seeds
    # 6 of 31 groups: 0.19, give or take three standard errors of 0.028. By the least hash alone it would be over 0.9.
    assert 0.11 < of_hub < 0.28
    assert 0.11 < of_another < 0.28
    assert {split.groups[SplitSide.HELD_OUT] for split in splits} == {6}
    assert all(split.large == () for split in splits)
    assert 0.15 < sum(split.held_out for split in splits) / seeds < 0.25, "and so is the share of cases"


def test_E7_by_tool_what_most_hangs_on_is_never_held_out(tmp_path: Path) -> None:
    dataset = unequal(tmp_path / "d", hub_cases=300, small_cases=2)
    for seed in range(40):
        split = draw_split(dataset, 0.2, by=SplitGrouping.TOOL, seed=seed)
        assert not any(split.parts[:300])
        assert split.groups == {SplitSide.DEVELOPMENT: 25, SplitSide.HELD_OUT: 6}
        assert split.large == (LargeGroup("k", 300, 360, 0),)
        assert split.held_out == pytest.approx(12 / 360)


@pytest.mark.parametrize(
    ("sizes", "share", "large"),
    [
        pytest.param([3, 3], 0.2, [], id="two-alike-can-be-divided"),
        pytest.param([90, 10], 0.2, [90], id="the-larger-of-two"),
        pytest.param([4, 5, 4, 6], 0.2, [5, 6], id="more-than-the-share-and-than-the-middle"),
        pytest.param([1] * 7 + [2], 0.2, [2], id="just-above"),
        pytest.param([1] * 8 + [2], 0.2, [], id="just-below"),
    ],
)
def test_E7_a_cluster_larger_than_the_share_stays_and_is_told(
    tmp_path: Path, sizes: list[int], share: float, large: list[int]
) -> None:
    made = [case(id=f"{n}-{m}", cluster=f"{n}", kind="k") for n, size in enumerate(sizes) for m in range(size)]
    dataset = opened(tmp_path / "d", made)
    for seed in range(10):
        split = draw_split(dataset, share, seed=seed)
        assert [group.cases for group in split.large] == large
        assert not any(split.parts[group.position] for group in split.large)
        assert split.groups[SplitSide.HELD_OUT] >= 1


@needs_shared_data
def test_E7_by_tool_a_public_set_is_divided_as_asked(tmp_path: Path) -> None:
    dataset = open_public("seal_tools")
    for seed in range(3):
        split = draw_split(dataset, 0.2, by=SplitGrouping.TOOL, seed=seed)
        assert split.held_out < 0.4
        assert max(group.cases for group in split.large) > len(dataset) / 2
