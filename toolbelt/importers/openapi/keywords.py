"""The keywords of JSON Schema and OpenAPI's own: what each holds, and the ones of 3.0 in those of 2020-12."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Schema = Mapping[str, Any] | bool

DEFS = "#/$defs/"
"""What a reference begins with, before the name of a definition."""
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def _is_of(*kinds: type) -> Callable[[Any], bool]:
    """A check of type in which true and false are no numbers."""
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


_is_number = _is_of(int, float)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_names(value) and _TYPES.issuperset(value)
    return isinstance(value, str) and value in _TYPES


_ANYTHING = (_is_of(object, bool), "anything")
_TEXT, _FLAG, _LIST = (_is_of(str), "text"), (_is_of(bool), "true or false"), (_is_of(list), "a list")
_NUMBER, _COUNT = (_is_number, "a number"), (_is_count, "a whole number of 0 or more")
_BOUND = (_is_of(int, float, bool), "a number, or true or false")
_NAMES = (_is_names, "a list of names, each once")

VALUES: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "type": (_is_type, f'one of {", ".join(sorted(_TYPES))}, or a list of these; write "null" in quotes'),
        **dict.fromkeys(("const", "default", "example"), _ANYTHING),
        "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
        **dict.fromkeys(("minimum", "maximum"), _NUMBER),
        **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _BOUND),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT),
        **dict.fromkeys(("minContains", "maxContains"), _COUNT),
        "uniqueItems": _FLAG,
        "required": _NAMES,
        "dependentRequired": (
            lambda value: isinstance(value, dict) and all(map(_is_names, value.values())),
            "a mapping of name to a list of names",
        ),
        **dict.fromkeys(("pattern", "format", "contentEncoding", "contentMediaType", "title", "description"), _TEXT),
        **dict.fromkeys(("enum", "examples"), _LIST),
        **dict.fromkeys(("deprecated", "readOnly", "writeOnly", "nullable"), _FLAG),
    }
)
SUBSCHEMAS = frozenset(
    {"items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else", "contentSchema"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
SUBSCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SUBSCHEMA_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
"""Keywords whose schemas are for the same value; `dependentSchemas` too, a mapping of such."""
ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"})
BESIDE_REF = ANNOTATIONS | {"$ref", "example", "nullable"}
"""What is kept beside a `$ref` in OpenAPI 3.0, which ignores all of it: it restricts nothing, and is meant."""
DROPPED = frozenset(
    {"discriminator", "xml", "externalDocs", "$schema", "$id", "$anchor", "$comment", "$vocabulary"}
    | {"$defs", "definitions", "$dynamicAnchor"}
)


def translate(schema: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI 3.0's own keywords in those of JSON Schema."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
    if "example" in schema:
        schema["examples"] = [*schema.get("examples", ()), schema.pop("example")]
    return _with_null(schema) if schema.pop("nullable", False) else schema


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    if any(key in schema for key in ("$ref", "const", *IN_PLACE)):
        annotations = {key: schema.pop(key) for key in tuple(schema) if key in ANNOTATIONS}
        return {**annotations, "anyOf": [schema, {"type": "null"}]}
    if "type" in schema:
        types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        schema["type"] = types if "null" in types else [*types, "null"]
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema
