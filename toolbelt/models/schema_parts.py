"""Parts of a JSON Schema: walking through them, references between them, and which rules they may break."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from toolbelt.catalog.definitions import TYPES
from toolbelt.catalog.schema_outline import References, has_inner_ids

Place = tuple[str | int, ...]
"""Where something stands: the keys that lead there from the root."""

_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = (
    *("items", "additionalItems", "contains", "unevaluatedItems"),
    *("additionalProperties", "propertyNames", "unevaluatedProperties"),
    *("not", "if", "then", "else"),
)
_TYPED = ("properties", "items", "anyOf")
"""Keywords that hold schemas with every API."""
_HOLDING = frozenset({*_BY_NAME, *_LISTED, *_SINGLE})
"""Keywords that hold schemas; the others, which are most, are passed over at once."""


def subschemas(schema: Any) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Every schema within `schema`, itself first, with its place; what is no mapping is passed over."""
    pending: list[tuple[Place, Any]] = [((), schema)]
    while pending:
        place, current = pending.pop()
        if not isinstance(current, Mapping):
            continue
        yield place, current
        pending.extend(reversed(list(children(place, current))))


def children(place: Place, schema: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
    """What stands right below a schema where schemas stand, with its place; it may be no mapping."""
    for keyword, value in schema.items():
        if keyword not in _HOLDING:
            continue
        if keyword in _BY_NAME and isinstance(value, Mapping):
            yield from (((*place, keyword, name), part) for name, part in value.items())
        elif isinstance(value, list) and (keyword in _LISTED or keyword == "items"):
            yield from (((*place, keyword, number), part) for number, part in enumerate(value))
        elif keyword in _SINGLE:
            yield (*place, keyword), value


def set_part(schema: dict[str, Any], inner: Place, value: Any) -> None:
    """Set what stands at `inner` below a schema, in a copy of what holds it."""
    keyword = inner[0]
    if len(inner) == 1:
        schema[str(keyword)] = value
        return
    holder = schema[str(keyword)]
    copied: Any = dict(holder) if isinstance(holder, dict) else list(holder)
    copied[inner[1]] = value
    schema[str(keyword)] = copied


def format_place(place: Place) -> str:
    """A place as people and `jq` read it: `properties.path.enum`; `its root` for none."""
    return ".".join(map(str, place)) or "its root"


def is_bare_array(schema: Mapping[str, Any]) -> bool:
    """Whether it is an array that does not say of what."""
    kinds = schema.get("type")
    return (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)) and (
        "items" not in schema or isinstance(schema["items"], list)
    )


def is_other_enum(schema: Mapping[str, Any]) -> bool:
    """Whether it has an `enum` that is not one of texts alone, of a text."""
    if "enum" not in schema:
        return False
    values = schema["enum"]
    return schema.get("type") != "string" or not (
        isinstance(values, list) and all(isinstance(value, str) for value in values)
    )


def is_empty_enum(schema: Mapping[str, Any]) -> bool:
    """Whether it has an `enum` of nothing, or with an empty text in it."""
    values = schema.get("enum")
    return isinstance(values, list) and (not values or "" in values)


def is_crowded(schema: Mapping[str, Any]) -> bool:
    """Whether anything stands beside its `anyOf`."""
    return bool(schema.get("anyOf")) and len(schema) > 1


def is_untyped(schema: Mapping[str, Any]) -> bool:
    """Whether it says neither its type nor, by alternatives, what it may be."""
    return not schema.get("type") and not schema.get("anyOf")


def find_non_schemas(schema: Mapping[str, Any]) -> list[Place]:
    """Where right below it a schema is wanted and stands none, or one that is `true` or `false`."""
    return [at for at, part in children((), schema) if at[0] in _TYPED and not isinstance(part, Mapping)]


def undescribed_names(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """What it requires and does not describe."""
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list):
        return ()
    described = properties if isinstance(properties, Mapping) else {}
    return tuple(name for name in required if not isinstance(name, str) or name not in described)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def is_schema(value: Any) -> bool:
    """Whether a value may stand where a schema does."""
    return isinstance(value, Mapping | bool)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    return value in TYPES if isinstance(value, str) else _is_names(value) and bool(value) and TYPES.issuperset(value)


def _is_pattern(value: Any) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(value)
    except Exception:  # noqa: BLE001  no text, or too large
        return False
    return True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_VALID: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(_BY_NAME, _is_map),
    **dict.fromkeys(_LISTED, lambda value: isinstance(value, list) and bool(value)),
    **dict.fromkeys(_SINGLE, is_schema),
    **dict.fromkeys((*_COUNTS, "minContains", "maxContains"), _is_count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("title", "description", "format", "contentEncoding", "contentMediaType"), _is_text),
    **dict.fromkeys(("$ref", "$schema", "$comment", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor"), _is_text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _is_flag),
    **dict.fromkeys(("enum", "examples"), _is_list),
    **dict.fromkeys(("$recursiveRef", "$recursiveAnchor"), lambda _: False),  # of 2019-09 alone
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "type": _is_type,
    "required": _is_names,
    "pattern": _is_pattern,
    "dependentRequired": lambda value: isinstance(value, Mapping) and all(map(_is_names, value.values())),
}
"""Whether the value of a keyword is one by JSON Schema 2020-12; the schemas that it holds are checked by themselves."""


def find_invalid(schema: Mapping[str, Any]) -> list[Place]:
    """What is no JSON Schema of 2020-12 right at a schema; a pattern is none either where Python cannot read it."""
    places: list[Place] = [(key,) for key, value in schema.items() if key in _VALID and not _VALID[key](value)]
    wrong = {place[0] for place in places}
    places += [at for at, part in children((), schema) if at[0] not in wrong and not is_schema(part)]
    named = schema.get("patternProperties")
    patterns = named if isinstance(named, Mapping) else ()
    places += [("patternProperties", name) for name in patterns if not _is_pattern(name)]
    return list(dict.fromkeys(places))


def has_dangling(schema: Mapping[str, Any], root: Any) -> bool:
    """Whether its `$ref` is to no schema within `root`: to a place where none is, or to another document."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return False
    if reference.startswith("#/"):
        return not is_schema(_find_target(root, reference))
    return not has_inner_ids(root) and not References(root).is_known(reference)


def _find_target(root: Any, reference: str) -> Any:
    pointers = (unquote(reference[1:]), reference[1:])
    return next((found for each in pointers if (found := follow(root, parse_pointer(each))) is not None), None)


def text_format(schema: Mapping[str, Any]) -> str | None:
    """The `format` of what is a text; `None` if it has none or is something else."""
    value = schema.get("format")
    return value if isinstance(value, str) and schema.get("type", "string") == "string" else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shape:
    """A schema at a glance: enough to tell whether it breaks a rule, not where.

    Attributes:
        root: Keywords of its root.
        keywords: Keywords anywhere.
        formats: Formats of texts.
        parameters: Names of the `properties` of its root.
        is_object: Whether it says that it is an object, or nothing at all, which is sent as an object.
        has_bare_array: Whether an array does not say of what.
        has_type_list: Whether a `type` is a list.
        has_other_enum: Whether an `enum` is not one of texts.
        has_undescribed: Whether something is required that is not described.
        has_empty_enum: Whether an `enum` has nothing in it, or an empty text.
        has_crowded: Whether anything but its root has `anyOf` and more.
        has_untyped: Whether anything but its root says neither type nor alternatives.
        has_invalid: Whether anything is no JSON Schema of 2020-12.
        has_dangling: Whether a `$ref` leads to nothing.
        has_loose: Whether `true`, `false` or no schema at all stands where one is wanted.
    """

    root: frozenset[str]
    keywords: frozenset[str]
    formats: frozenset[str]
    parameters: tuple[str, ...]
    is_object: bool
    has_bare_array: bool
    has_type_list: bool
    has_other_enum: bool
    has_undescribed: bool
    has_empty_enum: bool
    has_crowded: bool
    has_untyped: bool
    has_loose: bool
    has_invalid: bool
    has_dangling: bool


def read_shape(schema: Mapping[str, Any]) -> Shape:
    """Look at every part of `schema` once."""
    keywords: set[str] = set()
    formats: set[str] = set()
    bare = listed = other = missing = empty = crowded = untyped = loose = invalid = dangling = False
    for place, part in subschemas(schema):
        keywords.update(part)
        if (format_name := text_format(part)) is not None:
            formats.add(format_name)
        bare = bare or is_bare_array(part)
        listed = listed or isinstance(part.get("type"), list)
        other = other or is_other_enum(part)
        missing = missing or bool(undescribed_names(part))
        empty = empty or is_empty_enum(part)
        crowded = crowded or (bool(place) and is_crowded(part))
        untyped = untyped or (bool(place) and is_untyped(part))
        loose = loose or bool(find_non_schemas(part))
        invalid = invalid or bool(find_invalid(part))
        dangling = dangling or has_dangling(part, schema)
    properties = schema.get("properties")
    return Shape(
        root=frozenset(schema),
        keywords=frozenset(keywords),
        formats=frozenset(formats),
        parameters=tuple(properties) if isinstance(properties, Mapping) else (),
        is_object=not schema or schema.get("type") == "object",
        has_bare_array=bare,
        has_type_list=listed,
        has_other_enum=other,
        has_undescribed=missing,
        has_empty_enum=empty,
        has_crowded=crowded,
        has_untyped=untyped,
        has_loose=loose,
        has_invalid=invalid,
        has_dangling=dangling,
    )


Steps = tuple[str, ...]
_SAFE = "/~!$&'()*+,;=:@?"
"""What may stand in the fragment of a URI as it is."""


def format_pointer(place: Iterable[str | int]) -> str:
    """`("properties", "a/b")` as `/properties/a~1b`; the root is empty."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in place)


def parse_pointer(pointer: str) -> Steps:
    """The steps of what `format_pointer` wrote.

    Raises:
        ValueError: it is no JSON Pointer.
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is no JSON Pointer.")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def format_reference(steps: Steps) -> str:
    """A `$ref` to a place within the same document."""
    return "#" + quote(format_pointer(steps), safe=_SAFE)


def find_referred(root: Any, reference: str) -> tuple[Steps, Mapping[str, Any]] | None:
    """The place and the schema that a `$ref` within `root` refers to.

    Percent escapes are read as such, unless only what is written stands there. `true` and `false` are as objects.
    `None` for another document, an anchor, and what is not there.
    """
    if reference != "#" and not reference.startswith("#/"):
        return None
    for pointer in dict.fromkeys((unquote(reference[1:]), reference[1:])):
        steps = parse_pointer(pointer)
        target = follow(root, steps)
        if isinstance(target, dict | bool):
            return steps, as_object(target)
    return None


def as_object(schema: Mapping[str, Any] | bool) -> Mapping[str, Any]:
    """A schema as an object, `true` and `false` too."""
    return ({} if schema else {"not": {}}) if isinstance(schema, bool) else schema


def follow(root: Any, steps: Steps) -> Any:
    """What stands at a place; `None` where nothing does."""
    current = root
    for step in steps:
        if isinstance(current, Mapping) and step in current:
            current = current[step]
        elif isinstance(current, list) and step.isdecimal() and int(step) < len(current):
            current = current[int(step)]
        else:
            return None
    return current
