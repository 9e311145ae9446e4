from __future__ import annotations

import json
from typing import Any

from tests.evals.viewer.runs import reply
from toolbelt.evals.viewer.kept import LONGEST_SNIPPET, case_texts, request_texts, snippet, wanted_tools

ROW: dict[str, Any] = {
    "request": 0, "attempt": 0, "offer": "o", "tools": 3, "failure": None, "message": "", "reply": reply("hello"),
    "definition_tokens": 5, "prompt_tokens": None, "completion_tokens": None, "cached_read_tokens": None,
    "cached_write_tokens": None, "latency_seconds": 0.5, "cost_usd": None,
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
    assert request_texts([ROW | {"reply": "{}"}], {})[0]["calls"] == []
