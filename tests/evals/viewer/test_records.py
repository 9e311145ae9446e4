from __future__ import annotations

import json
import tracemalloc
from collections import deque
from itertools import accumulate
from typing import Any

import pytest

from tests.evals.analysis.summary.rows import RUN, database
from tests.evals.viewer.reading import unpacked
from tests.evals.viewer.runs import HOSTILE, big_run, hostile_run, reply, small_run
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.viewer.records import (
    LONGEST_SNIPPET,
    TRIALS_A_BLOCK,
    case_texts,
    read_blocks,
    request_texts,
    snippet,
    wanted_tools,
)


def trials_of(connection: Any, most: int = TRIALS_A_BLOCK) -> list[dict[str, Any]]:
    """Every trial as the index and the details together tell of it."""
    found = []
    for block in read_blocks(connection, RUN, most):
        index, details = unpacked(block.index), unpacked(block.details)
        offers = [[details["names"][number] for number in accumulate(steps)] for steps in details["offers"]]
        assert block.trials == len(index["trial"]) == len(details["trials"])
        for at, trial in enumerate(details["trials"]):
            assert trial["trial"] == index["trial"][at]
            assert details["case"][at] == index["case"][at]
            names = {key: [index["tools"][one] for one in index[key][at]] for key in ("called", "missing", "surplus")}
            for request in trial["requests"]:
                request["offered"] = None if request["offer"] is None else offers[request["offer"]]
            case = index["cases"][index["case"][at]]
            found.append(
                trial | {
                    "indexed": names, "case_id": case[0], "kind": case[1], "asked": case[3],
                    "wanted": [index["tools"][one] for one in case[4]], "case": details["cases"][index["case"][at]],
                    "arm": index["arm"][at], "epoch": index["epoch"][at], "flags": index["flags"][at],
                    "outcome": list(Outcome)[index["outcome"][at]].value, "tokens": index["tokens"][at],
                }
            )  # fmt: skip
    return found


@pytest.mark.parametrize("most", [1, 7, TRIALS_A_BLOCK])
def test_every_trial_comes_out_as_it_is_kept_whatever_the_blocks(most: int) -> None:
    connection = small_run()
    trials = trials_of(connection, most)
    cursor = connection.execute("SELECT * FROM trials ORDER BY trial")
    names = [column[0] for column in cursor.description]
    kept = [dict(zip(names, row, strict=True)) for row in cursor]
    assert [trial["trial"] for trial in trials] == [row["trial"] for row in kept]
    for trial, row in zip(trials, kept, strict=True):
        for key in ("arm", "epoch", "outcome", "case_id", "kind", "reason", "ending", "would_dispatch"):
            assert trial[key] == row[key]
        for key in ("called", "missing", "surplus"):
            assert trial[key] == trial["indexed"][key] == json.loads(row[key])
        assert trial["flags"] == row["covered"] + 2 * row["surfaced"] + 4 * (row["prompt_tokens"] is None)
        assert trial["tokens"] == row["own_prompt_tokens"]
        assert trial["figures"] == pytest.approx({name: row[name] for name in trial["figures"]})
        number = int(row["case_id"][-2:])
        assert trial["asked"] == f"Question {number} about Zürich"
        assert trial["wanted"] == ([] if number % 3 == 2 else [f"files/read_{number % 4}"])
    offered = trials[5]["requests"][2]["offered"]
    assert offered == [f"read_{number}" for number in range(4)]


def test_trials_of_a_case_stand_together_in_the_order_asked() -> None:
    asked = [("b", 0), ("a", 0), ("b", 1), ("a", 1)]
    connection = database(
        [("m", "full", "")], [{"case_id": case, "cluster": case, "epoch": epoch} for case, epoch in asked]
    )
    assert [(trial["case_id"], trial["epoch"]) for trial in trials_of(connection)] == [
        ("b", 0), ("b", 1), ("a", 0), ("a", 1)
    ]  # fmt: skip


def test_a_run_of_which_cases_or_offers_are_not_kept_is_read_all_the_same() -> None:
    connection = database([("m", "full", "")], [{}], [{"offer": "gone"}])
    connection.execute("DELETE FROM offers")
    (trial,) = trials_of(connection)
    assert trial["case"]["is_kept"] is False
    assert trial["requests"][0]["offered"] is None


def test_a_run_without_trials_has_no_blocks() -> None:
    assert list(read_blocks(database([("m", "full", "")], []), RUN)) == []


@pytest.mark.parametrize(
    ("most", "kept"),
    [
        pytest.param(1, [0], id="the-first-alone"),
        pytest.param(4, [0, 5, 10, 15], id="as-far-apart-as-can-be"),
        pytest.param(19, [place for place in range(20) if place != 1], id="all-but-one"),
        pytest.param(20, [*range(20)], id="as-many-as-there-are"),
        pytest.param(99, [*range(20)], id="more-than-there-are"),
    ],
)
def test_E10_a_sample_has_whole_cases_spread_evenly(most: int, kept: list[int]) -> None:
    blocks = list(read_blocks(small_run(20), RUN, most_cases=most))
    assert sum(block.trials for block in blocks) == 3 * len(kept)
    shown = {case[0] for block in blocks for case in unpacked(block.index)["cases"]}
    assert shown == {f"case-{case:02}" for case in kept}


def test_hostile_texts_come_out_as_they_went_in() -> None:
    for trial, text in zip(trials_of(hostile_run()), HOSTILE, strict=True):
        assert trial["called"] == [text]
        assert trial["requests"][0]["text"] == text
        assert trial["requests"][0]["calls"] == [[text, text]]
        assert trial["requests"][0]["offered"] == [text, "other"]
        assert trial["case"]["messages"][0]["text"] == text
        assert trial["case"]["role"] == text


def test_memory_does_not_grow_with_the_number_of_trials() -> None:
    peaks = []
    for cases in (130, 650):
        connection = big_run(cases, arms=2)
        deque(read_blocks(connection, RUN), maxlen=0)  # what is set up once
        tracemalloc.start()
        deque(read_blocks(connection, RUN), maxlen=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


ROW: dict[str, Any] = {
    "request": 0, "attempt": 0, "offer": "o", "tools": 3, "failure": None, "message": "", "reply": reply("hello"),
    "definition_tokens": 5, "prompt_tokens": None, "completion_tokens": None, "cached_read_tokens": None,
    "cached_write_tokens": None, "reasoning_tokens": None, "latency_seconds": 0.5, "cost_usd": None, "recorded": None,
}  # fmt: skip


def test_every_leaf_of_a_case_is_a_text_so_that_no_number_changes() -> None:
    call = {"tools": ["a/b", "a/c"], "args": {"n": [2**60, None, 1.0, {"x": "é"}]}, "optional": ["n"]}
    case = case_texts(json.dumps({"messages": [], "answers": [[call], []], "match": "ordered", "forbidden": ["a/d"]}))
    assert case["answers"] == [
        [
            {
                "tools": ["a/b", "a/c"],
                "args": [["n", ["1152921504606846976", "null", "1.0", '{"x": "é"}']]],
                "optional": ["n"],
            }
        ],
        [],
    ]
    assert (case["match"], case["forbidden"], case["role"]) == ("ordered", ["a/d"], "")
    assert wanted_tools(case) == ["a/b", "a/c"]


def test_any_call_will_do_is_not_that_none_will() -> None:
    assert case_texts('{"messages": [], "answers": null}')["answers"] is None
    assert wanted_tools(case_texts('{"messages": [], "answers": null}')) == []


def test_messages_in_every_form_are_texts() -> None:
    messages = [
        {"role": "system", "content": "Be  brief."},
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}, 7]},
    ]
    case = case_texts(json.dumps({"messages": messages, "answers": []}))
    assert case["messages"] == [
        {"role": "system", "text": "Be  brief.", "calls": []},
        {"role": "user", "text": '[{"type": "text", "text": "look"}]', "calls": []},
        {"role": "assistant", "text": "", "calls": [["f", '{"a": 1}'], ["7", ""]]},
    ]


def test_a_snippet_is_the_beginning_of_what_the_user_said_last() -> None:
    said = [("user", "first"), ("assistant", "x"), ("user", "last\n one " + "a" * 500), ("assistant", "y")]
    case = case_texts(json.dumps({"messages": [{"role": role, "content": text} for role, text in said]}))
    assert snippet(case).startswith("last one aaa")
    assert len(snippet(case)) == LONGEST_SNIPPET
    assert snippet(case_texts("{}")) == ""


def test_turns_are_parted_where_a_reply_without_calls_was_not_the_last() -> None:
    rows = [
        ROW | {"reply": reply("", ("load", "{}"))},
        ROW | {"request": 1},
        ROW | {"request": 2, "reply": None, "failure": "timeout", "message": "slow"},
        ROW | {"request": 2, "attempt": 1, "reply": reply("", ("run", "not json"))},
        ROW | {"request": 3},
    ]
    made = request_texts(rows, {"o": 4})
    assert [one["turn"] for one in made] == [1, 1, 2, 2, 2]
    assert [one["follow_up"] for one in made] == ["", "Go ahead.", "", "", ""]
    assert made[3]["calls"] == [["run", "not json"]]
    assert made[2]["failure"] == "timeout"
    assert {one["offer"] for one in made} == {4}
    assert request_texts([ROW], {})[0]["offer"] is None
    when = "2026-11-02T10:00:00Z"
    assert [one["recorded"] for one in request_texts([ROW, ROW | {"recorded": when}], {})] == ["", when]
    assert request_texts([ROW | {"reply": "{}"}], {})[0]["calls"] == []
