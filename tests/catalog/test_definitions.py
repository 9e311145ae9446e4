"""Definitions as each provider takes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS, definition_text, export_definitions

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = Tool(
    "read.file",
    "Reads « a file ».",
    SCHEMA,
    {"readOnlyHint": True},
    extra={
        "strict": True,
        "cache_control": {"type": "ephemeral"},
        "title": "Read",
        "outputSchema": {"type": "object"},
        "x": 1,
    },
)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            "openai",
            {
                "type": "function",
                "function": {"name": "wire", "description": "Reads « a file ».", "parameters": SCHEMA, "strict": True},
            },
        ),
        (
            "litellm",
            {
                "type": "function",
                "function": {"name": "wire", "description": "Reads « a file ».", "parameters": SCHEMA, "strict": True},
            },
        ),
        (
            "anthropic",
            {
                "name": "wire",
                "description": "Reads « a file ».",
                "input_schema": SCHEMA,
                "cache_control": {"type": "ephemeral"},
            },
        ),
        (
            "mcp",
            {
                "name": "wire",
                "description": "Reads « a file ».",
                "inputSchema": SCHEMA,
                "title": "Read",
                "outputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": True},
            },
        ),
    ],
)
def test_each_form_whole(form: str, expected: dict[str, Any]) -> None:
    assert DEFINITION_FORMATS[form](TOOL, "wire") == expected


def test_the_table_is_complete() -> None:
    assert list(DEFINITION_FORMATS) == ["openai", "anthropic", "mcp", "litellm"]


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        pytest.param({}, {"type": "object", "properties": {}}, id="a-tool-that-takes-nothing"),
        pytest.param(SCHEMA, SCHEMA, id="a-schema-of-an-object-as-it-is"),
        pytest.param({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}, id="the-type-is-added"),
        pytest.param({"type": "object"}, {"type": "object", "properties": {}}, id="properties-are-added"),
        pytest.param({"type": "string"}, {"type": "object", "properties": {}}, id="another-type-is-replaced"),
        pytest.param({"type": ["object"]}, {"type": "object", "properties": {}}, id="so-is-a-choice-of-types"),
        pytest.param({"$defs": {}}, {"type": "object", "properties": {}, "$defs": {}}, id="the-rest-is-kept"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("form", "where"), [("openai", "parameters"), ("anthropic", "input_schema"), ("mcp", "inputSchema")]
)
def test_a_schema_is_sent_as_one_of_an_object(form: str, where: str, parameters: Any, sent: Any) -> None:
    definition = DEFINITION_FORMATS[form](Tool("f", parameters=parameters), "f")
    assert definition.get("function", definition)[where] == sent


def test_the_text_is_compact_and_escapes_nothing_needlessly() -> None:
    assert definition_text(DEFINITION_FORMATS["anthropic"](Tool("f", "« é\n\x1b"), "f")) == (
        '{"name":"f","description":"« é\\n\\u001b","input_schema":{"type":"object","properties":{}}}'
    )


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_the_text_is_the_definition(description: str, properties: dict[str, str]) -> None:
    definition = DEFINITION_FORMATS["openai"](Tool("f", description, {"type": "object", "properties": properties}), "f")
    assert json.loads(definition_text(definition)) == definition


def test_what_is_exported_is_plain_in_order_and_under_wire_names() -> None:
    catalog = Catalog((Plugin("p", (Tool("a.b"), Tool("c"))), Plugin("q", (Tool("c"),))))
    chosen = [catalog.get_tool("q/c"), catalog.get_tool("a.b")]
    made = export_definitions(chosen, catalog.wire_names, "openai")
    assert [entry["function"]["name"] for entry in made] == ["q__c", "a_b"]
    assert type(made[0]["function"]["parameters"]["properties"]) is dict
    made[0]["function"]["parameters"]["properties"]["x"] = 1
    assert catalog.get_tool("q/c").parameters == {}
    result = export_definitions(chosen, catalog.wire_names, "mcp")
    assert list(result) == ["tools"]
    assert [entry["name"] for entry in result["tools"]] == ["q__c", "a_b"]
    with pytest.raises(KeyError):
        export_definitions(chosen, catalog.wire_names, "nope")
