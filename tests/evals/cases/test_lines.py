from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError
from toolbelt.evals.cases import lines
from toolbelt.evals.cases.lines import Line, open_lines, read_lines


def read(path: Path, raw: bytes) -> list[Line]:
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
    made = read(tmp_path / "c.jsonl", raw)
    assert [(line.number, line.offset, line.data) for line in made] == places
    assert all(raw[line.offset :].startswith(line.raw) for line in made)


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
    with pytest.raises(InvalidFileError, match="a pipe or device; cases are read more than once"):
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
