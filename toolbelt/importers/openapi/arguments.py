"""The arguments of one tool, gathered: their JSON Schema, and where in the request each belongs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.importers.openapi.keywords import Schema
from toolbelt.importers.openapi.naming import free_name
from toolbelt.importers.openapi.reading import Node, Reading
from toolbelt.importers.openapi.schemas import Schemas

PLACES = ("path", "query", "header", "cookie")
"""Where a parameter may be; the other arguments are of the body."""


@dataclass(slots=True)
class Arguments:
    """The arguments of one tool.

    Attributes:
        reading: Where mistakes and remarks go.
        schemas: The schemas of the document.
        label: What remarks are about.
        properties: The schema of each argument.
        places: By argument, `in` and the other details of its place in the request.
        required: Arguments that no call can do without.
        additional: What further arguments must be; `False` if there may be none.
    """

    reading: Reading
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
            self.reading.note(f"{what} is {called!r} here", self.label)
        self.properties[called] = schema
        self.places[called] = {"in": place, **details}
        if required:
            self.required.append(called)

    def media_schema(self, node: Node) -> tuple[Schema, Node | None]:
        """The schema of a media type, and where it stands; any value if it has none."""
        if self.reading.is_mapping(node, "A media type") and "schema" in node.value:
            return self.schemas.convert(node.child("schema")), node.child("schema")
        return {}, None

    def schema(self) -> dict[str, Any]:
        """Their JSON Schema, with the definitions it needs."""
        made: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            made["required"] = self.required
        made["additionalProperties"] = self.additional
        if definitions := self.schemas.definitions((*self.properties.values(), self.additional)):
            made["$defs"] = definitions
        return made


def with_annotations(schema: Schema, said: Mapping[str, Any]) -> Schema:
    """`schema` with what is said where it is used, which goes before what it says itself."""
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    return {**schema, **said}
