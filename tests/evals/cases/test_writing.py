"""Cases are written as a whole or not at all."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.cases.writing import CasesWriter, case_line


def test_E8_a_file_has_its_name_when_it_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "deeper/cases.jsonl"
    with CasesWriter(path) as writer:
        writer.add_line("one")
        writer.add_line("zwei ä")
        assert not path.exists()
        writer.finish()
    assert path.read_bytes() == "one\nzwei ä\n".encode()
    assert writer.count == 2
    assert [one.name for one in path.parent.iterdir()] == ["cases.jsonl"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt])
def test_E8_left_before_that_nothing_has_changed(tmp_path: Path, error: type[BaseException] | None) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("before")

    def leave() -> None:
        with CasesWriter(path, overwrite=True) as writer:
            writer.add_line("one")
            if error is not None:
                raise error

    if error is None:
        leave()
    else:
        with pytest.raises(error):
            leave()
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["cases.jsonl"]


def test_E8_a_link_is_followed_and_what_is_not_ready_lies_beside_its_target(tmp_path: Path) -> None:
    # A link may lead to another device, to which nothing can be renamed from here.
    (tmp_path / "far").mkdir()
    (tmp_path / "near").mkdir()
    link = tmp_path / "near/cases.jsonl"
    link.symlink_to(tmp_path / "far/real.jsonl")
    with CasesWriter(link, overwrite=True) as writer:
        writer.add_line("one")
        assert [one.name for one in (tmp_path / "near").iterdir()] == ["cases.jsonl"]
        assert len(list((tmp_path / "far").iterdir())) == 1
        writer.finish()
    assert link.is_symlink()
    assert (tmp_path / "far/real.jsonl").read_text() == "one\n"


def test_E9_a_file_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    with CasesWriter(path) as writer:
        path.write_text("of somebody else, meanwhile")
        with pytest.raises(ToolbeltError, match="exists already"):
            writer.finish()
    with pytest.raises(ToolbeltError, match="exists already"):
        CasesWriter(path)
    with pytest.raises(ToolbeltError, match="is a folder"):
        CasesWriter(tmp_path, overwrite=True)
    assert path.read_text() == "of somebody else, meanwhile"


def test_E9_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with CasesWriter(path, overwrite=True) as writer, pytest.raises(StorageError, match="Nothing was changed"):
            writer.add_line("x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["cases.jsonl"]


@pytest.mark.parametrize(
    "row",
    [{"id": "a", "query": "zwei ä 東"}, {"id": "half \ud800", "query": "ä"}, {"id": "line\nend\u2028"}],
    ids=["text", "half-a-pair", "line-ends"],
)
def test_E3_a_line_is_utf8_and_reads_back(row: dict[str, Any]) -> None:
    line = case_line(row)
    assert "\n" not in line
    assert json.loads(line.encode()) == row


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_E3_what_json_has_no_word_for_is_refused(value: float) -> None:
    with pytest.raises(ToolbeltError, match="'a' cannot be written as JSON"):
        case_line({"id": "a", "args": value})
