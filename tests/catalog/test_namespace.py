"""Definitions as OpenAI's models are shown them."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.catalog.namespace import namespace_text
from toolbelt.catalog.tool import Tool

ROOM = {"type": "object", "properties": {"floor": {"type": "integer"}}, "required": ["floor"]}


def test_a_function_is_written_like_typescript() -> None:
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {
            "lamp": {"type": "string", "description": "Which one."},
            "colour": {"enum": ["red", "blue"], "default": "red"},
            "levels": {"type": "array", "items": {"type": "number"}},
            "room": {"$ref": "#/$defs/room"},
            "until": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "further": {"type": "object"},
            "anything": True,
        },
        "required": ["lamp"],
        "$defs": {"room": ROOM},
    }
    assert (
        namespace_text(Tool(name="light", description="Switches a lamp on.", parameters=parameters), "house__light")
        == """\
// Switches a lamp on.
type house__light = (_: {
// Which one.
lamp: string,
colour?: "red" | "blue", // default: "red"
levels?: number[],
room?: {
floor: number,
},
until?: number | null,
further?: object,
anything?: any,
}) => any;

"""
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"properties": []},
        {"type": "object", "properties": {}},
    ],
)
def test_nothing_to_fill_in(parameters: dict[str, Any]) -> None:
    text = namespace_text(Tool(name="ping", description="", parameters=parameters), "ping")
    assert text == "type ping = () => any;\n\n"


def test_a_schema_without_end_is_written_to_some_depth() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    text = namespace_text(Tool(name="walk", description="", parameters=node), "walk")
    assert 10 < text.count("next?:") < 100


@pytest.mark.parametrize("target", ["#/nowhere", "https://example.org/schema", "#/properties/at/type"])
def test_a_reference_to_nothing_is_any(target: str) -> None:
    parameters = {"type": "object", "properties": {"at": {"type": "string"}, "to": {"$ref": target}}}
    assert "to?: any," in namespace_text(Tool(name="go", description="", parameters=parameters), "go")
