"""Walking through schemas, and what there is in one at a glance."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from tests.models.schema_strategies import schemas
from toolbelt.models.schema_parts import (
    find_referred,
    follow,
    format_place,
    format_pointer,
    format_reference,
    parse_pointer,
    read_shape,
    subschemas,
)


@settings(max_examples=15, deadline=None)
@given(schema=schemas())
def test_every_place_leads_to_what_stands_there(schema: dict[str, Any]) -> None:
    for place, part in subschemas(schema):
        current: Any = schema
        for key in place:
            current = current[key]
        assert current is part


def test_schemas_are_told_from_what_only_looks_like_one() -> None:
    schema = {
        "type": "object",
        "properties": {"type": {"type": "array"}, "enum": True},
        "default": {"type": ["a", "b"]},
        "enum": [{"type": "array"}],
    }
    assert [place for place, _ in subschemas(schema)] == [(), ("properties", "type")]
    shape = read_shape(schema)
    assert (shape.has_type_list, shape.has_bare_array, shape.parameters) == (False, True, ("type", "enum"))


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        pytest.param({"items": {"type": ["string"]}}, "has_type_list", id="a-list-of-one-is-a-list"),
        pytest.param({"anyOf": [{"type": "array"}]}, "has_bare_array", id="in-an-alternative"),
        pytest.param({"type": "array", "items": [{}]}, "has_bare_array", id="a-tuple-is-not-taken-for-items"),
        pytest.param({"$defs": {"a": {"enum": ["x"]}}}, "has_other_enum", id="an-enum-of-no-type"),
        pytest.param({"required": ["a"]}, "has_undescribed", id="required-and-nothing-described"),
        pytest.param({"required": [1], "properties": {"1": {}}}, "has_undescribed", id="a-name-is-a-text"),
        pytest.param({}, "is_object", id="nothing-is-sent-as-an-object"),
    ],
)
def test_a_shape_sees_it(schema: dict[str, Any], what: str) -> None:
    assert getattr(read_shape(schema), what) is True
    assert getattr(read_shape({"type": "object", "properties": {"a": {"type": "string"}}}), what) is (
        what == "is_object"
    )


def test_places_are_read() -> None:
    assert format_place(("properties", "a", "anyOf", 0)) == "properties.a.anyOf.0"
    assert format_place(()) == "its root"


RFC: dict[str, Any] = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
CASES = [
    ("", RFC),
    ("/foo", ["bar", "baz"]),
    ("/foo/0", "bar"),
    ("/", 0),
    ("/a~1b", 1),
    ("/c%d", 2),
    ("/e^f", 3),
    ("/g|h", 4),
    ("/i\\j", 5),
    ('/k"l', 6),
    ("/ ", 7),
    ("/m~0n", 8),
]


@pytest.mark.parametrize(("pointer", "value"), CASES)
def test_pointers_lead_where_the_rfc_says(pointer: str, value: Any) -> None:
    assert follow(RFC, parse_pointer(pointer)) == value
    assert format_pointer(parse_pointer(pointer)) == pointer


def test_what_begins_with_no_slash_is_no_pointer() -> None:
    with pytest.raises(ValueError, match="no JSON Pointer"):
        parse_pointer("foo")


@pytest.mark.parametrize("name", ["a b", "a/b", "a~b", "50%", "a%20b", "\u00e9", "^$", ""])
def test_a_reference_leads_back_to_its_place(name: str) -> None:
    root = {"properties": {name: {"type": "string"}}}
    assert find_referred(root, format_reference(("properties", name))) == (("properties", name), {"type": "string"})


@pytest.mark.parametrize("reference", ["#/gone", "#anchor", "https://example.com#/a", "#/list/7", "#/list/x", "#/text"])
def test_what_is_not_there_is_not_found(reference: str) -> None:
    assert find_referred({"list": [{}], "text": "x"}, reference) is None
