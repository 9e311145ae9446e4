"""Tool definitions as OpenAI's models are shown them: a namespace of functions, written like TypeScript.

The form is that of OpenAI's published prompt format (harmony), which its hosted models are billed by as well: with the
fixed parts of `toolbelt.models.token_rates` it gives the prompt tokens of recorded answers to within a token or two.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.catalog.definitions import sent_schema
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.tool import Tool

Schema = Mapping[str, Any]
_DEEPEST = 40
"""Levels of a schema that are written; recursive ones have no end."""


def namespace_text(tool: Tool, wire_name: str) -> str:
    """The text of one function."""
    root = thaw(sent_schema(tool.parameters))
    members = "\n".join(_members(root, root, 0))
    lines = [f"// {tool.description}"] if tool.description else []
    lines.append(f"type {wire_name} = (_: {{\n{members}\n}}) => any;" if members else f"type {wire_name} = () => any;")
    return "\n".join(lines) + "\n\n"


def _members(schema: Schema, root: Schema, depth: int) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required")
    for name, value in properties.items() if isinstance(properties, dict) else ():
        part = value if isinstance(value, dict) else {}
        if text := part.get("description"):
            yield f"// {text}"
        mark = "" if isinstance(required, list) and name in required else "?"
        default = f" // default: {json.dumps(part['default'], ensure_ascii=False)}" if "default" in part else ""
        yield f"{name}{mark}: {_type(part, root, depth)},{default}"


def _type(schema: object, root: Schema, depth: int) -> str:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return "any"
    if isinstance(target := schema.get("$ref"), str):
        return _type(_find(target, root), root, depth + 1)
    if isinstance(values := schema.get("enum"), list):
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(parts := schema.get(key), list):
            return " | ".join(_type(part, root, depth + 1) for part in parts)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": word}, root, depth + 1) for word in kind)
    if kind == "array":
        return f"{_type(schema.get('items'), root, depth + 1)}[]"
    if isinstance(schema.get("properties"), dict):
        members = "\n".join(_members(schema, root, depth + 1))
        return f"{{\n{members}\n}}"
    return "number" if kind in ("integer", "number") else kind if isinstance(kind, str) else "any"


def _find(target: str, root: Schema) -> object:
    """What a reference within the schema points at; `None` where it points elsewhere, or at nothing."""
    place: object = root if target.startswith("#") else None
    for step in target.removeprefix("#").strip("/").split("/"):
        if step:
            place = place.get(step) if isinstance(place, dict) else None
    return place
