"""What was said, as values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolbelt.evals.conversation import Conversation, Reply, ToolUse


@pytest.mark.parametrize(
    ("text", "arguments", "repeated"),
    [
        pytest.param('{"order": 17}', {"order": 17}, {"order": 17}, id="an-object"),
        pytest.param("", {}, {}, id="nothing-is-an-empty-object"),
        pytest.param("[1]", None, {}, id="a-list-is-none"),
        pytest.param('{"order": ', None, {}, id="half-an-object-is-none"),
        pytest.param('{"order": NaN}', None, {}, id="NaN-is-no-JSON"),
        pytest.param('{"order": -Infinity}', None, {}, id="nor-is-infinity"),
    ],
)
def test_E4_arguments_are_a_JSON_object_or_none_and_what_is_repeated_always_is_one(
    text: str, arguments: dict[str, Any] | None, repeated: dict[str, Any]
) -> None:
    use = ToolUse.from_text("call_0", "refund", text)
    assert use.arguments == arguments
    assert json.loads(use.message_part["function"]["arguments"], parse_constant=pytest.fail) == repeated


ASKED = {"role": "user", "content": "Deploy it."}
USE = ToolUse.from_text("call_0", "load_tools", '{"toolkit": "devops"}')
CALLED = {"role": "assistant", "content": None, "tool_calls": [USE.message_part]}
ANSWERED = {"role": "tool", "tool_call_id": "call_0", "content": "loaded"}
GO_AHEAD = {"role": "user", "content": "Go ahead."}


def test_D4_what_the_user_says_stands_behind_the_reply_that_it_follows() -> None:
    conversation = Conversation((ASKED,)).extended(Reply(calls=(USE,)), ("loaded",))
    ended = conversation.extended(Reply("I have it now."), (), "Go ahead.")
    said = {"role": "assistant", "content": "I have it now."}
    assert ended.to_messages() == [ASKED, CALLED, ANSWERED, said, GO_AHEAD]
    assert ended.extended(Reply(calls=(USE,)), ("loaded",)).to_messages()[-2:] == [CALLED, ANSWERED]


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_D4_an_assistant_that_says_nothing_is_left_out_as_providers_refuse_it(text: str) -> None:
    assert Conversation((ASKED,)).extended(Reply(text), (), "Go ahead.").to_messages() == [ASKED, GO_AHEAD]
