"""What calls a schema no longer takes."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.catalog.gate.schema_breaks import BreakKind, find_schema_breaks

STRING, NUMBER = {"type": "string"}, {"type": "number"}


def schema(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


BREAKS = {
    "new-required-argument": (schema(), schema(("a",), a=STRING), [(BreakKind.REQUIRED, "a")]),
    "optional-became-required": (schema(a=STRING), schema(("a",), a=STRING), [(BreakKind.REQUIRED, "a")]),
    "argument-removed": (schema(a=STRING), schema(), [(BreakKind.REMOVED, "a")]),
    "type-changed": (schema(a=STRING), schema(a=NUMBER), [(BreakKind.TYPE, "a")]),
    "type-no-longer-null": (schema(a={"type": ["string", "null"]}), schema(a=STRING), [(BreakKind.TYPE, "a")]),
    "enum-narrowed": (schema(a={"enum": ["x", "y"]}), schema(a={"enum": ["x"]}), [(BreakKind.ENUM, "a")]),
    "enum-new": (schema(a=STRING), schema(a={**STRING, "enum": ["x"]}), [(BreakKind.ENUM, "a")]),
    "within-an-object": (schema(a=schema(b=STRING)), schema(a=schema(b=NUMBER)), [(BreakKind.TYPE, "a.b")]),
    "within-a-list": (
        schema(a={"type": "array", "items": STRING}),
        schema(a={"type": "array", "items": NUMBER}),
        [(BreakKind.TYPE, "a[]")],
    ),
    "behind-a-reference": (
        schema(a=STRING),
        {**schema(a={"$ref": "#/$defs/A"}), "$defs": {"A": NUMBER}},
        [(BreakKind.TYPE, "a")],
    ),
}
NO_BREAKS = {
    "same": (schema(a=STRING), schema(a=STRING)),
    "new-optional-argument": (schema(), schema(a=STRING)),
    "no-longer-required": (schema(("a",), a=STRING), schema(a=STRING)),
    "integer-to-number": (schema(a={"type": "integer"}), schema(a=NUMBER)),
    "null-as-well": (schema(a=STRING), schema(a={"anyOf": [STRING, {"type": "null"}]})),
    "enum-widened": (schema(a={"enum": ["x"]}), schema(a={"enum": ["x", "y"]})),
    "enum-or-null": (schema(a={"enum": ["x"]}), schema(a={"anyOf": [{"enum": ["x"]}, {"type": "null"}]})),
    "written-by-reference": (schema(a=STRING), {**schema(a={"$ref": "#/$defs/A"}), "$defs": {"A": STRING}}),
    "takes-any-argument": (schema(a=STRING), {**schema(), "additionalProperties": True}),
    "refers-to-itself": ({**schema(a={"$ref": "#"})}, {**schema(a={"$ref": "#"})}),
    "no-schema": ({}, {}),
}


@pytest.mark.parametrize(("old", "new", "expected"), BREAKS.values(), ids=BREAKS)
def test_what_is_no_longer_taken(old: Any, new: Any, expected: list[tuple[BreakKind, str]]) -> None:
    assert [(found.kind, found.argument) for found in find_schema_breaks(old, new)] == expected


@pytest.mark.parametrize(("old", "new"), NO_BREAKS.values(), ids=NO_BREAKS)
def test_what_is_taken_as_before(old: Any, new: Any) -> None:
    assert list(find_schema_breaks(old, new)) == []


def test_values_that_are_lost_are_named() -> None:
    [found] = find_schema_breaks(*BREAKS["enum-narrowed"][:2])
    assert (found.before, found.after) == (("y",), ("x",))
