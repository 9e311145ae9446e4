"""Rule S2: large values in files are a cache, replaced atomically."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolbelt.stores.cache_files import KEPT, CacheFiles


def test_S2_what_is_written_is_read(tmp_path: Path) -> None:
    store = CacheFiles(tmp_path / "new" / "indexes")
    assert store.read("a") is None
    store.write("a", b"one")
    store.write("a", b"two")
    assert store.read("a") == b"two"
    assert [path.name for path in store.folder.iterdir()] == ["a.npz"]


def test_S2_those_that_were_used_last_are_kept(tmp_path: Path) -> None:
    store = CacheFiles(tmp_path)
    for number in range(KEPT):
        store.write(str(number), b"")
        os.utime(tmp_path / f"{number}.npz", (number + 1, number + 1))
    left_behind = tmp_path / ".7.npz.killed.tmp"
    left_behind.write_bytes(b"")
    os.utime(left_behind, (0, 0))
    store.read("0")
    store.write("new", b"")
    assert {path.stem for path in tmp_path.iterdir()} == {"new", "0", *map(str, range(2, KEPT))}


@pytest.mark.parametrize("obstacle", ["no-folder", "folder-in-its-place"])
def test_S2_a_disk_that_will_not_costs_the_cache_alone(obstacle: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder" / "a.npz").mkdir(parents=True)
    store = CacheFiles(tmp_path / ("file" if obstacle == "no-folder" else "folder"))
    store.write("a", b"data")
    assert store.read("a") is None


def test_S2_processes_that_write_at_once_leave_a_whole_index(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from toolbelt.stores.cache_files import CacheFiles
store = CacheFiles(Path(sys.argv[1]))
for _ in range(20):
    store.write("a", sys.argv[2].encode() * 100_000)
    assert len(set(store.read("a"))) == 1
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    writers = [subprocess.Popen([*command, letter]) for letter in "xyz"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
