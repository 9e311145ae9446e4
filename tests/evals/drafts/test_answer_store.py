"""Answers are kept: over a kill, a torn line, a full disk; and by one process at a time."""

from __future__ import annotations

import json
import resource
import signal
from array import array
from pathlib import Path

import pytest

from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.conversation import Reply
from toolbelt.evals.drafts.answer_store import open_answers, read_answers, request_key
from toolbelt.evals.drafts.tool_drafts import ModelAnswer
from toolbelt.evals.offers import Offer
from toolbelt.evals.running.records import RequestRecord
from toolbelt.providers.chat import NOTHING_REPORTED, Failure, Sampling

KEY, OTHER = b"k" * 16, b"o" * 16


def record(text: str | None = None, failure: Failure | None = None, cost: float | None = 0.5) -> RequestRecord:
    reply = None if text is None else Reply(text)
    return RequestRecord(0, 0, 0, Offer(), reply, NOTHING_REPORTED, failure, "", 0.0, cost)


def test_E8_what_was_answered_is_found_again(tmp_path: Path) -> None:
    with open_answers(tmp_path / "j") as answers:
        answers.add(KEY, "t", record('half \ud800 and "more"\n'))
        answers.add(OTHER, "t", record(failure=Failure.RATE_LIMIT, cost=0.0))
        assert answers.find(KEY) == ModelAnswer('half \ud800 and "more"\n')
    with open_answers(tmp_path / "j") as answers:
        assert answers.find(KEY) == ModelAnswer('half \ud800 and "more"\n')
        assert answers.find(OTHER) is None
        assert OTHER not in answers
        assert (answers.requests, answers.cost_usd, answers.unreadable) == (2, 0.5, array("L"))
        answers.add(OTHER, "t", record(failure=Failure.REFUSED, cost=None))
        assert answers.find(OTHER) == ModelAnswer("", "refused")


@pytest.mark.parametrize("torn", [b'{"key": "6b6b', b"\xff\x00", b'{"key": "6b", "cost_usd": 0, "text": "x"}'])
def test_E8_a_torn_last_line_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    with open_answers(tmp_path) as answers:
        answers.add(KEY, "t", record("kept"))
    path = tmp_path / "answers.jsonl"
    before = path.read_bytes()
    path.write_bytes(before + torn)
    with open_answers(tmp_path) as answers:
        assert (answers.find(KEY), answers.requests, answers.unreadable) == (ModelAnswer("kept"), 1, array("L"))
        answers.add(OTHER, "t", record("more"))
    with open_answers(tmp_path) as answers:
        assert answers.find(OTHER) == ModelAnswer("more")


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "nonsense",
        '{"key": "zz", "cost_usd": 0}',
        '{"key": "6b6b", "cost_usd": "x"}',
        '{"key": "6b6b", "cost_usd": 0, "text": 3}',
        '{"key": "6b6b", "cost_usd": NaN, "text": "x"}',
        '{"key": "6b6b", "cost_usd": Infinity, "text": "x"}',
        '{"key": "6b6b", "cost_usd": -1, "text": "x"}',
        '{"key": 3, "cost_usd": 0, "text": "x"}',
    ],
)
def test_E8_a_broken_line_is_counted_and_the_rest_is_there(tmp_path: Path, line: str) -> None:
    with open_answers(tmp_path) as answers:
        answers.add(KEY, "t", record("kept"))
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{line}\n{path.read_text()}")
    with open_answers(tmp_path) as answers:
        assert (list(answers.unreadable), answers.find(KEY)) == ([1], ModelAnswer("kept"))


def test_E8_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        open_answers(tmp_path / "j"),
        pytest.raises(ToolbeltError, match="Another process is drafting"),
        open_answers(tmp_path / "j"),
    ):
        pass
    with open_answers(tmp_path / "j") as answers:
        assert answers.requests == 0


def test_E8_a_full_disk_costs_the_answer_that_did_not_fit_and_no_other(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open_answers(tmp_path) as answers:
        answers.add(KEY, "t", record("kept"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
        try:
            with pytest.raises(StorageError, match="stored"):
                answers.add(OTHER, "t", record("x" * 5_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
        answers.add(OTHER, "t", record("short"))
    assert [json.loads(line)["text"] for line in (tmp_path / "answers.jsonl").read_text().splitlines()] == [
        "kept",
        "short",
    ]


def test_E8_an_answer_is_found_by_who_was_asked_what_and_how() -> None:
    messages = [{"role": "user", "content": "a"}]
    keys = {
        request_key("m", Sampling(), messages),
        request_key("n", Sampling(), messages),
        request_key("m", Sampling(temperature=0.0), messages),
        request_key("m", Sampling(seed=1), messages),
        request_key("m", Sampling(), [*messages, *messages]),
        request_key("m", Sampling(), messages, "http://a/v1"),
        request_key("m", Sampling(), messages, "http://b/v1"),
    }
    assert len(keys) == 7
    assert request_key("m", Sampling(), messages, "http://a/v1/") in keys, "a slash at the end is no other place"


@pytest.mark.parametrize("torn", [b"", b'{"key": "6b'])
def test_E8_looking_changes_nothing_and_waits_for_nobody(tmp_path: Path, torn: bytes) -> None:
    with read_answers(tmp_path / "j") as answers:
        assert answers is None
    assert not (tmp_path / "j").exists()
    with open_answers(tmp_path / "j") as writing:
        writing.add(KEY, "t", record("kept"))
        path = tmp_path / "j/answers.jsonl"
        path.write_bytes(path.read_bytes() + torn)
        before = path.read_bytes()
        with read_answers(tmp_path / "j") as answers:
            assert answers is not None
            assert (answers.find(KEY), answers.requests, list(answers.unreadable)) == (ModelAnswer("kept"), 1, [])
        assert path.read_bytes() == before


def test_E8_lines_that_are_broken_are_named_by_number(tmp_path: Path) -> None:
    with open_answers(tmp_path) as answers:
        answers.add(KEY, "t", record("kept"))
    path = tmp_path / "answers.jsonl"
    path.write_text(f"odd\n{path.read_text()}[]\n{path.read_text()}")
    with open_answers(tmp_path) as answers:
        assert (list(answers.unreadable), answers.requests, answers.cost_usd) == ([1, 3], 2, 1.0)
