"""What was said, as values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolbelt.evals.conversation import ToolUse


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
