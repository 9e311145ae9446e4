"""A frozen dataclass as JSON, and the JSON Schema of that: both follow its fields, so that they cannot differ.

pydantic and msgspec write such schemas, too. Of a dataclass, both take a field with a default for one that may be
missing, let further keys in, and name a union in place of a nullable type; a second pass over their schemas would be
as long as this module. `to_json` is used at each start with `--json`, where pydantic would double the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from enum import Enum
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints


class Bounds(NamedTuple):
    """The least and the greatest value of a number, both allowed; `None` is no bound."""

    minimum: float | None = None
    maximum: float | None = None


Count = Annotated[int, Bounds(0)]
PositiveCount = Annotated[int, Bounds(1)]
Amount = Annotated[float, Bounds(0)]
Share = Annotated[float, Bounds(0, 1)]

_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number"}


def described(meaning: str, unit: str = "", *, key: str = "", may_be_absent: bool = False) -> Mapping[str, Any]:
    """The metadata of a field.

    Args:
        meaning: What the value is.
        unit: Of its number; empty for texts and plain switches.
        key: Its key in JSON; the field's name if empty.
        may_be_absent: Whether the key is left out where the value is `None` or empty.
    """
    return MappingProxyType({"meaning": meaning, "unit": unit, "key": key, "may_be_absent": may_be_absent})


def to_json(value: Any) -> Any:
    """A value as JSON has it: a dataclass is an object with its fields in order, a tuple an array, an enum its value.

    Raises:
        TypeError: a value is none of these, nor a mapping, a text, a number, a switch or `None`.
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {to_json(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    pairs = ((field, getattr(value, field.name)) for field in fields(value))
    return {_key(field): to_json(item) for field, item in pairs if not (_may_be_absent(field) and item in (None, ()))}


def json_schema(cls: type, parts: Mapping[str, type]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a dataclass as `to_json` writes it, complete.

    Args:
        cls: A dataclass whose fields have types that `to_json` takes.
        parts: The dataclasses inside it, by their names under `$defs`.
    """
    names = {part: name for name, part in parts.items()}
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**dialect, **_object_schema(cls, names), "$defs": json_schemas(parts)}


def json_schemas(parts: Mapping[str, type]) -> dict[str, dict[str, Any]]:
    """The schemas of dataclasses that refer to one another, as they stand under `$defs`.

    Raises:
        KeyError: a dataclass inside one of them is missing.
    """
    names = {part: name for name, part in parts.items()}
    return {name: _object_schema(part, names) for name, part in parts.items()}


def _object_schema(cls: type, names: Mapping[type, str]) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    about = " ".join((cls.__doc__ or "").partition("\n\n")[0].split())
    return {
        "description": about,
        "type": "object",
        "properties": {
            _key(field): {**_description(field), **_schema(hints[field.name], names)} for field in fields(cls)
        },
        "required": [_key(field) for field in fields(cls) if not _may_be_absent(field)],
        "additionalProperties": False,
    }


def _description(field: Field[Any]) -> dict[str, str]:
    meaning, unit = field.metadata.get("meaning", ""), field.metadata.get("unit", "")
    text = f"{unit}: {meaning}" if unit else meaning
    return {"description": text} if text else {}


def _key(field: Field[Any]) -> str:
    return field.metadata.get("key") or field.name


def _may_be_absent(field: Field[Any]) -> bool:
    return bool(field.metadata.get("may_be_absent"))


def _schema(hint: Any, names: Mapping[type, str]) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if origin is Annotated:
        return _schema(arguments[0], names) | _bounds(arguments[1:])
    if origin in (Union, UnionType):
        [inner] = (argument for argument in arguments if argument is not NoneType)
        return _nullable(_schema(inner, names))
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0], names)}
    if origin is not None and issubclass(origin, Mapping):
        keys = {"propertyNames": _enum_schema(arguments[0])} if arguments[0] is not str else {}
        return {"type": "object", **keys, "additionalProperties": _schema(arguments[1], names)}
    if issubclass(hint, Enum):
        return {"type": "string", **_enum_schema(hint)}
    return {"type": _SCALARS[hint]} if hint in _SCALARS else {"$ref": f"#/$defs/{names[hint]}"}


def _bounds(metadata: tuple[Any, ...]) -> dict[str, float]:
    [bounds] = (each for each in metadata if isinstance(each, Bounds))
    return {key: value for key, value in bounds._asdict().items() if value is not None}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "type" not in schema or "enum" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return schema | {"type": [schema["type"], "null"]}


def _enum_schema(cls: type[Enum]) -> dict[str, Any]:
    return {"enum": [member.value for member in cls]}
