"""Tools as strangers write them: any schema, any name, sound or not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from toolbelt import Tool

KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")
NAMES = st.sampled_from(["path", "a b", "filter[id]", "$top", "x" * 70, "x" * 71, "2fa", "é", "", "a.b", "a-b", "a_b"])
VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", ""])
ONES = ("items", "additionalProperties", "not", "if", "contains", "propertyNames")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
BY_NAME = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")


def _plain() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(KINDS) | st.lists(st.sampled_from(KINDS), max_size=3),
            "description": st.sampled_from(["What it is.", ""]),
            "enum": st.lists(VALUES, max_size=3),
            "const": VALUES,
            "format": st.sampled_from(["uri", "date-time", "int32"]),
            "required": st.lists(NAMES, max_size=3),
            "minimum": st.integers(0, 3),
            "exclusiveMinimum": st.integers(0, 3),
            "uniqueItems": st.booleans(),
            "$schema": st.just("http://json-schema.org/draft-07/schema#"),
            "$ref": st.sampled_from(["#", "#/$defs/path", "#/definitions/a b", "#/properties/path", "http://far/away"])
            | st.sampled_from(["#/properties/a%20b", "#/properties/a b", "#/anyOf/0", "#/allOf/0/properties/$top"]),
            "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=2),
        },
    )


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Schemas with everything a provider might dislike, some of them no sound schemas."""

    def within(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        parts = st.fixed_dictionaries(
            {},
            optional={
                **{keyword: inner | st.booleans() for keyword in ONES},
                **{keyword: st.lists(inner, max_size=2) for keyword in LISTS},
                **{keyword: st.dictionaries(NAMES, inner | st.booleans(), max_size=3) for keyword in BY_NAME},
            },
        )
        return st.tuples(_plain(), parts).map(lambda pair: {**pair[0], **pair[1]})

    return st.recursive(_plain(), within, max_leaves=6)


def tools() -> st.SearchStrategy[list[Tool]]:
    """Tools with ids of their own."""
    names = st.sampled_from(["read", "read-file", "files.read", "files/read", "x" * 70, "x" * 130, "2fa", "é", " "])
    made = st.builds(
        lambda name, description, schema, plugin: (name, description, schema, plugin),
        names.filter(str.strip) | st.text(min_size=1, max_size=8).filter(str.strip),
        st.sampled_from(["", "Reads.", "Reads a file. " * 100, "x" * 3_000]),
        schemas(),
        st.sampled_from(["git", "a b"]),
    )
    return st.lists(made, max_size=5).map(
        lambda rows: [
            Tool(name, description, schema, plugin=plugin, id=f"{plugin}/{number}")
            for number, (name, description, schema, plugin) in enumerate(rows)
        ]
    )
