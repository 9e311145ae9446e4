from __future__ import annotations

import gzip
import io
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.evals.cases.imports import sources
from toolbelt.evals.cases.imports.sources import STANDARD_INPUT, RecordsById, open_source
from toolbelt.findings import Finding

ONE, TWO = {"a": 1}, {"a": {"b": 2}}


def _read(reference: str, stdin: bytes = b"") -> tuple[list[tuple[int, Any]], list[Finding]]:
    findings: list[Finding] = []
    with ExitStack() as stack:
        source = open_source(reference, stack, io.BytesIO(stdin))
        first = [(record.line, record.data) for record in source.records(findings.extend)]
        assert [(record.line, record.data) for record in source.records(lambda _: None)] == first
    return first, findings


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("a.jsonl", '{"a": 1}\n\n{"a": {"b": 2}}\n', [(1, ONE), (3, TWO)], id="lines"),
        pytest.param("a.json", '{"a": 1}\n{"a": {"b": 2}}', [(1, ONE), (2, TWO)], id="lines-in-a-json-file"),
        pytest.param("a.json", '{"a": 1}', [(1, ONE)], id="one-line"),
        pytest.param("a.json", '\n[\n{"a": 1},\n{"a": {"b": 2}}]', [(3, ONE), (4, TWO)], id="an-array"),
        pytest.param("a.json", "[]", [], id="an-empty-array"),
        pytest.param("a.json", '\ufeff[{"a": 1}]', [(1, ONE)], id="an-array-after-a-mark"),
        pytest.param("a.json", json.dumps(TWO, indent=2), [(1, TWO)], id="a-document"),
        pytest.param("a.yaml", "a: {b: 2}\n", [(1, TWO)], id="yaml"),
        pytest.param("a.jsonl", '[1]\n{"a": 1}', [(1, [1]), (2, ONE)], id="the-name-says-lines"),
    ],
)
def test_E3_how_records_stand_in_a_file_is_told_from_it(tmp_path: Path, name: str, text: str, expected: Any) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert _read(str(path)) == (expected, [])
    if name.endswith(("json", "yaml")):
        assert _read("-", text.encode()) == (expected, [])


def test_E3_standard_input_has_a_name() -> None:
    _, (finding,) = _read("-", b'{"a": 1}\n{"a": \n{"a": 1}\n')
    assert (finding.file, finding.line) == (STANDARD_INPUT, 2)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        pytest.param(b'{"a": 1}\n{"a": NaN}\n', 2, id="nan"),
        pytest.param(b'{"a": 1}\n{"a": 1, "a": 2}\n', 2, id="a-key-twice"),
        pytest.param(b'{"a": 1}\n\0\n', 2, id="nul"),
        pytest.param(b'{"a": 1}\n"\xff"\n', 2, id="not-utf8"),
        pytest.param(b'{"a": 1}\n' + b"[" * 100_000, 2, id="deep"),
        pytest.param(b'{"a": 1}\n"\\ud800"\n', 2, id="half-a-pair"),
        pytest.param('{"a": 1}\n'.encode("utf-16"), 1, id="utf-16"),
    ],
)
def test_E3_what_cannot_be_read_is_told_by_line(tmp_path: Path, raw: bytes, line: int) -> None:
    (tmp_path / "a.jsonl").write_bytes(raw)
    _, findings = _read(str(tmp_path / "a.jsonl"))
    assert [finding.line for finding in findings] == [line]


def test_E3_a_document_is_read_whole_and_so_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_DOCUMENT", 10)
    (tmp_path / "a.yaml").write_text("a: [1, 2, 3, 4]\n")
    found, (finding,) = _read(str(tmp_path / "a.yaml"))
    assert (found, finding.rule) == ([], "too-long")


def test_E3_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        _read(str(tmp_path / "gone"))
    with pytest.raises(InvalidFileError, match="a folder"):
        _read(str(tmp_path))


def test_E3_a_broken_first_line_does_not_make_a_log_yaml(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text('not json at all\n{"a": 1}\n{"a": {"b": 2}}\n')
    found, (finding,) = _read(str(tmp_path / "a.log"))
    assert (found, finding.line) == ([(2, ONE), (3, TWO)], 1)


def test_E3_what_is_compressed_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}'))
    _, (finding,) = _read(str(tmp_path / "a.jsonl.gz"))
    assert (finding.rule, "gunzip" in finding.message) == ("compressed", True)


_JSON = st.none() | st.integers() | st.text() | st.lists(st.text(), max_size=3)


@given(st.lists(st.tuples(st.text(max_size=2), _JSON), max_size=20))
def test_E3_what_was_kept_is_found_again(pairs: list[tuple[str, Any]]) -> None:
    kept = RecordsById()
    expected: dict[str, Any] = {}
    for key, value in pairs:
        kept.add(key, value)
        expected.setdefault(key, value)
    assert (len(kept), kept.unclaimed, kept.repeated) == (len(expected), len(expected), len(pairs) - len(expected))
    for number, (key, value) in enumerate(expected.items(), start=1):
        assert kept.find(key) == (value,)
        assert kept.unclaimed == len(expected) - number
    assert kept.find("longer than any") is None
