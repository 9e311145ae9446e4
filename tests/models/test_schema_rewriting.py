"""Schemas rewritten: nothing a tool takes is lost, and what has other words is said in them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from toolbelt import Tool
from toolbelt.catalog.definitions import assign_wire_names
from toolbelt.catalog.frozen import thaw
from toolbelt.models.claude_rules import ANTHROPIC, BEDROCK
from toolbelt.models.google_rules import GEMINI, VERTEX
from toolbelt.models.provider_rules import AZURE, OLLAMA, OPENAI
from toolbelt.models.rules import Fact, ProviderRules
from toolbelt.models.schema_rewriting import SchemaChange, SchemaRewriter
from toolbelt.models.wire_form import make_wire_form


def _tool(name: str = "read", description: str = "Reads.", **schema: object) -> Tool:
    return Tool(name, description, schema, plugin="file", id=f"file/{name}")


def _sent(tool: Tool, facts: tuple[Fact, ...]) -> Tool:
    return make_wire_form([tool], assign_wire_names([tool]), facts).tools[0]


PLAIN = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "object"}]
ANYTHING: dict[str, list[dict[str, Any]]] = {"anyOf": [*PLAIN, {"type": "array", "items": {"anyOf": PLAIN}}]}
ACCEPTED = [
    ({"type": "object", "properties": {"a": {"const": "x"}}}, {"a": "x"}, GEMINI),
    ({"type": "object", "properties": {"a": {"const": 4}}}, {"a": 4}, GEMINI),
    ({"type": "object", "properties": {"a": {"type": ["string", "array"], "items": {}}}}, {"a": [1]}, GEMINI),
    ({"type": "object", "properties": {"a": {"enum": [1, 2]}}}, {"a": 2}, GEMINI),
    ({"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}, {"type": "number"}]}}}, {"a": 1}, GEMINI),
    (
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "integer"}}},
        {"a": 3},
        GEMINI,
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}}}},
        },
        {"a": {"next": {"next": {}}}},
        GEMINI,
    ),
    (
        {"type": "object", "properties": {"id": {}, "url": {}}, "oneOf": [{"required": ["id"]}, {"required": ["url"]}]},
        {"url": "x"},
        ANTHROPIC,
    ),
    (
        {
            "anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"$ref": "#/$defs/B"},
            ],
            "$defs": {"B": {"type": "object", "properties": {"b": {"type": "string"}}}},
        },
        {"b": "x"},
        OPENAI,
    ),
    ({"type": "object", "properties": {"a": {"type": "array"}}}, {"a": [1, "x"]}, OPENAI),
    ({"type": "object", "properties": {"a": {}}, "additionalProperties": False, "title": "T"}, {"a": 1}, BEDROCK),
    ({"type": "object", "properties": {"a": True, "b": False}}, {"a": [1, {}]}, GEMINI),
    ({"type": "object", "properties": {"a": {"enum": ["", "x"]}}}, {"a": ""}, VERTEX),
    ({"type": "object", "properties": {"a": {"anyOf": [{}, {"type": "string"}]}}}, {"a": 1}, VERTEX),
]


@pytest.mark.parametrize(("schema", "arguments", "rules"), ACCEPTED)
def test_what_the_tool_takes_may_still_be_said(
    schema: dict[str, Any], arguments: dict[str, Any], rules: ProviderRules
) -> None:
    sent = _sent(_tool(**schema), rules.for_model("nova")).parameters
    jsonschema.validate(arguments, schema)
    jsonschema.validate(arguments, json.loads(json.dumps(sent)))
    assert set(arguments) <= set(sent["properties"])  # and is described


def test_gemini_takes_what_it_can_be_told_in_its_own_words() -> None:
    tool = _tool(
        type="object",
        properties={
            "mode": {"const": "fast"},
            "size": {"type": ["integer", "null"], "exclusiveMinimum": 0},
            "level": {"type": "integer", "enum": [1, 2], "description": "How much."},
            "site": {"type": "string", "format": "uri"},
            "tags": {"type": "array"},
            "who": {"allOf": [{"type": "object", "properties": {"name": {"type": "string"}}}, {"required": ["name"]}]},
        },
        required=["mode", "gone"],
        additionalProperties=False,
    )
    assert _sent(tool, GEMINI.facts).parameters == {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": ["fast"]},
            "size": {"type": "integer", "nullable": True},
            "level": {"type": "integer", "description": "How much. One of: 1, 2."},
            "site": {"type": "string"},
            "tags": {"type": "array", "items": ANYTHING},
            "who": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
        "required": ["mode"],
    }


def test_a_schema_that_refers_to_itself_many_times_over_does_not_grow_without_end() -> None:
    names = [f"n{number}" for number in range(12)]
    every = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    definitions = {name: {"type": "object", "properties": every} for name in names}
    tool = Tool("read", "Reads.", {"type": "object", "properties": every, "$defs": definitions}, id="file/read")
    sent = _sent(tool, GEMINI.facts)
    assert len(json.dumps(sent.parameters)) < 2_000_000
    assert set(sent.parameters["properties"]) == set(names)


def test_a_schema_given_is_left_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {"oneOf": [{"const": "x"}]}}, "$defs": {}, "allOf": [{}]}
    before = json.dumps(schema)
    SchemaRewriter((*GEMINI.facts, *OPENAI.facts)).rewrite(schema)
    assert json.dumps(schema) == before


def test_alternatives_at_the_root_become_properties() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "required": ["kind"],
        "oneOf": [
            {"properties": {"kind": {"const": "a"}, "a": {"type": "string"}}, "required": ["kind", "a", "both"]},
            {"properties": {"b": {"type": "string"}}, "required": ["b", "both"]},
        ],
    }
    rewriter = SchemaRewriter(AZURE.facts)
    made = rewriter.rewrite(schema)
    # What is said at the root goes before; required is what every alternative requires.
    assert made["properties"]["kind"] == {"type": "string"}
    assert set(made["properties"]) == {"kind", "a", "b"}
    assert made["required"] == ["kind", "both"]
    assert rewriter.changes == [SchemaChange(("oneOf",), schema["oneOf"], "its properties")]


def test_all_of_at_the_root_requires_what_all_require() -> None:
    schema = {"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}]}
    made = SchemaRewriter(ANTHROPIC.facts).rewrite(schema)
    assert (set(made["properties"]), made["required"], made["type"]) == ({"a", "b"}, ["a", "b"], "object")


def test_what_is_ignored_is_left_out() -> None:
    schema = {"type": "object", "properties": {"a": {"const": 1, "title": "A"}}, "title": "T", "$defs": {}}
    assert SchemaRewriter(OLLAMA.facts).rewrite(schema) == {
        "type": "object",
        "properties": {"a": {"enum": [1], "title": "A"}},
        "$defs": {},
    }


@pytest.mark.parametrize(
    ("reference", "made"),
    [
        pytest.param("#/$defs/a~1b", {"type": "string"}, id="escaped"),
        pytest.param("#/$defs/list/anyOf/0", {"type": "integer"}, id="into-a-list"),
        pytest.param("#/$defs/a~1b%25", {"type": "boolean"}, id="percent-escaped"),
        pytest.param("#/$defs/a~1b%", {"type": "boolean"}, id="with-a-percent-that-escapes-nothing"),
        pytest.param("#/$defs/gone", ANYTHING, id="to-nothing"),
        pytest.param("https://example.com/schema", ANYTHING, id="far-away"),
    ],
)
def test_references_are_written_out(reference: str, made: dict[str, Any]) -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": reference}},
        "$defs": {"a/b": {"type": "string"}, "a/b%": {"type": "boolean"}, "list": {"anyOf": [{"type": "integer"}]}},
    }
    assert SchemaRewriter(GEMINI.facts).rewrite(schema)["properties"]["x"] == made


def test_frozen_schemas_are_mended_when_thawed() -> None:
    tool = _tool(type="object", properties={"a": {"type": "array"}})
    assert SchemaRewriter(OPENAI.facts).rewrite(thaw(tool.parameters))["properties"]["a"] == {
        "type": "array",
        "items": {},
    }


@pytest.mark.parametrize(
    ("part", "made"),
    [
        pytest.param(True, ANYTHING, id="true-is-anything"),
        pytest.param({}, ANYTHING, id="nothing-said-is-anything"),
        pytest.param({"anyOf": [{}, {}]}, ANYTHING, id="alternatives-that-say-nothing"),
        pytest.param({"anyOf": [{"type": "string"}, True]}, ANYTHING, id="one-alternative-that-takes-anything"),
        pytest.param({"anyOf": [{"type": "string"}, False]}, {"anyOf": [{"type": "string"}]}, id="one-that-takes-none"),
        pytest.param({"properties": {}}, {"properties": {}, "type": "object"}, id="what-has-properties-is-an-object"),
        pytest.param(
            {"items": True}, {"items": ANYTHING, "type": "array"}, id="what-has-items-is-an-array-of-what-they-are"
        ),
        pytest.param({"enum": []}, ANYTHING, id="an-enum-of-nothing-is-left-out"),
        pytest.param(
            {"type": "string", "enum": ["", "a"]},
            {"type": "string", "description": 'One of: "", "a".'},
            id="an-empty-text-is-named-in-the-description",
        ),
        pytest.param(
            {"enum": ["a", 1, None, True, {"x": 1}, "\u00e9"]},
            {
                "anyOf": [
                    {**kind, "description": 'One of: "a", 1, null, true, {"x": 1}, "\u00e9".'}
                    for kind in ANYTHING["anyOf"]
                ]
            },
            id="values-are-named-in-JSON",
        ),
        pytest.param(
            {"enum": [True, None]},
            {"type": "boolean", "nullable": True, "description": "One of: true, null."},
            id="values-of-one-kind-tell-the-type",
        ),
    ],
)
@pytest.mark.parametrize("rules", [GEMINI, VERTEX], ids=lambda rules: rules.key)
def test_gemini_is_told_a_type_and_no_empty_value(part: Any, made: dict[str, Any], rules: ProviderRules) -> None:
    schema = {"type": "object", "properties": {"a": part}}
    assert SchemaRewriter(rules.facts).rewrite(schema)["properties"]["a"] == made


def test_what_may_never_be_given_is_left_out_and_not_required() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": False}, "required": ["a", "b"]}
    assert SchemaRewriter(GEMINI.facts).rewrite(schema) == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }


def test_what_is_referred_to_and_left_out_is_written_out_first() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/anyOf/0/properties/a"}, "y": {"$ref": "#/$defs/Y"}},
        "anyOf": [{"properties": {"a": {"type": "integer"}}}],
        "$defs": {"Y": {"type": "string"}},
    }
    made = SchemaRewriter(ANTHROPIC.facts).rewrite(schema)
    assert made["properties"] == {"x": {"type": "integer"}, "y": {"type": "string"}, "a": {"type": "integer"}}
    kept = {**schema, "properties": {"y": {"$ref": "#/$defs/Y"}}}
    assert SchemaRewriter(ANTHROPIC.facts).rewrite(kept)["properties"]["y"] == {"$ref": "#/$defs/Y"}
