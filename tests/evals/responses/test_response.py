"""A recorded response as a line (rule X3)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.responses.samples import make_response
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.responses.response import digest_answer, find_query, format_response, parse_response
from toolbelt.providers.chat import Usage

TEXT = st.text(st.characters(), max_size=20)  # halves of surrogate pairs included, which models do write
CALLS = st.builds(ToolUse.from_text, TEXT, TEXT, st.sampled_from(["", "{}", '{"a": 1}', "{", "[1]"]) | TEXT)
USAGE = st.builds(Usage, *[st.none() | st.integers(0, 10**6)] * 4)
REPLIES = st.builds(Reply, TEXT, st.lists(CALLS, max_size=3).map(tuple), USAGE, TEXT, TEXT, st.just(0.0), TEXT)


@given(REPLIES, TEXT, st.none() | st.floats(0, 100))
def test_X3_a_line_is_the_response(reply: Reply, query: str, cost: float | None) -> None:
    response = make_response(reply=reply, query=query, cost_usd=cost)
    line = format_response(response)
    assert parse_response(line) == response
    assert "\n" not in line
    assert line.encode()


LINE = format_response(make_response())


@given(st.integers(0, len(LINE) - 1), st.characters(codec="ascii"))
def test_X3_no_character_of_a_line_can_be_changed_unnoticed(place: int, character: str) -> None:
    changed = LINE[:place] + character + LINE[place + 1 :]
    if changed != LINE:
        with pytest.raises(ValueError):
            parse_response(changed)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", "A" * 64),
        ("key", "short"),
        ("model", 1),
        ("epoch", -1),
        ("epoch", True),
        ("recorded", "yesterday"),
        ("cost_usd", -0.1),
        ("cost_usd", "free"),
        ("usage", {"prompt_tokens": -1}),
        ("usage", {"tokens": 1}),
        ("calls", [{"id": "1", "name": "x"}]),
        ("calls", "none"),
        ("text", None),
        ("surplus", 1),
    ],
)
def test_X3_a_line_of_another_program_is_checked_field_by_field(field: str, value: Any) -> None:
    import hashlib

    data = json.loads(LINE) | {field: value}
    del data["check"]
    text = json.dumps(data)
    check = hashlib.sha256(text.encode()).hexdigest()[:16]
    with pytest.raises(ValueError, match="`"):
        parse_response(f'{text[:-1]}, "check": "{check}"}}')


def test_the_same_answer_has_one_digest_whatever_it_cost() -> None:
    reply = make_response().reply
    again = replace(reply, usage=Usage(), calls=(replace(reply.calls[0], id="call_2"),), fingerprint="fp_2")
    assert digest_answer(reply) == digest_answer(again)
    assert digest_answer(reply) != digest_answer(replace(reply, text="other"))


def test_a_query_is_cut_for_people() -> None:
    messages = [{"role": "user", "content": "first"}, {"role": "user", "content": "a\n b" * 100}, {"role": "tool"}]
    assert find_query(messages).startswith("a b")
    assert len(find_query(messages)) == 120
    assert find_query([{"role": "user", "content": [{"type": "image"}]}]) == ""
