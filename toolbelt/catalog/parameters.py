"""The arguments of a tool as others write them, as a JSON Schema: flat mappings of names, and lists of arguments.

xLAM, APIGen and their followers write `{"city": {"type": "str, optional", "description": …}}` for `parameters`,
smolagents the same as `inputs`. Read as a schema, such a mapping allows anything and describes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolbelt.catalog.definitions import TYPES, convert_type

FLAT_NOTE = "parameters are a mapping of arguments, not a JSON Schema; read as its properties"
_SCHEMA_VALUED = frozenset(
    ("additionalProperties", "items", "not", "if", "then", "else", "contains", "propertyNames", "properties")
) | {"patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies", "unevaluatedProperties"}
"""Keywords of JSON Schema whose values are mappings, too; a mapping of these alone is a schema."""
_OF_AN_ARGUMENT = ("type", "description", "default", "enum", "anyOf")
_OPTIONAL = re.compile(r"\s*,\s*optional\b.*", re.IGNORECASE | re.DOTALL)
_GENERIC = re.compile(r"(?:typing\.)?(\w+)\s*\[(.*)\]", re.DOTALL)


def read_parameters(written: Any) -> Any:
    """The JSON Schema of a tool's arguments, made of a flat mapping or a list of arguments; others are unchanged.

    An argument is required unless it is optional, nullable or has a default.
    """
    if isinstance(written, list) and written and all(_is_named(entry) for entry in written):
        written = {entry["name"]: {key: entry[key] for key in entry if key != "name"} for entry in written}
    elif not is_flat(written):
        return written
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, argument in written.items():
        if name == "required" and isinstance(argument, list):
            continue
        schema, is_optional = _read_argument(argument)
        properties[name] = schema
        if not is_optional:
            required.append(name)
    if isinstance(stated := written.get("required"), list):
        required = [name for name in properties if name in stated]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def is_flat(written: Any) -> bool:
    """Whether it is a mapping of arguments by name, and no JSON Schema."""
    if not isinstance(written, Mapping):
        return False
    arguments = {name: value for name, value in written.items() if name != "required" or not isinstance(value, list)}
    if not arguments or arguments.keys() <= _SCHEMA_VALUED:
        return False
    return all(
        isinstance(value, Mapping) and not value.keys().isdisjoint(_OF_AN_ARGUMENT) for value in arguments.values()
    )


def _is_named(entry: Any) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("name"), str) and "type" in entry


def _read_argument(written: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The schema of an argument, and whether it may be left out."""
    schema = {key: value for key, value in written.items() if key not in ("required", "optional", "nullable")}
    word = schema.get("type")
    is_optional = "default" in written or written.get("nullable") is True or written.get("optional") is True
    if isinstance(word, str):
        bare = _OPTIONAL.sub("", word)
        is_optional = is_optional or bare != word or bare.startswith(("Optional[", "typing.Optional["))
        schema = {key: value for key, value in schema.items() if key != "type"} | read_type(bare)
    if isinstance(written.get("required"), bool):
        is_optional = not written["required"]
    return schema, is_optional


def read_type(word: str) -> dict[str, Any]:
    """The schema of a type as Python or a person writes it: `List[int]`, `Optional[str]`, `float`; else no bound."""
    word = word.strip()
    if (known := convert_type(word)) is None or known in TYPES:
        return {} if known is None else {"type": known}
    if (generic := _GENERIC.fullmatch(word)) is None:
        parts = [read_type(part) for part in word.split("|")] if "|" in word else []
        return _either(parts)
    outer, inner = generic[1].lower(), _split(generic[2])
    if outer in ("optional", "union"):
        return _either([read_type(part) for part in inner])
    if (known := convert_type(outer)) == "array" and outer != "tuple":
        return {"type": "array"} | ({"items": items} if (items := read_type(inner[0])) else {})
    return {"type": known} if known in TYPES else {}


def _either(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What is one of several types, without null, which a value that is left out stands for."""
    given = [part for part in parts if part != {"type": "null"}]
    if not given or {} in given:
        return {}
    return given[0] if len(given) == 1 else {"anyOf": given}


def _split(text: str) -> list[str]:
    """Parts between commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts
