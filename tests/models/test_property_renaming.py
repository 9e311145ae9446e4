"""Properties renamed with whatever names them: what was valid stays valid, what was not does not become so."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from tests.models.schema_strategies import schemas
from toolbelt.models.property_renaming import rename_properties
from toolbelt.models.schema_parts import find_referred, subschemas

NEW = {"x y": "x_y", "a/b": "a_b", "50%": "t_50"}
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def _object(**more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x y": TEXT, "a/b": NUMBER, "50%": {}, "z": {}}, **more}


REFERENCES = ["#/properties/x y", "#/properties/x%20y", "#/properties/a~1b", "#/properties/50%", "#/properties/50%25"]


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_reference_to_a_renamed_property_follows(reference: str) -> None:
    schema = _object(**{"$defs": {"z": {"items": {"$ref": reference}}}})
    made = rename_properties(schema, NEW)
    was, now = find_referred(schema, reference), find_referred(made, made["$defs"]["z"]["items"]["$ref"])
    assert was is not None
    assert now is not None
    assert (now[0][-1], now[1]) == (NEW[was[0][-1]], was[1])


VALID: list[Any] = [
    pytest.param({"required": ["x y"]}, {"x y": "1"}, {"a/b": 1}, id="required"),
    pytest.param({"dependentRequired": {"x y": ["a/b"]}}, {"x y": "1", "a/b": 1}, {"x y": "1"}, id="dependentRequired"),
    pytest.param(
        {"dependentSchemas": {"x y": {"required": ["a/b"]}}},
        {"x y": "1", "a/b": 1},
        {"x y": "1"},
        id="dependentSchemas",
    ),
    pytest.param(
        {"if": {"required": ["x y"]}, "then": {"required": ["a/b"]}, "else": {"required": ["z"]}},
        {"x y": "1", "a/b": 1},
        {"x y": "1", "z": 1},
        id="if-then-else",
    ),
    pytest.param({"not": {"required": ["x y"]}}, {"a/b": 1}, {"x y": "1"}, id="not"),
    pytest.param(
        {"allOf": [{"properties": {"x y": {"minLength": 2}}}]}, {"x y": "12"}, {"x y": "1"}, id="said-again-in-all-of"
    ),
    pytest.param(
        {"propertyNames": {"pattern": "^[^_]*$"}}, {"x y": "1", "z": 1}, {"q_": 1}, id="names-that-the-new-one-is-not"
    ),
    pytest.param(
        {"patternProperties": {"_": {"type": "null"}}}, {"x y": "1"}, {"q_q": 1}, id="a-pattern-that-fits-the-new-name"
    ),
    pytest.param(
        {"patternProperties": {"^x ": {"maxLength": 2}}}, {"x y": "1"}, {"x y": "123"}, id="a-pattern-of-the-old-name"
    ),
    pytest.param(
        {"additionalProperties": False}, {"x y": "1", "a/b": 1}, {"q": 1}, id="additional-ones-are-still-others"
    ),
    pytest.param({"enum": [{"x y": "1"}]}, {"x y": "1"}, {"x y": "2"}, id="values-of-the-whole"),
    pytest.param(
        {
            "$ref": "#/$defs/base",
            "$defs": {"base": {"required": ["x y"], "$ref": "#/$defs/more"}, "more": {"minProperties": 2}},
        },
        {"x y": "1", "z": 1},
        {"z": 1, "a/b": 1},
        id="what-the-root-refers-to",
    ),
]


@pytest.mark.parametrize(("more", "good", "bad"), VALID)
def test_the_same_holds_under_the_new_names(more: dict[str, Any], good: dict[str, Any], bad: dict[str, Any]) -> None:
    schema = _object(**more)
    before = json.dumps(schema)
    made = rename_properties(schema, NEW)
    assert json.dumps(schema) == before
    for value, is_valid in ((good, True), (bad, False)):
        renamed = {NEW.get(key, key): item for key, item in value.items()}
        assert jsonschema.Draft202012Validator(schema).is_valid(value) is is_valid
        assert jsonschema.Draft202012Validator(made).is_valid(renamed) is is_valid


def test_what_is_like_the_root_further_in_keeps_its_own_names() -> None:
    schema = _object(
        required=["x y"],
        **{"$defs": {"node": {"$ref": "#"}, "part": {"$ref": "#/allOf/0"}}, "allOf": [{"required": ["x y"]}]},
    )
    schema["properties"]["z"] = {"$ref": "#/$defs/node"}
    made = jsonschema.Draft202012Validator(rename_properties(schema, NEW))
    # Only the arguments themselves come back under their own names.
    assert made.is_valid({"x_y": "1", "z": {"x y": "1", "z": {"x y": "2"}}})
    assert not made.is_valid({"x_y": "1", "z": {"x_y": "1"}})
    assert not made.is_valid({"x_y": "1", "z": {"x y": 1}})


def test_the_root_may_refer_to_itself_where_it_means_itself() -> None:
    schema = _object(
        anyOf=[{"$ref": "#/$defs/loop"}, {"required": ["x y"]}], **{"$defs": {"loop": {"$ref": "#/anyOf/1"}}}
    )
    made = rename_properties(schema, NEW)
    assert jsonschema.Draft202012Validator(made).is_valid({"x_y": "1"})
    assert not jsonschema.Draft202012Validator(made).is_valid({"z": "1"})


def test_other_documents_and_anchors_are_left_alone() -> None:
    schema = _object(
        allOf=[{"$ref": "https://example.com/#/properties/x y"}, {"$ref": "#anchor"}],
        **{
            "$defs": {"own": {"$id": "https://example.com/own", "$ref": "#/properties/x y"}},
            "patternProperties": {"(": {}},
        },
    )
    made = rename_properties(schema, NEW)
    assert {key: made[key] for key in ("allOf", "$defs", "patternProperties")} == {
        key: schema[key] for key in ("allOf", "$defs", "patternProperties")
    }


@settings(max_examples=60, deadline=None)
@given(schema=schemas())
def test_no_reference_that_led_somewhere_dangles(schema: dict[str, Any]) -> None:
    names = [name for name in schema.get("properties", {}) if name != "path"]
    made = rename_properties(schema, {name: f"new_{number}" for number, name in enumerate(names)})

    def dangling(root: dict[str, Any]) -> set[str]:
        found = {part["$ref"] for _, part in subschemas(root) if "$ref" in part}
        return {reference for reference in found if find_referred(root, reference) is None}

    assert dangling(made) <= dangling(schema)
    assert rename_properties(schema, {}) is schema


def test_a_reference_to_true_or_false_follows_the_new_name() -> None:
    reference = {"$ref": "#/properties/a%20b"}
    renamed = rename_properties({"properties": {"a b": False, "c": reference}, "allOf": [reference]}, {"a b": "a_b"})
    assert renamed["properties"] == {"a_b": False, "c": {"$ref": "#/properties/a_b"}}
    jsonschema.Draft202012Validator(renamed["allOf"][0] | renamed).check_schema(renamed)
    assert find_referred(renamed, renamed["allOf"][0]["$ref"]) is not None
