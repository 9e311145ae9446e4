"""Which files are read and written (rule X3)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.evals.responses.samples import make_key, make_payment, make_response
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.responses.export import format_export
from toolbelt.evals.responses.recorded import ModelResponses, RecordedResponses


def export(path: Path, *names: object) -> Path:
    lines = format_export(map(make_response, names)).lines
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def cache(path: Path, *names: object) -> Path:
    with ResponseCache(path) as opened:
        for name in names:
            opened.add([make_response(name, text="of the cache")])
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
        recorded.add(make_response(2), make_payment(2))
        assert (recorded.added, recorded.cache_path) == (1, tmp_path / "responses.db")
        assert recorded.find(make_key(2)) == make_response(2)
    assert path.read_bytes() == before


def test_X3_offline_nothing_is_written(tmp_path: Path) -> None:
    with RecordedResponses([export(tmp_path / "a.jsonl", 1)], default_cache=tmp_path / "r.db", is_offline=True) as one:
        one.add(make_response(2), make_payment(2))
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


def test_X3_what_was_added_is_found_at_once_and_stored_in_one_transaction(tmp_path: Path) -> None:
    path = tmp_path / "responses.db"
    with RecordedResponses([path]) as recorded:
        for name in (1, 2):
            recorded.add(make_response(name), make_payment(name))
        recorded.add(make_response(1, text="of another trial, just as early"), make_payment(1, trial=7))
        assert recorded.find(make_key(1)) == make_response(1)
        with ResponseCache(path, read_only=True) as other:
            assert len(other) == 0
        recorded.commit()
        with ResponseCache(path, read_only=True) as other:
            assert [response.key for response in other.read_all()] == sorted(map(make_key, (1, 2)))
        assert set(recorded.find_payments("run")) == {(0, 1), (0, 2), (7, 1)}
        assert recorded.find_payments("another run") == {}


def test_X3_what_was_added_last_is_stored_at_the_end(tmp_path: Path) -> None:
    with RecordedResponses([tmp_path / "responses.db"]) as recorded:
        recorded.add(make_response(1), make_payment(1))
    with ResponseCache(tmp_path / "responses.db") as cache:
        assert cache.find(make_key(1)) == make_response(1)


@pytest.mark.parametrize(
    ("trial", "name", "is_own"),
    [(3, 1, True), (4, 1, False), (3, 2, False)],
    ids=["the-trial-that-asked", "another-trial", "another-request-under-that-number"],
)
def test_X3_a_response_that_this_run_paid_for_is_no_reused_one(
    trial: int, name: int, is_own: bool, tmp_path: Path
) -> None:
    with RecordedResponses([tmp_path / "responses.db"]) as recorded:
        for number in (1, 2):
            recorded.add(make_response(number, cost_usd=0.5), make_payment(1, trial=3, cost_usd=0.25))
        recorded.commit()
        responses = ModelResponses(recorded, "m", "o", run="run", payments=recorded.find_payments("run"))
        found = responses.find(make_key(name), trial, 1)
    assert found is not None
    assert (found[1].is_reused, found[1].cost_usd) == ((False, 0.25) if is_own else (True, 0.5))
