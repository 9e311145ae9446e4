"""That the parts of a split are datasets that mean the same as the whole."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path

import pytest
from filelock import FileLock

from tests.evals.cases.samples import public, write_dataset, write_imported, write_lines
from tests.evals.cases.test_split import opened, rows
from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.cases.split import SplitSide, draw_split
from toolbelt.evals.cases.split_files import write_split


def test_E7_lines_are_copied_as_they_are(tmp_path: Path) -> None:
    made = rows(20)
    folder = write_dataset(tmp_path / "d", [])
    lines = [json.dumps(row, indent=None, separators=(" ,  ", ":")) + "  " for row in made]
    (folder / "cases.jsonl").write_bytes(("\r\n\r\n".join(lines)).encode())
    dataset = open_dataset(str(folder))
    parts = write_split(dataset, draw_split(dataset, 0.3), str(tmp_path / "out"))
    found = [(tmp_path / "out" / part / "cases.jsonl").read_text().splitlines() for part in SplitSide]
    assert sorted([*found[0], *found[1]]) == sorted(lines)
    for part, kept in zip(SplitSide, found, strict=True):
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
    assert {part: written.cases for part, written in parts.items()} == {
        SplitSide.DEVELOPMENT: 12,
        SplitSide.HELD_OUT: 4,
    }
    assert (tmp_path / "out/dev/catalog.jsonl").read_bytes() == (tmp_path / "d/catalog.jsonl").read_bytes()
    assert "lost" not in "".join((tmp_path / "out" / part / "cases.jsonl").read_text() for part in SplitSide)


def test_E7_a_part_that_would_mean_something_else_is_refused(tmp_path: Path) -> None:
    # Whether `expected_args` lists accepted values is told by the whole file: alone, each part here has lists only.
    made = [
        public(id=f"{n}", cluster=f"{n}", expected_args=[{"remote": ["a", "b"]}], expected_ids=[["git/git_push"]])
        for n in range(9)
    ]
    made.append(public(id="odd", cluster="odd", expected_args=[{"remote": "a"}], expected_ids=[["git/git_push"]]))
    dataset = open_dataset(str(write_imported(tmp_path / "d", made)))
    with pytest.raises(ToolbeltError, match="in another way"):
        write_split(dataset, draw_split(dataset, 0.3), str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_E9_a_file_that_changes_meanwhile(tmp_path: Path) -> None:
    dataset = opened(tmp_path / "d", rows(10))
    split = draw_split(dataset, 0.5)
    write_lines(tmp_path / "d/cases.jsonl", rows(10, "else"))
    with pytest.raises(InvalidFileError, match="changed"):
        write_split(dataset, split, str(tmp_path / "out/deeper"))
    assert not (tmp_path / "out").exists()


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
    assert not (tmp_path / "out").exists()


def test_E9_a_folder_that_was_there_stays_where_nothing_is_written(tmp_path: Path) -> None:
    dataset = opened(tmp_path / "d", rows(10))
    split = draw_split(dataset, 0.5)
    (tmp_path / "out").mkdir()
    write_lines(tmp_path / "d/cases.jsonl", rows(10, "else"))
    with pytest.raises(InvalidFileError, match="changed"):
        write_split(dataset, split, str(tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == []


def test_E9_what_a_kill_left_is_cleared_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    dataset = opened(tmp_path / "d", rows(10))
    left, used = tmp_path / "out/.split.left", tmp_path / "out/.split.used"
    for folder in (left, used):
        (folder / "dev").mkdir(parents=True)
        (folder / "dev/cases.jsonl").write_text("half")
    with FileLock(used / "lock"):
        write_split(dataset, draw_split(dataset, 0.5), str(tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".split.used", "dev", "held-out"]


@pytest.mark.parametrize("output", ["d", "d/../d", "link"])
def test_E9_parts_are_not_put_into_the_dataset_itself(tmp_path: Path, output: str) -> None:
    dataset = opened(tmp_path / "d", rows(10))
    (tmp_path / "link").symlink_to(tmp_path / "d")
    with pytest.raises(ToolbeltError, match="is what is being split"):
        write_split(dataset, draw_split(dataset, 0.5), str(tmp_path / output))
    assert not (tmp_path / "d/dev").exists()


def test_E3_drafts_are_counted_in_the_parts(tmp_path: Path) -> None:
    dataset = opened(tmp_path / "d", [{**row, "draft": row["cluster"] == "single-0"} for row in rows(10)])
    parts = write_split(dataset, draw_split(dataset, 0.5), str(tmp_path / "out"))
    assert sorted(part.drafts for part in parts.values()) == [0, 3]
