"""The request body of an operation as arguments: one for each property of a plain object, else one for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbelt.importers.openapi.arguments import Arguments, with_annotations
from toolbelt.importers.openapi.flatten import flatten
from toolbelt.importers.openapi.operations import Operation


def add_body(operation: Operation, arguments: Arguments) -> dict[str, Any] | None:
    """Take in the request body.

    Returns:
        Its `content_type`, and whether it is `required`; `None` if there is none.
    """
    if "requestBody" not in operation.node.value:
        return None
    reading = arguments.reading
    node = reading.follow(operation.node.child("requestBody"))
    if node is None or not reading.is_mapping(node, "`requestBody`"):
        return None
    required = reading.field(node, "required", bool, "true or false") or False
    content = reading.field(node, "content", dict, "a mapping of media types")
    if not content:
        reading.refuse("invalid-body", "A request body needs a `content` with a media type.", node)
        return None
    media_type = _chosen_media_type(content)
    if not _is_json(media_type):
        reading.note(f"the body is sent as {media_type}", arguments.label)
    schema, schema_node = arguments.media_schema(node.child("content").child(media_type))
    flat = flatten(schema, arguments.schemas)
    if flat is None or schema_node is None:
        description = reading.field(node, "description", str, "text")
        body = with_annotations(schema, {"description": description.strip()} if description else {})
        arguments.add("body", "body", body, {}, required=required)
    else:
        # The mark may stand in another part of an `allOf` than the requirement.
        unrequired = arguments.schemas.read_only.names(schema_node)
        needed = [name for name in flat["required"] if name not in unrequired] if required else []
        _add_fields(flat, needed, arguments)
    return {"content_type": media_type, "required": required}


def _add_fields(flat: Mapping[str, Any], required: list[str], arguments: Arguments) -> None:
    properties = dict(flat["properties"])
    for name in required:
        if name not in properties:
            arguments.reading.note(f"the body requires {name!r}, which it does not describe", arguments.label)
            properties[name] = {}
    for name, schema in properties.items():
        arguments.add("body", name, schema, {"name": name}, required=name in required)
    arguments.additional = flat.get("additionalProperties", False)


def _chosen_media_type(content: Mapping[str, Any]) -> str:
    """JSON with a schema, else the first with a schema, else JSON, else the first."""
    described = [key for key, value in content.items() if isinstance(value, Mapping) and "schema" in value]
    candidates = described or list(content)
    exact = [key for key in candidates if _essence(key) == "application/json"]
    return next(iter(exact or [key for key in candidates if _is_json(key)] or candidates))


def _is_json(media_type: str) -> bool:
    essence = _essence(media_type)
    return essence == "application/json" or essence.endswith("+json")


def _essence(media_type: str) -> str:
    """`application/json` of `Application/JSON; charset=utf-8`."""
    return media_type.partition(";")[0].strip().lower()
