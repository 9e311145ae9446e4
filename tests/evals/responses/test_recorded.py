"""Which files are read and written (rule X3)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.evals.responses.samples import make_key, make_response
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.responses.export import format_export
from toolbelt.evals.responses.recorded import RecordedResponses


def export(path: Path, *names: object) -> Path:
    lines = format_export(map(make_response, names)).lines
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def cache(path: Path, *names: object) -> Path:
    with ResponseCache(path) as opened:
        for name in names:
            opened.add(make_response(name, text="of the cache"))
    return path


def test_X3_exports_are_read_in_their_order_then_the_cache(tmp_path: Path) -> None:
    files = [export(tmp_path / "a.jsonl", 1), cache(tmp_path / "c.db", 1, 2), export(tmp_path / "b.jsonl", 1, 3)]
    with RecordedResponses(files) as recorded:
        found = [recorded.find(make_key(name)) for name in (1, 2, 3, 4)]
    assert found == [make_response(1), make_response(2, text="of the cache"), make_response(3), None]


def test_X3_new_responses_go_to_the_cache_and_an_export_stays_as_it_is(tmp_path: Path) -> None:
    path = export(tmp_path / "a.jsonl", 1)
    before = path.read_bytes()
    with RecordedResponses([path], default_cache=tmp_path / "responses.db") as recorded:
        recorded.add(make_response(2))
        assert (recorded.added, recorded.cache_path) == (1, tmp_path / "responses.db")
        assert recorded.find(make_key(2)) == make_response(2)
    assert path.read_bytes() == before


def test_X3_offline_nothing_is_written(tmp_path: Path) -> None:
    with RecordedResponses([export(tmp_path / "a.jsonl", 1)], default_cache=tmp_path / "r.db", is_offline=True) as one:
        one.add(make_response(2))
        assert (one.added, one.cache_path, one.find(make_key(2))) == (0, None, None)
    with pytest.raises(NotFoundError):
        RecordedResponses([tmp_path / "missing.db"], is_offline=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_X3_only_one_cache_is_written(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError, match="export one of them"):
        RecordedResponses([tmp_path / "a.db", tmp_path / "b.db"])


def test_X3_an_export_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        RecordedResponses([tmp_path / "a.jsonl"])


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ToolbeltError, match="neither"):
        RecordedResponses([tmp_path / "notes.txt"])
    with pytest.raises(InvalidFileError):
        RecordedResponses([tmp_path])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidFileError):
        RecordedResponses([tmp_path / "pipe"])
