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

from tests.wording import naming
from toolbelt.errors import InvalidFileError, NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.cases import case_file as lines
from toolbelt.evals.cases.case_file import CaseLine, CasesWriter, case_line, open_lines, read_lines


def read(path: Path, raw: bytes) -> list[CaseLine]:
    path.write_bytes(raw)
    with open_lines(str(path)) as handle:
        return list(read_lines(handle, "f"))


@pytest.mark.parametrize(
    ("raw", "places"),
    [
        pytest.param(b"{}\n[]\n", [(1, 0, {}), (2, 3, [])], id="a-line-each"),
        pytest.param(b"{}\r\n\r\n[]\r\n", [(1, 0, {}), (3, 6, [])], id="lines-of-windows-and-blank-ones"),
        pytest.param(b"\n  \n{}", [(3, 4, {})], id="the-last-line-need-not-end"),
        pytest.param(b"\xef\xbb\xbf{}\n1", [(1, 3, {}), (2, 6, 1)], id="a-byte-order-mark-is-dropped"),
        pytest.param('{"a": "x\u2028y"}\n'.encode(), [(1, 0, {"a": "x\u2028y"})], id="only-a-line-feed-ends-a-line"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_E3_lines_with_their_number_and_place(tmp_path: Path, raw: bytes, places: list[object]) -> None:
    reading = read(tmp_path / "c.jsonl", raw)
    assert [(line.number, line.offset, line.data) for line in reading] == places
    assert all(raw[line.offset :].startswith(line.raw) for line in reading)


@pytest.mark.parametrize(
    ("raw", "rule", "says"),
    [
        pytest.param(b"{]", "syntax", "Not JSON", id="no-json"),
        pytest.param(b'{"a": 1, "a": 2}', "duplicate-key", "'a'", id="a-key-twice"),
        pytest.param(b'{"a": NaN}', "not-json", "nan", id="not-a-number"),
        pytest.param(b'{"a": "\xff"}', "not-utf8", "0xff at offset 7", id="not-utf8"),
        pytest.param(b'{"a": "\\ud800"}', "bad-character", "surrogate", id="half-a-character"),
        pytest.param(b"\0\0\0", "not-utf8", "NUL", id="nul-bytes"),
        pytest.param(b"[" * 500 + b"]" * 500, "too-deep", "100 levels", id="too-deep"),
        pytest.param(b"[" * 100_000, "too-deep", "100 levels", id="far-too-deep"),
    ],
)
def test_E3_what_is_wrong_with_a_line_stands_at_its_number(tmp_path: Path, raw: bytes, rule: str, says: str) -> None:
    first, broken, last = read(tmp_path / "c.jsonl", b"{}\n" + raw + b"\n{}\n")
    assert (first.findings, last.findings, last.number) == ((), (), 3)
    [finding] = broken.findings
    assert (finding.rule, finding.place) == (rule, "f:2")
    assert says in finding.message


def test_E3_a_huge_line_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 100)
    first, huge, last = read(tmp_path / "c.jsonl", b"1\n" + b"x" * 950 + b"\n2\n")
    assert (first.data, last.data, last.number, last.offset) == (1, 2, 3, 953)
    assert [finding.rule for finding in huge.findings] == ["too-long"]
    [whole] = read(tmp_path / "c.jsonl", b'"' + b"x" * 98 + b'"\n')
    assert whole.findings == ()


@pytest.mark.parametrize("mark", [pytest.param("utf-16-le", id="little"), pytest.param("utf-16-be", id="big")])
def test_E3_utf16_is_refused_once(tmp_path: Path, mark: str) -> None:
    with pytest.raises(InvalidFileError, match="looks like UTF-16") as caught:
        read(tmp_path / "c.jsonl", "\ufeff{}\n{}\n".encode(mark))
    assert len(caught.value.findings) == 1


def test_E3_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidFileError, match="a pipe or device"):
        open_lines(str(tmp_path / "pipe"))
    with pytest.raises(InvalidFileError, match="This is a folder"):
        open_lines(str(tmp_path))
    with pytest.raises(NotFoundError):
        open_lines(str(tmp_path / "gone"))
    with pytest.raises(NotFoundError):
        open_lines("a\0b")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_E3_a_file_that_may_not_be_read_is_no_mistake_of_its_writer(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("{}")
    (tmp_path / "c.jsonl").chmod(0)
    with pytest.raises(StorageError, match="Permission denied"):
        open_lines(str(tmp_path / "c.jsonl"))


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
    with pytest.raises(ToolbeltError, match=naming("a", "JSON")):
        case_line({"id": "a", "args": value})
