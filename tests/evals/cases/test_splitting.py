"""Which cases are held out, and that the parts are datasets that mean the same."""

from __future__ import annotations

import json
import resource
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.cases.samples import case, public, write_dataset, write_imported, write_lines
from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.cases.splitting import Grouping, Part, draw_split, write_split


def rows(clusters: int, kind: str = "single", each: int = 3, **fields: Any) -> list[dict[str, Any]]:
    return [
        case(id=f"{kind}-{n}-{m}", query=f"{kind} {n} {m}", cluster=f"{kind}-{n}", kind=kind, **fields)
        for n in range(clusters)
        for m in range(each)
    ]


def opened(folder: Path, made: list[dict[str, Any]]) -> Dataset:
    return open_dataset(str(write_dataset(folder, made)))


def held(dataset: Dataset, share: float = 0.2, **options: Any) -> set[str]:
    """Clusters that are held out."""
    split = draw_split(dataset, share, **options)
    cases = [dataset.case(position) for position in range(len(dataset))]
    sides = {part: {c.cluster for n, c in enumerate(cases) if split.part(n) is part} for part in Part}
    assert not sides[Part.DEVELOPMENT] & sides[Part.HELD_OUT]
    assert {part: len(clusters) for part, clusters in sides.items()} == split.groups or "by" in options
    return sides[Part.HELD_OUT]


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
    made = rows(60)
    before = held(opened(tmp_path / "a", made))
    assert held(opened(tmp_path / "b", made[::-1])) == before
    assert held(opened(tmp_path / "c", made[::3])) == before, "cases of a cluster follow it"
    other = held(opened(tmp_path / "d", made), seed=1)
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
    split = draw_split(dataset, 0.5, by=Grouping.TOOL)
    tools_of = {part: set[str]() for part in Part}
    for position in range(len(dataset)):
        tools_of[split.part(position)] |= dataset.case(position).right_ids
    assert not tools_of[Part.DEVELOPMENT] & tools_of[Part.HELD_OUT]
    linked = [side for side in tools_of.values() if {"git/git_push", "git/git_log"} & side]
    assert len(linked) == 1, "a case over both holds them together"
    assert sum(split.groups.values()) == 4 + 5


def test_E7_lines_are_copied_as_they_are(tmp_path: Path) -> None:
    made = rows(20)
    folder = write_dataset(tmp_path / "d", [])
    lines = [json.dumps(row, indent=None, separators=(" ,  ", ":")) + "  " for row in made]
    (folder / "cases.jsonl").write_bytes(("\r\n\r\n".join(lines)).encode())
    dataset = open_dataset(str(folder))
    parts = write_split(dataset, draw_split(dataset, 0.3), str(tmp_path / "out"))
    found = [(tmp_path / "out" / part / "cases.jsonl").read_text().splitlines() for part in Part]
    assert sorted([*found[0], *found[1]]) == sorted(lines)
    for part, kept in zip(Part, found, strict=True):
        assert kept == [line for line in lines if line in kept], "in their order"
        again = open_dataset(parts[part].folder)
        assert (again.digest, len(again)) == (parts[part].digest, parts[part].cases)
    assert not [path for path in (tmp_path / "out").iterdir() if path.name not in ("dev", "held-out")]


def test_E3_an_imported_set_keeps_its_layout_and_its_excluded_cases_go_nowhere(tmp_path: Path) -> None:
    made = [public(id=f"{n}", expected=["git_push"]) for n in range(8)]
    made += [public(id=f"lost-{n}", expected=["no_such_tool"]) for n in range(3)]
    made += [public(id=f"none-{n}", expected=[], kind="irrelevant") for n in range(8)]
    dataset = open_dataset(str(write_imported(tmp_path / "d", made)))
    parts = write_split(dataset, draw_split(dataset, 0.25), str(tmp_path / "out"))
    assert {part: written.cases for part, written in parts.items()} == {Part.DEVELOPMENT: 12, Part.HELD_OUT: 4}
    assert (tmp_path / "out/dev/catalog.jsonl").read_bytes() == (tmp_path / "d/catalog.jsonl").read_bytes()
    assert "lost" not in "".join((tmp_path / "out" / part / "cases.jsonl").read_text() for part in Part)


def test_E7_a_part_that_would_mean_something_else_is_refused(tmp_path: Path) -> None:
    # Whether `expected_args` lists accepted values is told by the whole file: alone, each part here has lists only.
    made = [
        public(id=f"{n}", cluster=f"{n}", expected_args=[{"remote": ["a", "b"]}], expected_ids=[["git/git_push"]])
        for n in range(9)
    ]
    made.append(public(id="odd", cluster="odd", expected_args=[{"remote": "a"}], expected_ids=[["git/git_push"]]))
    dataset = open_dataset(str(write_imported(tmp_path / "d", made)))
    with pytest.raises(ToolbeltError, match="in another way on their own"):
        write_split(dataset, draw_split(dataset, 0.3), str(tmp_path / "out"))
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan"), float("inf")])
def test_E9_a_share_that_is_none(tmp_path: Path, share: float) -> None:
    with pytest.raises(ToolbeltError, match="between 0 and 1"):
        draw_split(opened(tmp_path / "d", rows(3)), share)


def test_E9_where_nothing_can_be_held_out(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError, match="no kind of case has more than one cluster"):
        draw_split(opened(tmp_path / "d", [*rows(1), *rows(1, "other")]), 0.5)


def test_E9_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    dataset = opened(tmp_path / "d", rows(10))
    split = draw_split(dataset, 0.5)
    write_lines(tmp_path / "d/cases.jsonl", rows(10, "else"))
    with pytest.raises(InvalidFileError, match="changed"):
        write_split(dataset, split, str(tmp_path / "out"))
    assert not list((tmp_path / "out").iterdir())


def test_E9_parts_that_are_there_stay_unless_forced(tmp_path: Path) -> None:
    dataset = opened(tmp_path / "d", rows(10))
    out = tmp_path / "out"
    write_split(dataset, draw_split(dataset, 0.5), str(out))
    (out / "dev/catalog.yaml").write_text("stale")
    before = (out / "held-out/cases.jsonl").read_bytes()
    other = draw_split(dataset, 0.5, seed=9)
    with pytest.raises(ToolbeltError, match="exists already"):
        write_split(dataset, other, str(out))
    assert (out / "held-out/cases.jsonl").read_bytes() == before
    write_split(dataset, other, str(out), overwrite=True)
    assert (out / "held-out/cases.jsonl").read_bytes() != before
    assert not (out / "dev/catalog.yaml").exists()
    part = open_dataset(str(out / "dev"))
    with pytest.raises(ToolbeltError, match="is what is being split"):
        write_split(part, draw_split(part, 0.5), str(out), overwrite=True)


def test_E9_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    dataset = opened(tmp_path / "d", rows(400))
    split = draw_split(dataset, 0.5)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(StorageError):
            write_split(dataset, split, str(tmp_path / "out"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert not list((tmp_path / "out").iterdir())
