"""The loopback server's `able` model does what it is told, and no more than its handicap lets it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.servers.able import NO_HANDICAP, Handicap, able, cached_tokens, read_told
from tests.servers.openai_like import BEHAVIOURS, split_model
from tests.servers.replies import Asked

BOTH = (
    'Call the tool go once, with these arguments: to = "a, b = c.", far = {"n": [1]}. '
    "Call the tool stop. It takes no arguments."
)
GO: tuple[str, dict[str, Any]] = ("go", {"to": "a, b = c.", "far": {"n": [1]}})
STOP: tuple[str, dict[str, Any]] = ("stop", {})


def tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [tool("go", to={"type": "string"}), tool("stop"), tool("send_mail", kind={"enum": ["b", "c"]})]


def said(
    text: str, *messages: dict[str, Any], handicap: Handicap = NO_HANDICAP, tools: Any = None, **body: Any
) -> tuple[list[tuple[str, Any]], str | None]:
    """What it calls and what it says."""
    asked = {"model": "able", "messages": [{"role": "user", "content": text}, *messages], **body}
    answer = able(Asked({**asked, "tools": TOOLS if tools is None else tools}, 100), handicap)
    message = answer["choices"][0]["message"]
    made = [one["function"] for one in message.get("tool_calls", ())]
    return [(one["name"], json.loads(one["arguments"])) for one in made], message["content"]


def done(name: str, arguments: dict[str, Any], result: str) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "1", "content": result},
    ]


def test_what_it_is_told_is_read_whole() -> None:
    assert read_told(BOTH) == [GO, STOP]
    assert read_told("Use the tool go for me.") == []


def test_it_does_all_at_once_and_each_thing_once() -> None:
    assert said(BOTH)[0] == [GO, STOP]
    assert said(BOTH, *done(*GO, "gone"))[0] == [STOP]
    calls, text = said(BOTH, *done(*GO, "gone"), *done(*STOP, "stopped"))
    assert calls == []
    assert text is not None
    assert text.endswith("gone stopped")
    assert said(BOTH, tools=TOOLS[1:2])[0] == [STOP], "what is not offered has to wait"


def test_what_a_user_says_later_is_done_again() -> None:
    assert said(BOTH, *done(*GO, "gone"), {"role": "user", "content": BOTH})[0] == [GO, STOP]


@pytest.mark.parametrize(
    ("text", "choice", "handicap", "called"),
    [
        pytest.param(BOTH, None, Handicap(is_serial=True), ["go"], id="one-at-a-time"),
        pytest.param(BOTH, "none", Handicap(), [], id="none"),
        pytest.param(BOTH, "none", Handicap(ignores_choice=True), ["go", "stop"], id="none-ignored"),
        pytest.param("Hello.", "required", Handicap(), ["go"], id="required"),
        pytest.param("Hello.", "required", Handicap(ignores_choice=True), [], id="required-ignored"),
        pytest.param(BOTH, {"function": {"name": "stop"}}, Handicap(), ["stop"], id="named"),
        pytest.param("Please send a mail to Ann.", None, Handicap(), ["send_mail"], id="picks-by-words"),
        pytest.param("Which is the capital of France?", None, Handicap(), [], id="picks-nothing"),
    ],
)
def test_it_keeps_to_the_choice_unless_it_cannot(text: str, choice: Any, handicap: Handicap, called: list[str]) -> None:
    body = {} if choice is None else {"tool_choice": choice}
    assert [name for name, _ in said(text, handicap=handicap, **body)[0]] == called


def test_arguments_that_nobody_told_it_are_such_as_the_schema_takes() -> None:
    assert said("send mail")[0] == [("send_mail", {"kind": "b"})]


def test_a_cache_knows_the_beginning_of_a_long_prompt() -> None:
    seen: set[str] = set()

    def asked(text: str, model: str = "m") -> Asked:
        return Asked({"model": model, "messages": [{"role": "user", "content": text}]}, 8000)

    assert cached_tokens(asked("x" * 5000 + "1"), seen) == 0
    assert cached_tokens(asked("x" * 5000 + "2"), seen) == 2000 // 128 * 128
    assert cached_tokens(asked("x" * 5000 + "2", "other"), seen) == 0
    assert cached_tokens(asked("x"), seen) == cached_tokens(asked("x"), seen) == 0


@pytest.mark.parametrize(
    ("model", "row", "number"),
    [
        ("able", "able", 0),
        ("able-serial@x", "able-serial", 0),
        ("able-most-tools-128", "able-most-tools", 128),
        ("able-window-8192@x", "able-window", 8192),
    ],
)
def test_its_handicap_is_in_its_name(model: str, row: str, number: float) -> None:
    assert split_model(model) == (row, number)
    assert row in BEHAVIOURS
