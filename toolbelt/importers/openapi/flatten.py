"""The one plain object that a schema with `$ref`s and `allOf`s amounts to, where it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbelt.importers.openapi.keywords import ANNOTATIONS, DEFS, Schema
from toolbelt.importers.openapi.schemas import Schemas

_PLAIN = frozenset({"type", "properties", "required", "additionalProperties", "allOf", "$ref"})


def flatten(schema: Schema, schemas: Schemas) -> dict[str, Any] | None:
    """A plain object with no `$ref` or `allOf` around its properties.

    Args:
        schema: Converted.
        schemas: Where it is from.

    Returns:
        `properties`, `required` and, where something says so, `additionalProperties`; `None` if it is no plain
        object, or its parts say different things of the same property.
    """
    parts: list[Mapping[str, Any]] = []
    pending: list[Any] = [schema]
    seen: set[str] = set()
    while pending:
        part = pending.pop()
        if not isinstance(part, dict) or not _is_plain(part):
            return None
        if "$ref" in part and part["$ref"] not in seen:
            seen.add(part["$ref"])
            pending.append(schemas.definition(part["$ref"].removeprefix(DEFS)))
        pending.extend(reversed(part.get("allOf", ())))
        if any(key in part for key in ("properties", "required", "additionalProperties")):
            parts.append(part)
    return _merged(parts)


def _is_plain(part: Mapping[str, Any]) -> bool:
    if part.get("type", "object") not in ("object", ["object"]):
        return False
    return all(key in _PLAIN or key in ANNOTATIONS for key in part)


def _merged(parts: list[Mapping[str, Any]]) -> dict[str, Any] | None:
    properties: dict[str, Any] = {}
    for part in parts:
        for name, schema in part.get("properties", {}).items():
            if properties.setdefault(name, schema) != schema:
                return None
    additional = [part["additionalProperties"] for part in parts if "additionalProperties" in part]
    if not properties or (len(parts) > 1 and any(schema is not True for schema in additional)):
        return None  # in an `allOf`, each part's limit would refuse the properties of the others
    required = dict.fromkeys(name for part in parts for name in part.get("required", ()))
    return {
        "properties": properties,
        "required": list(required),
        **({"additionalProperties": additional[0]} if additional else {}),
    }
