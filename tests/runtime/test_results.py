"""Calls and results: read from whatever form they come in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolbelt.runtime.results import CallResult, FailureCode, ToolCall, ToolResult

TEXT = '{"path": "a"}'


@pytest.mark.parametrize(
    ("call", "read"),
    [
        pytest.param(ToolCall("1", "read", {"a": 1}), ToolCall("1", "read", {"a": 1}), id="as-it-is"),
        pytest.param({"tool_call_id": "1", "name": "read", "args": {}}, ToolCall("1", "read", {}), id="our-own-form"),
        pytest.param(
            {"id": "1", "type": "function", "function": {"name": "read", "arguments": TEXT}},
            ToolCall("1", "read", TEXT), id="openai-chat",
        ),
        pytest.param(
            SimpleNamespace(id="1", function=SimpleNamespace(name="read", arguments=TEXT)),
            ToolCall("1", "read", TEXT), id="openai-chat-object",
        ),
        pytest.param(
            {"type": "function_call", "id": "fc_9", "call_id": "1", "name": "read", "arguments": TEXT},
            ToolCall("1", "read", TEXT), id="openai-responses",
        ),
        pytest.param(
            {"type": "tool_use", "id": "1", "name": "read", "input": {"a": 1}},
            ToolCall("1", "read", {"a": 1}), id="anthropic",
        ),
        pytest.param({"name": "read", "arguments": {"a": 1}}, ToolCall("", "read", {"a": 1}), id="mcp"),
        pytest.param({"id": 7, "name": "read", "args": []}, ToolCall("7", "read", []), id="no-object-is-kept"),
        pytest.param({"id": "1", "name": "read", "args": None}, ToolCall("1", "read", {}), id="null-is-nothing"),
        pytest.param({"id": "1", "function": {"arguments": ""}}, ToolCall("1", "", ""), id="no-name"),
        pytest.param({}, ToolCall("", "", {}), id="nothing"),
        pytest.param(None, ToolCall("", "", {}), id="none"),
    ],
)  # fmt: skip
def test_R3_a_call_is_read_in_every_form(call: Any, read: ToolCall) -> None:
    assert ToolCall.of(call) == read


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult(True, "done"), "done"),
        (ToolResult(True, "", structured=[1]), ""),
        (ToolResult.failure(FailureCode.TIMEOUT, "It took too long."), "It took too long."),
        (ToolResult(False), ""),
    ],
)
def test_R3_a_result_is_told_as_a_message(result: ToolResult, text: str) -> None:
    message = {"role": "tool", "tool_call_id": "1", "content": text}
    assert CallResult("1", "read", result).to_message() == message


def test_R3_a_code_is_its_text() -> None:
    assert [f"{code}" for code in FailureCode] == ["not_available", "execution_failed", "input_invalid", "timeout"]
