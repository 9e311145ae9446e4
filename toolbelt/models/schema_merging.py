"""One schema for values that several schemas take."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Schema = dict[str, Any]
_EVERY_KIND = ("string", "number", "integer", "boolean", "object", "array", "null")
KINDS: Mapping[type[object], str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}
"""The kind of a value in JSON Schema, by its type in Python."""
_OF_KIND: Mapping[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"}),
    "object": frozenset(
        {"properties", "required", "additionalProperties", "propertyOrdering", "minProperties", "maxProperties"}
    ),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}),
}
"""Keywords that only say something of values of one kind."""
_TIED: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def intersect(first: Schema, second: Schema) -> Schema | None:
    """A schema that takes every value that both take, and few others; `None` if no value is taken by both.

    Where one schema cannot say both, it says what `second` does. Descriptions are joined, the first before the second.
    """
    result = {**first, **second}
    for keyword in first.keys() & second.keys():
        one, other = first[keyword], second[keyword]
        if keyword in _TIED and _is_number(one) and _is_number(other):
            result[keyword] = _TIED[keyword](one, other)
        elif keyword == "required" and isinstance(one, list) and isinstance(other, list):
            result[keyword] = [name for name in dict.fromkeys(map(str, one + other)) if name in one + other]
        elif keyword == "properties" and isinstance(one, dict) and isinstance(other, dict):
            result[keyword] = {**one, **other, **{name: _join(one[name], other[name]) for name in one if name in other}}
        elif keyword == "items":
            result[keyword] = _join(one, other)
        elif keyword in ("description", "title") and one and one != other and isinstance(one, str):
            result[keyword] = f"{one} {other}" if keyword == "description" and other else one
    kinds = [kind for kind in _EVERY_KIND if _allows(first, kind) and _allows(second, kind)]
    values = _common_values(first, second)
    if values is not None:
        values = [value for value in values if _kind_of(value) in kinds or _is_whole(value, kinds)]
        result = {**{key: value for key, value in result.items() if key != "const"}, "enum": values}
    if not kinds or values == []:
        return None
    return _of_kinds(result, kinds) if "type" in result else result


def distribute(own: Schema, branches: Sequence[Schema], *, nullable: bool) -> Schema:
    """`anyOf` of `branches` with nothing beside it: all of `own` is said by each branch that takes any of its values.

    Args:
        own: What stands beside the branches.
        branches: At least one.
        nullable: Whether `nullable` takes the place of a branch that is null.
    """
    known = [merged for branch in branches if (merged := intersect(own, branch)) is not None]
    others = [branch for branch in known if branch.get("type") != "null"]
    if nullable and others and len(others) < len(known):
        known = [{**branch, "nullable": True} for branch in others]
    return known[0] if len(known) == 1 else {"anyOf": known} if known else own


def _of_kinds(schema: Schema, kinds: list[str]) -> Schema:
    """`schema` for values of these kinds alone, without what it says of others."""
    named = [kind for kind in kinds if kind != "integer" or "number" not in kinds]
    groups = {"number" if kind == "integer" else kind for kind in kinds}
    idle = {keyword for kind, keywords in _OF_KIND.items() if kind not in groups for keyword in keywords}
    idle -= {keyword for kind in groups for keyword in _OF_KIND.get(kind, ())}
    if "default" in schema and _kind_of(schema["default"]) not in kinds:
        idle.add("default")
    result = {key: value for key, value in schema.items() if key not in idle}
    return {**result, "type": named[0] if len(named) == 1 else named}


def _allows(schema: Schema, kind: str) -> bool:
    kinds = schema.get("type", _EVERY_KIND)
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(kinds, list | tuple):
        return True
    by_another_name = (kind == "integer" and "number" in kinds) or (kind == "null" and schema.get("nullable") is True)
    return kind in kinds or by_another_name


def _common_values(first: Schema, second: Schema) -> list[Any] | None:
    """The values that both list; `None` if neither lists any."""
    listed = [values for values in (_values(first), _values(second)) if values is not None]
    if len(listed) < 2:
        return listed[0] if listed else None
    known = set(map(_canonical, listed[1]))
    return [value for value in listed[0] if _canonical(value) in known]


def _values(schema: Schema) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return list(values) if isinstance(values, list) else None


def _canonical(value: Any) -> str:
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return json.dumps(whole, sort_keys=True)


def _is_whole(value: Any, kinds: list[str]) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and ("number" in kinds or ("integer" in kinds and float(value).is_integer()))
    )


def _kind_of(value: Any) -> str | None:
    return KINDS.get(type(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _join(one: Any, other: Any) -> Any:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return other if one is True or not isinstance(other, dict) else other or one
    both = intersect(one, other)
    return other if both is None else both
