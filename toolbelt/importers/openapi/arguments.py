"""The arguments of one tool, from the parameters and the request body of an operation.

A body that is a plain object gives an argument for each of its properties; any other body is one argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.importers.openapi.keywords import ANNOTATIONS, DEFS, Schema
from toolbelt.importers.openapi.operations import Operation
from toolbelt.importers.openapi.schemas import Schemas
from toolbelt.importers.openapi.spec import Spec, free_name
from toolbelt.patterns import fold
from toolbelt.sources.section import Section

PLACES = ("path", "query", "header", "cookie")
"""Where a parameter may be; the other arguments are of the body."""


@dataclass(slots=True)
class Arguments:
    """The arguments of one tool.

    Attributes:
        spec: Where mistakes and remarks go.
        schemas: The schemas of the document.
        label: What remarks are about.
        properties: The schema of each argument.
        places: By argument, `in` and the other details of its place in the request.
        required: Arguments that no call can do without.
        additional: What further arguments must be; `False` if there may be none.
    """

    spec: Spec
    schemas: Schemas
    label: str
    properties: dict[str, Schema] = field(default_factory=dict)
    places: dict[str, dict[str, Any]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    additional: Schema = False

    def add(self, place: str, name: str, schema: Schema, details: Mapping[str, Any], *, required: bool) -> None:
        """Take in an argument, called after its place too where the name is taken."""
        called = name
        if name in self.properties:
            called = free_name(f"{name}_{place}", self.properties)
            kind = "parameter" if place in PLACES else "property"
            what = f"{kind} {name!r} of the {place}" if details else "the body"
            self.spec.note(f"{what} is {called!r} here", self.label)
        self.properties[called] = schema
        self.places[called] = {"in": place, **details}
        if required:
            self.required.append(called)

    def media_schema(self, node: Section) -> tuple[Schema, Section | None]:
        """The schema of a media type, and where it stands; any value if it has none."""
        if node.read_mapping() is not None and "schema" in node.value:
            return self.schemas.convert(node.child("schema")), node.child("schema")
        return {}, None

    def schema(self) -> dict[str, Any]:
        """Their JSON Schema, with the definitions it needs."""
        schema: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        schema["additionalProperties"] = self.additional
        if definitions := self.schemas.definitions((*self.properties.values(), self.additional)):
            schema["$defs"] = definitions
        return schema


def with_annotations(schema: Schema, annotations: Mapping[str, Any]) -> Schema:
    """`schema` with the annotations of the place where it is used, which go before its own."""
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    return {**schema, **annotations}


_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})


def add_parameters(operation: Operation, arguments: Arguments) -> None:
    """Take in the parameters of the path and the operation."""
    for node in _merge_parameters(operation, arguments.spec):
        _add_parameter(node, arguments)
    declared = {each["name"] for each in arguments.places.values() if each["in"] == "path"}
    for variable in re.findall(r"{([^{}]*)}", operation.path):
        if variable not in declared:
            arguments.spec.note(f"the path has {{{variable}}}, but no parameter is called so", arguments.label)


def _merge_parameters(operation: Operation, spec: Spec) -> list[Section]:
    """The parameters of the path and the operation, which wins by name and place."""
    merged: dict[tuple[str, str], Section] = {}
    own = operation.node.child("parameters") if "parameters" in operation.node.value else None
    for node in (operation.item.get("parameters"), own):
        seen: set[tuple[str, str]] = set()
        for item in [] if node is None or node.value is None else node.read_items():
            if (placed := _read_parameter(item, spec)) is None:
                continue
            key, parameter = placed
            if key in seen:
                message = f"The parameter {key[1]!r} of the {key[0]} is listed twice."
                item.add_error("duplicate-parameter", message)
            seen.add(key)
            merged[key] = parameter
    return list(merged.values())


def _read_parameter(node: Section, spec: Spec) -> tuple[tuple[str, str], Section] | None:
    """Place and name of a parameter, and where it stands; `None` if it lacks one of these."""
    parameter = spec.follow(node)
    if parameter is None or parameter.read_mapping() is None:
        return None
    name, place = parameter.value.get("name"), parameter.value.get("in")
    if not isinstance(name, str) or not name.strip():
        parameter.add_error("invalid-parameter", "A parameter needs a `name` that is text.")
        return None
    if place not in PLACES:
        message = f"`in` of the parameter {name!r} must be one of {', '.join(PLACES)}, not {place!r}."
        parameter.add_error("invalid-parameter", message)
        return None
    # Header names ignore case.
    return (place, fold(name) if place == "header" else name), parameter


def _add_parameter(node: Section, arguments: Arguments) -> None:
    spec = arguments.spec
    name, place = node.value["name"], node.value["in"]
    if place == "header" and fold(name) in _IGNORED_HEADERS:
        spec.note(f"the header {name!r} is left out, as OpenAPI says", arguments.label)
        return
    required = node.read_bool("required") or False
    if place == "path" and not required:
        spec.note(f"parameter {name!r} of the path is required, though it does not say so", arguments.label)
    details: dict[str, Any] = {"name": name}
    # What the caller must know to write the value into the request.
    written = {
        "style": node.read_text("style", blank=True),
        "explode": node.read_bool("explode"),
        "allowReserved": node.read_bool("allowReserved"),
    }
    details |= {key: value for key, value in written.items() if value is not None}
    schema = _parameter_schema(node, arguments, details)
    arguments.add(place, name, schema, details, required=required or place == "path")


def _parameter_schema(node: Section, arguments: Arguments, details: dict[str, Any]) -> Schema:
    """The schema of a parameter; its media type, if it has one, goes into `details`."""
    schema: Schema = {}
    if "schema" in node.value:
        schema = arguments.schemas.convert(node.child("schema"))
    elif content := node.read_mapping("content", "a mapping with one media type"):
        details["content_type"] = next(iter(content))
        schema = arguments.media_schema(node.child("content").child(details["content_type"]))[0]
    else:
        node.add_error("invalid-parameter", f"The parameter {node.value['name']!r} has no `schema`.")
    annotations: dict[str, Any] = {}
    if description := node.read_text("description", blank=True):
        annotations["description"] = description.strip()
    if node.read_bool("deprecated"):
        annotations["deprecated"] = True
    if "example" in node.value:
        annotations["examples"] = [node.value["example"]]
    return with_annotations(schema, annotations)


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
    return _merge_properties(parts)


def _is_plain(part: Mapping[str, Any]) -> bool:
    if part.get("type", "object") not in ("object", ["object"]):
        return False
    return all(key in _PLAIN or key in ANNOTATIONS for key in part)


def _merge_properties(parts: list[Mapping[str, Any]]) -> dict[str, Any] | None:
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


def add_body(operation: Operation, arguments: Arguments) -> dict[str, Any] | None:
    """Take in the request body.

    Returns:
        Its `content_type`, and whether it is `required`; `None` if there is none.
    """
    if "requestBody" not in operation.node.value:
        return None
    spec = arguments.spec
    node = spec.follow(operation.node.child("requestBody"))
    if node is None or node.read_mapping() is None:
        return None
    required = node.read_bool("required") or False
    content = node.read_mapping("content", "a mapping of media types")
    if not content:
        node.add_error("invalid-body", "A request body needs a `content` with a media type.")
        return None
    media_type = _chosen_media_type(content)
    if not _is_json(media_type):
        spec.note(f"the body is sent as {media_type}", arguments.label)
    schema, schema_node = arguments.media_schema(node.child("content").child(media_type))
    flat = flatten(schema, arguments.schemas)
    if flat is None or schema_node is None:
        description = node.read_text("description", blank=True)
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
            arguments.spec.note(f"the body requires {name!r}, which it does not describe", arguments.label)
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
