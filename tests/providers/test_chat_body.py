"""The body of a request in OpenAI's form (rule X1)."""

from __future__ import annotations

import json

import pytest

from toolbelt.providers.chat import ChatRequest, Sampling, ToolDefinitions
from toolbelt.providers.chat_body import chat_body

HELLO = ({"role": "user", "content": "Hello."},)
SCHEMA = {
    "type": "object",
    "properties": {"strict": {"type": "boolean"}, "in": {"type": "object", "additionalProperties": False}},
    "additionalProperties": False,
    "required": ["strict"],
}
TOOLS = ToolDefinitions(({"type": "function", "function": {"name": "ä", "strict": True, "parameters": SCHEMA}},))


def test_X1_what_is_left_to_the_provider_is_not_sent() -> None:
    assert json.loads(chat_body("m", ChatRequest(HELLO, ToolDefinitions()))) == {"model": "m", "messages": list(HELLO)}


def test_X1_no_choice_is_sent_without_tools() -> None:
    body = json.loads(chat_body("m", ChatRequest(HELLO, ToolDefinitions(), Sampling(tool_choice="required"))))
    assert set(body) == {"model", "messages"}


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("auto", "auto"), ("none", "none"), ("t", {"type": "function", "function": {"name": "t"}})],
)
def test_X1_settings_and_definitions_are_sent(choice: str, sent: object) -> None:
    body = json.loads(chat_body("m", ChatRequest(HELLO, TOOLS, Sampling(0.0, 7, choice, 99))))
    assert body == {
        "model": "m",
        "messages": list(HELLO),
        "temperature": 0.0,
        "seed": 7,
        "max_tokens": 99,
        "tool_choice": sent,
        "tools": list(TOOLS.definitions),
    }


def test_V5_effort_and_further_fields_are_sent_as_they_were_given() -> None:
    params = {"top_p": 0.9, "chat_template_kwargs": {"enable_thinking": False}}
    body = json.loads(chat_body("m", ChatRequest(HELLO, TOOLS, Sampling(effort="low", params=params))))
    assert {key: body[key] for key in body.keys() - {"model", "messages", "tools"}} == {
        "reasoning_effort": "low",
        **params,
    }


def test_X1_definitions_are_written_once() -> None:
    tools = ToolDefinitions(TOOLS.definitions)
    chat_body("m", ChatRequest(HELLO, tools))
    assert tools.body is tools.body
    assert tools.body in chat_body("m", ChatRequest(HELLO, tools, Sampling(seed=1)))


def test_X1_vllm_gets_schemas_without_strict_and_closed_objects_but_with_every_argument() -> None:
    [tool] = json.loads(chat_body("m", ChatRequest(HELLO, TOOLS), "hosted_vllm"))["tools"]
    properties = {"strict": {"type": "boolean"}, "in": {"type": "object"}}
    parameters = {"type": "object", "properties": properties, "required": ["strict"]}
    assert tool["function"] == {"name": "ä", "parameters": parameters}


@pytest.mark.parametrize(("text", "sent"), [("\ud800 a", "\ufffd a"), ("😀", "😀")], ids=["half-a-pair", "a-pair"])
def test_X1_what_no_utf8_can_hold_is_replaced(text: str, sent: str) -> None:
    body = json.loads(chat_body("m", ChatRequest(({"role": "user", "content": text},), ToolDefinitions())))
    assert body["messages"] == [{"role": "user", "content": sent}]


def test_X1_arguments_that_are_no_text_are_sent_as_they_are() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "a", "arguments": {"half \ud800": 1}}}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    [sent] = json.loads(chat_body("m", ChatRequest((message,), ToolDefinitions())))["messages"]
    assert sent["tool_calls"][0]["function"]["arguments"] == {"half \ufffd": 1}
