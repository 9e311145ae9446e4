"""Schemas that are none: found by one rule, and always valid once they are repaired (kinds K2 and K10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError

from toolbelt import Tool
from toolbelt.catalog.definitions import assign_wire_names, convert_types, openai_definition, sent_schema
from toolbelt.catalog.frozen import thaw
from toolbelt.models.claude_rules import ANTHROPIC, BEDROCK
from toolbelt.models.google_rules import GEMINI, VERTEX
from toolbelt.models.provider_rules import AZURE, GROQ, OPENAI
from toolbelt.models.rules import Fact, KnownReferences, ValidSchema
from toolbelt.models.schema_parts import read_shape
from toolbelt.models.violations import breaks, explain
from toolbelt.models.wire_form import make_wire_form

APIS = (OPENAI, AZURE, ANTHROPIC, GEMINI, VERTEX, BEDROCK, GROQ)


def is_valid(schema: Any) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, TypeError):
        return False
    return True


def repaired(schema: dict[str, Any], facts: tuple[Fact, ...] = ANTHROPIC.facts) -> Any:
    tool = Tool("t", "T.", schema)
    return thaw(make_wire_form([tool], assign_wire_names([tool]), facts).tools[0].parameters)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("was", "now"),
    [
        pytest.param({"maximum": 9, "exclusiveMaximum": True}, {"exclusiveMaximum": 9}, id="a-bound-of-draft-4"),
        pytest.param({"maximum": 9, "exclusiveMaximum": False}, {"maximum": 9}, id="a-bound-that-is-included"),
        pytest.param({"exclusiveMinimum": True}, {}, id="a-bound-of-nothing"),
        pytest.param(
            {"type": "array", "items": [{"type": "string"}, {}], "additionalItems": False},
            {"type": "array", "prefixItems": [{"type": "string"}, {}], "items": False},
            id="a-tuple-of-draft-7",
        ),
        pytest.param({"type": "double"}, {"type": "number"}, id="a-type-of-java"),
        pytest.param({"type": ["str", "None"]}, {"type": ["string", "null"]}, id="types-of-python"),
        pytest.param({"type": "any"}, {}, id="any-type"),
        pytest.param({"type": "timestamp"}, {}, id="a-type-that-nobody-knows"),
        pytest.param({"type": None}, {}, id="no-type"),
        pytest.param({"type": "object", "properties": []}, {"type": "object", "properties": {}}, id="php"),
        pytest.param({"enum": {"a": 1}, "description": None, "minLength": -1}, {}, id="values-that-cannot-be"),
        pytest.param({"pattern": "["}, {}, id="a-pattern-that-is-none"),
        pytest.param({"$ref": "#/$defs/Gone", "title": "G"}, {"title": "G"}, id="a-reference-to-nothing"),
        pytest.param({"$recursiveRef": "#", "$recursiveAnchor": True}, {"$ref": "#"}, id="a-recursion-of-2019"),
        pytest.param({"required": ["a", "a", 1]}, {"required": ["a"]}, id="a-name-twice"),
    ],
)
def test_K2_what_is_no_schema_is_repaired(was: dict[str, Any], now: dict[str, Any]) -> None:
    assert repaired(of(x=was))["properties"]["x"] == now


def test_K2_required_of_draft_3_is_that_of_the_object() -> None:
    assert repaired(of(a={"type": "string", "required": True}, b={"required": False})) == {
        **of(a={"type": "string"}, b={}),
        "required": ["a"],
    }


def test_K2_each_repair_is_listed() -> None:
    tool = Tool("t", "T.", of(x={"minimum": 1, "exclusiveMinimum": True, "type": "float"}))
    changes = make_wire_form([tool], assign_wire_names([tool]), OPENAI.facts).changes
    listed = {change.change.place[-1]: (change.change.was, change.change.now) for change in changes}
    assert listed == {"exclusiveMinimum": (True, 1), "type": ("float", "number"), "minimum": (1, None)}


def test_K2_anthropic_compiles_patterns() -> None:
    dangling, pattern = (Tool("t", "T.", of(x=part)) for part in ({"$ref": "#/$defs/X"}, {"pattern": r"\p{L}"}))
    for tool, rule in ((dangling, KnownReferences()), (pattern, ValidSchema())):
        fact = next(fact for fact in ANTHROPIC.facts if fact.rule == rule)
        assert breaks(tool, read_shape(tool.parameters), fact)
        [place] = explain(tool, "t", fact).places
        assert place[:2] == ("properties", "x")


@pytest.mark.parametrize("api", [OPENAI, AZURE, ANTHROPIC])
def test_K2_a_reference_to_nothing_or_to_another_document_breaks_a_rule(api: Any) -> None:
    [fact] = [fact for fact in api.facts if isinstance(fact.rule, KnownReferences)]
    definitions = {"X": {"$anchor": "x", "type": "string"}}
    for reference, is_known in (
        *(("#/$defs/X", True), ("#x", True), ("#", True), ("https://me.example/s#/$defs/X", True)),
        *(("#/$defs/Y", False), ("#y", False), ("other.json#/X", False), ("https://example.com/s", False)),
    ):
        schema = of(a={"$ref": reference}) | {"$defs": definitions, "$id": "https://me.example/s"}
        assert breaks(Tool("t", "T.", schema), read_shape(schema), fact) is not is_known, reference


KEYWORDS = (
    *(
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "minimum",
        "exclusiveMinimum",
        "additionalProperties",
        "anyOf",
    ),
    *("minLength", "pattern", "description", "prefixItems", "$defs", "uniqueItems", "multipleOf", "$ref", "not"),
    *("patternProperties", "dependentRequired", "title", "format", "nullable", "examples", "oneOf", "allOf"),
)
ODD: st.SearchStrategy[Any] = st.sampled_from(
    (
        *(None, True, False, [], {}, 0, 1, -1, 2.5, "x", "", "float", "dict", "string", "object", ["a"], ["a", "a"]),
        *([None], "[", ["string", "null"], ["string", "str"], "#/$defs/a", "#/properties/a", "#", {"a": None}),
        *({"a": ["b"]}, {"[": {}}),
    )
)
SCHEMAS = st.recursive(
    st.dictionaries(st.sampled_from(KEYWORDS), ODD, max_size=4),
    lambda inner: st.dictionaries(
        st.sampled_from(KEYWORDS),
        ODD | inner | st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner | ODD, max_size=2),
        max_size=4,
    ),
    max_leaves=8,
)


@given(SCHEMAS)
@example({"type": "object", "properties": {"a": {"type": "tuple", "items": [{"type": "int"}]}}})
def test_K2_the_rule_is_broken_by_what_an_independent_validator_calls_no_schema(schema: dict[str, Any]) -> None:
    assert read_shape(schema).has_invalid == (not is_valid(schema))


@given(SCHEMAS, st.sampled_from(APIS))
@example({"properties": {"a": {"items": [{}, None]}}}, VERTEX)
@example({"$ref": "#", "type": [], "properties": None}, OPENAI)
def test_K2_what_is_repaired_is_always_valid(schema: dict[str, Any], api: Any) -> None:
    tool = Tool("t", "T.", schema)
    form = make_wire_form([tool], assign_wire_names([tool]), api.facts)
    sent = thaw(form.tools[0].parameters)
    assert is_valid(sent), sent
    assert not read_shape(sent).has_dangling
    if sent != thaw(openai_definition(tool, "t"))["function"]["parameters"]:
        assert form.changes


def test_K2_valid_schemas_are_not_converted() -> None:
    schema = of(type={"type": "string", "enum": ["dict", "float"], "default": {"type": "int"}}, any={"type": "integer"})
    assert convert_types(schema) == schema


@pytest.mark.parametrize(
    ("root", "kept"),
    [
        ({"type": "array", "items": {"type": "string"}}, {"items": {"type": "string"}}),
        ({"type": "string", "enum": ["a", "b"], "description": "One."}, {"description": "One."}),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {}),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, {"anyOf": [{"type": "string"}, {"type": "object"}]}),
        ({"const": 3, "allOf": [{}, {"type": "null"}]}, {}),
    ],
)
def test_K10_what_is_sent_can_be_answered(root: dict[str, Any], kept: dict[str, Any]) -> None:
    sent = sent_schema(root)
    assert sent == {"type": "object", "properties": {}, **kept}
    assert Draft202012Validator(sent).is_valid({})
