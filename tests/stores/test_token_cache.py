"""The cache of token counts: by content, and never in the way."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.providers.tokenizers import make_counter
from toolbelt.stores.token_cache import FILE_NAME, CachedTokenCounter


@dataclass
class LengthCounter:
    """A counter that says what it was asked, so that a test can see what the cache spared it."""

    name: str = "length"
    exact: bool = True
    asked: list[str] = field(default_factory=list)

    def count(self, texts: Sequence[str]) -> list[int]:
        self.asked += texts
        return [len(text) for text in texts]


def _count(folder: Path, *texts: str, name: str = "length") -> tuple[list[int], list[str]]:
    counter = LengthCounter(name)
    return CachedTokenCounter(counter, folder).count(texts), counter.asked


def test_a_text_is_counted_once_and_repeats_and_order_are_kept(tmp_path: Path) -> None:
    assert _count(tmp_path, "bb", "a", "bb") == ([2, 1, 2], ["bb", "a"])
    assert _count(tmp_path, "a", "ccc", "bb") == ([1, 3, 2], ["ccc"])
    assert _count(tmp_path) == ([], [])


def test_a_changed_description_is_counted_anew(tmp_path: Path) -> None:
    _count(tmp_path, '{"description":"old"}')
    assert _count(tmp_path, '{"description":"newer"}') == ([23], ['{"description":"newer"}'])


def test_another_tokenizer_has_counts_of_its_own(tmp_path: Path) -> None:
    _count(tmp_path, "a", name="one")
    assert _count(tmp_path, "a", name="two")[1] == ["a"]
    assert _count(tmp_path, "a", name="one")[1] == []


def test_name_and_text_are_kept_apart_in_the_key(tmp_path: Path) -> None:
    _count(tmp_path, "bc", name="a")
    assert _count(tmp_path, "c", name="ab") == ([1], ["c"])


def test_more_texts_than_sqlite_has_variables(tmp_path: Path) -> None:
    texts = [f"{'x' * (number % 7)}{number}" for number in range(40_000)]
    assert _count(tmp_path, *texts)[0] == [len(text) for text in texts]
    assert _count(tmp_path, *texts) == ([len(text) for text in texts], [])


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_the_cache_gives_what_the_tokenizer_gives(tmp_path: Path, name: str) -> None:
    texts = ["", "hello world", "漢字", "<|endoftext|>", " " * 1000]
    plain = make_counter(name)
    cached = CachedTokenCounter(plain, tmp_path)
    assert cached.count(texts) == cached.count(texts) == plain.count(texts)
    assert (cached.name, cached.exact) == (name, True)


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


def _scribble(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[100:4096] = b"\xff" * 3996
    file.write_bytes(raw)


SPOILERS = {
    "text-instead-of-a-database": lambda file: file.write_text("not a database, but long enough to look at\n" * 99),
    "empty-file": lambda file: file.write_bytes(b""),
    "cut-short": _truncate,
    "scribbled-over": _scribble,
}


@pytest.mark.parametrize("spoil", SPOILERS.values(), ids=SPOILERS)
def test_a_spoilt_cache_costs_time_and_never_a_wrong_count(tmp_path: Path, spoil: object) -> None:
    assert callable(spoil)
    texts = [f"{number} {'x' * (number % 50)}" for number in range(2000)]
    right = [len(text) for text in texts]
    _count(tmp_path, *texts)
    spoil(tmp_path / FILE_NAME)
    assert _count(tmp_path, *texts)[0] == right
    assert _count(tmp_path, *texts)[0] == right


def test_a_file_that_is_no_database_is_replaced_so_that_the_cache_works_again(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("not a database, but long enough to look at\n" * 99)
    _count(tmp_path, "a")
    assert _count(tmp_path, "a") == ([1], [])


def test_a_table_of_another_make_is_no_hindrance(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection:
        connection.execute("CREATE TABLE checked_counts (other TEXT)")
    assert _count(tmp_path, "a") == ([1], ["a"])


def test_where_no_cache_can_be_counting_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / FILE_NAME).mkdir()
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper", tmp_path, Path("/proc/none")):
        assert _count(folder, "a") == ([1], ["a"])


def test_a_read_only_cache_is_read_and_not_written() -> None:
    code = """
import os, sys
from pathlib import Path
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.stores.token_cache import CachedTokenCounter
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)  # for root nothing is read-only
print(CachedTokenCounter(EstimateCounter(), Path(sys.argv[1])).count(["abcdefgh", "a"]))
"""
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        folder = Path(name)
        CachedTokenCounter(EstimateCounter(), folder).count(["abcdefgh"])
        before = (folder / FILE_NAME).read_bytes()
        (folder / FILE_NAME).chmod(0o444)
        folder.chmod(0o555)
        command = [sys.executable, "-c", code, name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        folder.chmod(0o755)
        assert (done.stdout, done.returncode) == ("[2, 1]\n", 0), done
        assert (folder / FILE_NAME).read_bytes() == before


def test_a_locked_cache_is_gone_without_after_a_while(tmp_path: Path) -> None:
    _count(tmp_path, "a")
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert _count(tmp_path, "a", "bb")[0] == [1, 2]


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.stores.token_cache import CachedTokenCounter
first = int(sys.argv[2])
for start in range(first, first + 2000, 50):
    texts = ["x" * number for number in range(start, start + 50)]
    assert CachedTokenCounter(EstimateCounter(), Path(sys.argv[1])).count(texts) == [(len(t) + 3) // 4 for t in texts]
"""
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "new"), str(first)]) for first in (0, 1000, 2000)
    ]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0]
    counter = LengthCounter("estimate")
    CachedTokenCounter(counter, tmp_path / "new").count(["x" * number for number in range(4000)])
    assert counter.asked == []


@pytest.mark.parametrize("change", ["tokens = 94", "tokens = tokens + 1", "seal = zeroblob(8)"])
def test_a_count_that_was_changed_in_the_file_is_counted_again(tmp_path: Path, change: str) -> None:
    right = _count(tmp_path, "a", "b c d")[0]
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
        connection.execute(f"UPDATE checked_counts SET {change}")
    assert _count(tmp_path, "a", "b c d") == (right, ["a", "b c d"])
    assert _count(tmp_path, "a", "b c d") == (right, [])


def test_a_count_that_stands_under_another_text_is_counted_again(tmp_path: Path) -> None:
    right = _count(tmp_path, "a", "b c d e f g h i j k")[0]
    with contextlib.closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection, connection:
        rows = connection.execute("SELECT key, tokens, seal FROM checked_counts ORDER BY tokens").fetchall()
        connection.execute("UPDATE checked_counts SET tokens = ?, seal = ? WHERE key = ?", (*rows[0][1:], rows[1][0]))
    assert _count(tmp_path, "a", "b c d e f g h i j k")[0] == right
