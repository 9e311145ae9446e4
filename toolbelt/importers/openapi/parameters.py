"""The parameters of an operation as arguments."""

from __future__ import annotations

import re
from typing import Any

from toolbelt.importers.openapi.arguments import PLACES, Arguments, with_annotations
from toolbelt.importers.openapi.keywords import Schema
from toolbelt.importers.openapi.operations import Operation
from toolbelt.importers.openapi.reading import Node, Reading
from toolbelt.patterns import fold

_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})
_DETAILS: tuple[tuple[str, type[Any], str], ...] = (
    ("style", str, "text"),
    ("explode", bool, "true or false"),
    ("allowReserved", bool, "true or false"),
)
"""What the caller must know to write the value into the request."""


def add_parameters(operation: Operation, arguments: Arguments) -> None:
    """Take in the parameters of the path and the operation."""
    for node in _merged(operation, arguments.reading):
        _add(node, arguments)
    given = {each["name"] for each in arguments.places.values() if each["in"] == "path"}
    for variable in re.findall(r"{([^{}]*)}", operation.path):
        if variable not in given:
            arguments.reading.note(f"the path has {{{variable}}}, but no parameter is called so", arguments.label)


def _merged(operation: Operation, reading: Reading) -> list[Node]:
    """The parameters of the path and the operation, which wins by name and place."""
    merged: dict[tuple[str, str], Node] = {}
    own = operation.node.child("parameters") if "parameters" in operation.node.value else None
    for node in (operation.item.get("parameters"), own):
        if node is None or not reading.typed(node, "`parameters`", list, "a list"):
            continue
        seen: set[tuple[str, str]] = set()
        for index in range(len(node.value)):
            found = _read(node.child(index), reading)
            if found is None:
                continue
            key, parameter = found
            if key in seen:
                message = f"The parameter {key[1]!r} of the {key[0]} stands in this list already."
                reading.refuse("duplicate-parameter", message, node.child(index))
            seen.add(key)
            merged[key] = parameter
    return list(merged.values())


def _read(node: Node, reading: Reading) -> tuple[tuple[str, str], Node] | None:
    """Place and name of a parameter, and where it stands; `None` if it lacks one of these."""
    found = reading.follow(node)
    if found is None or not reading.is_mapping(found, "A parameter"):
        return None
    name, place = found.value.get("name"), found.value.get("in")
    if not isinstance(name, str) or not name.strip():
        reading.refuse("invalid-parameter", "A parameter needs a `name` that is text.", found)
        return None
    if place not in PLACES:
        message = f"`in` of the parameter {name!r} must be one of {', '.join(PLACES)}, not {place!r}."
        reading.refuse("invalid-parameter", message, found)
        return None
    # Header names ignore case.
    return (place, fold(name) if place == "header" else name), found


def _add(node: Node, arguments: Arguments) -> None:
    reading = arguments.reading
    name, place = node.value["name"], node.value["in"]
    if place == "header" and fold(name) in _IGNORED_HEADERS:
        reading.note(f"the header {name!r} is left out, as OpenAPI says", arguments.label)
        return
    required = reading.field(node, "required", bool, "true or false") or False
    if place == "path" and not required:
        reading.note(f"parameter {name!r} of the path is required, though it does not say so", arguments.label)
    details: dict[str, Any] = {"name": name}
    for key, kind, wanted in _DETAILS:
        if (value := reading.field(node, key, kind, wanted)) is not None:
            details[key] = value
    schema = _schema(node, arguments, details)
    arguments.add(place, name, schema, details, required=required or place == "path")


def _schema(node: Node, arguments: Arguments, details: dict[str, Any]) -> Schema:
    """The schema of a parameter; its media type, if it has one, goes into `details`."""
    reading = arguments.reading
    schema: Schema = {}
    if "schema" in node.value:
        schema = arguments.schemas.convert(node.child("schema"))
    elif content := reading.field(node, "content", dict, "a mapping with one media type"):
        details["content_type"] = next(iter(content))
        schema = arguments.media_schema(node.child("content").child(details["content_type"]))[0]
    else:
        reading.refuse("invalid-parameter", f"The parameter {node.value['name']!r} has no `schema`.", node)
    said: dict[str, Any] = {}
    if description := reading.field(node, "description", str, "text"):
        said["description"] = description.strip()
    if reading.field(node, "deprecated", bool, "true or false"):
        said["deprecated"] = True
    if "example" in node.value:
        said["examples"] = [node.value["example"]]
    return with_annotations(schema, said)
