"""An export: sorted, stable, and an error wherever it was touched (rule X3)."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.evals.responses.samples import make_key, make_response
from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.evals.responses.export import ResponseExport, format_export
from toolbelt.evals.responses.summary import find_leaks

RESPONSES = [
    make_response(number, model=f"m{number % 3}", epoch=number % 2, text=f"öäü {number}") for number in range(30)
]
LINES = format_export(RESPONSES).lines


def write(path: Path, lines: tuple[str, ...] = LINES, ending: str = "\n") -> Path:
    path.write_bytes("".join(f"{line}{ending}" for line in lines).encode())
    return path


def line_of(path: Path) -> int | None:
    with pytest.raises(InvalidFileError) as refused:
        ResponseExport(path)
    return refused.value.findings[0].line


def test_X3_the_same_responses_give_the_same_bytes_in_any_order() -> None:
    shuffled = random.Random(1).sample(RESPONSES, len(RESPONSES))
    assert format_export(shuffled).lines == LINES
    assert format_export([*shuffled, *RESPONSES]).lines == LINES
    header = json.loads(LINES[0])
    assert (header["format"], header["version"], header["count"]) == ("toolbelt.responses", 1, 30)


def test_X3_of_two_answers_to_one_request_the_first_recorded_is_exported() -> None:
    later = make_response(1, recorded="2026-11-03T10:00:00Z", text="later")
    earlier = make_response(1)
    assert format_export([later, earlier]).responses == format_export([earlier, later]).responses == (earlier,)


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["as-written", "as-git-checks-out-on-windows"])
def test_X3_an_export_is_read_back(tmp_path: Path, ending: str) -> None:
    with ResponseExport(write(tmp_path / "r.jsonl", ending=ending)) as export:
        assert sorted(export.read_all(), key=lambda one: one.key) == sorted(RESPONSES, key=lambda one: one.key)
        assert export.find(make_key(7)) == RESPONSES[7]
        assert export.find(make_key("other")) is None
        assert (len(export), export.digest) == (30, json.loads(LINES[0])["digest"])


def test_X3_an_edited_line_is_named(tmp_path: Path) -> None:
    edited = (*LINES[:6], LINES[6].replace("git_push", "git_pull"), *LINES[7:])
    assert line_of(write(tmp_path / "r.jsonl", edited)) == 7


def test_X3_a_merge_that_left_its_marks_is_named(tmp_path: Path) -> None:
    marked = (*LINES[:4], "<<<<<<< HEAD", *LINES[4:])
    assert line_of(write(tmp_path / "r.jsonl", marked)) == 5


@pytest.mark.parametrize("kept", [1, 2, 15, 30])
def test_X3_a_lost_line_is_an_error(tmp_path: Path, kept: int) -> None:
    assert line_of(write(tmp_path / "r.jsonl", LINES[:kept])) == kept


def test_X3_a_line_that_stands_twice_or_elsewhere_is_named(tmp_path: Path) -> None:
    assert line_of(write(tmp_path / "r.jsonl", (*LINES[:4], LINES[3], *LINES[4:]))) == 5
    assert line_of(write(tmp_path / "r.jsonl", (LINES[0], LINES[2], LINES[1], *LINES[3:]))) == 3


def test_X3_a_line_in_place_of_another_is_an_error(tmp_path: Path) -> None:
    other = format_export([*RESPONSES[:-1], make_response(999, model="m2")]).lines
    assert line_of(write(tmp_path / "r.jsonl", (LINES[0], *other[1:]))) == 1


def test_X3_every_cut_is_an_error(tmp_path: Path) -> None:
    whole = write(tmp_path / "r.jsonl").read_bytes()
    for length in random.Random(0).sample(range(len(whole)), 60):
        (tmp_path / "r.jsonl").write_bytes(whole[:length])
        assert line_of(tmp_path / "r.jsonl")


@pytest.mark.parametrize(
    "content",
    [b"", b"{}\n", b"[1]\n", b'{"format": "toolbelt.responses", "version": 2}\n', b"\xff\xfe\n", b"{" * 5000],
    ids=["empty", "no-header", "no-object", "a-later-version", "no-text", "deep"],
)
def test_what_is_no_export_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.jsonl").write_bytes(content)
    assert line_of(tmp_path / "r.jsonl") == 1


def test_a_huge_file_without_a_line_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "r.jsonl"
    with path.open("wb") as file:
        file.truncate(2 * 2**30)  # sparse
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert line_of(path) == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_a_missing_export_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        ResponseExport(tmp_path / "r.jsonl")


def test_X3_a_response_that_changed_while_the_file_was_in_use_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl")
    with ResponseExport(path) as export:
        with path.open("r+b") as file:
            file.write(path.read_bytes().replace(b"git_push", b"git_pull"))
        with pytest.raises(InvalidFileError):
            export.find(make_key(3))


@pytest.mark.parametrize("field", ["text", "query", "served_by", "fingerprint", "model"])
def test_X3_a_key_is_found_wherever_it_stands_a_short_one_too(field: str) -> None:
    responses = [make_response(0), make_response(1, **{field: "it is s3cr, or so"})]
    assert list(find_leaks(responses, ["s3cr"])) == [(1, field)]


def test_X3_digests_and_dates_hold_no_key() -> None:
    response = make_response(0)
    assert list(find_leaks([response], [response.key[:4], "2026"])) == []
