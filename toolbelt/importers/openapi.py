"""Catalogs from OpenAPI 3 documents: one tool per operation, one plugin per tag.

The properties of a request body that is an object stand beside the parameters; any other body is one argument,
`body`. What a caller needs to make the request of a tool call is in the tool's `extra`:

    {"method": "PUT", "path": "/pets/{petId}",
     "arguments": {"petId": {"in": "path", "name": "petId"},        # style, explode, allowReserved, content_type
                   "name": {"in": "body", "name": "name"},          # as far as the document gives them
                   "body": {"in": "body"}},                         # no name: the argument is the whole body
     "body": {"content_type": "application/json", "required": true}, # if there is one
     "deprecated": true}                                            # if so

Arguments that are not listed there, which a tool takes only where its body does, belong in the body.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.catalog import Catalog
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tool import Plugin, Tool
from toolbelt.errors import InvalidDefinitionError, InvalidFileError, suggestion
from toolbelt.importers.openapi_schema import Node, Reading, Schema, Schemas, flatten, free_name
from toolbelt.patterns import fold

if TYPE_CHECKING:
    from toolbelt.documents import Document

_READS = MappingProxyType({"readOnlyHint": True})
_WRITES = MappingProxyType({"readOnlyHint": False})
_METHODS: Mapping[str, Mapping[str, bool]] = MappingProxyType(
    {
        "get": _READS,
        "put": MappingProxyType({"destructiveHint": True, "idempotentHint": True}),
        "post": _WRITES,
        "delete": MappingProxyType({"destructiveHint": True, "idempotentHint": True}),
        "options": _READS,
        "head": _READS,
        "patch": _WRITES,
        "trace": _READS,
    }
)
"""The methods that are tools, with MCP's hints."""
_PATH_KEYS = (*_METHODS, "$ref", "summary", "description", "servers", "parameters")
_NOT_READ = ("query", "additionalOperations")  # of OpenAPI 3.2
_PLACES = ("path", "query", "header", "cookie")
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})


def is_openapi(data: object) -> bool:
    """Whether `data` is an OpenAPI 3 document, or one of its forerunner Swagger 2."""
    if not isinstance(data, Mapping):
        return False
    version = data.get("openapi")
    return (isinstance(version, str) and version.startswith("3.")) or str(data.get("swagger")).startswith("2")


def convert_openapi(document: Document, name: str) -> CatalogFile:
    """A catalog with a tool for each operation of an OpenAPI 3.0 or 3.1 document.

    Args:
        document: Nothing it refers to outside of itself is fetched.
        name: Of the catalog, and of the plugin of operations that have no tag.

    Returns:
        The catalog; its notes say what was renamed or left out.

    Raises:
        InvalidFileError: every mistake, with its line.
    """
    return _Importer(document, name).read()


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation, with what it has from its path."""

    node: Node
    item: Mapping[str, Node]
    method: str
    path: str
    plugin: str
    name: str | None

    @property
    def label(self) -> str:
        """How notes call it."""
        return self.name or f"{self.method.upper()} {self.path}"


@dataclass(slots=True)
class _Arguments:
    """The arguments of one tool, gathered."""

    reading: Reading
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
            kind = "parameter" if place in _PLACES else "property"
            what = f"{kind} {name!r} of the {place}" if details else "the body"
            self.reading.note(f"{what} is {called!r} here", self.label)
        self.properties[called] = schema
        self.places[called] = {"in": place, **details}
        if required:
            self.required.append(called)

    def schema(self, schemas: Schemas) -> dict[str, Any]:
        """Their JSON Schema, with the definitions it needs."""
        made: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            made["required"] = self.required
        made["additionalProperties"] = self.additional
        if definitions := schemas.definitions((*self.properties.values(), self.additional)):
            made["$defs"] = definitions
        return made


class _ToolLines(Mapping[str, int]):
    """Lines by tool id, looked up when asked for: a JSON text must be read again for them."""

    def __init__(self, reading: Reading, nodes: Mapping[str, Node]) -> None:
        self._reading = reading
        self._nodes = nodes

    def __getitem__(self, tool_id: str) -> int:
        line = self._reading.find_line(self._nodes[tool_id])
        if line is None:
            raise KeyError(tool_id)
        return line

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


class _Importer:
    def __init__(self, document: Document, name: str) -> None:
        self._document = document
        self._name = name
        self._reading = Reading(document)
        version = document.data.get("openapi") if isinstance(document.data, dict) else None
        self._schemas = Schemas(self._reading, siblings_count=not str(version).startswith("3.0"))
        self._spellings: dict[str, str] = {}
        self._nodes: dict[str, Node] = {}

    def read(self) -> CatalogFile:
        self._check_version()
        operations = list(self._operations())
        if not operations and not self._reading.findings:
            self._reading.refuse("empty", "There is no operation under `paths`.", self._under_root("paths"))
        tools: dict[str, list[Tool]] = {}
        for operation, tool_name in self._named(operations):
            tools.setdefault(operation.plugin, []).append(self._tool(operation, tool_name))
        self._schemas.refuse_endless()
        descriptions = self._tag_descriptions()
        about = self._about()
        self._note_webhooks()
        if not self._reading.findings:
            try:
                plugins = [Plugin(each, tuple(tools[each]), None, descriptions.get(fold(each), "")) for each in tools]
                catalog = Catalog(tuple(plugins), self._name, about)
                lines = _ToolLines(self._reading, self._nodes)
                return CatalogFile(catalog, self._document.source, self._reading.notes, self._document, lines)
            except InvalidDefinitionError as error:
                self._reading.refuse("invalid-catalog", str(error), self._reading.root)
        raise InvalidFileError(self._reading.findings)

    def _check_version(self) -> None:
        root = self._reading.root
        if not isinstance(root.value, dict):
            self._reading.refuse("not-openapi", "An OpenAPI document is a mapping.", root)
        elif "openapi" not in root.value and "swagger" in root.value:
            message = "Swagger 2 is not read; convert it to OpenAPI 3 first, for example with swagger2openapi."
            self._reading.refuse("swagger-2", message, root.child("swagger"))
        elif not is_openapi(root.value):
            message = "`openapi` must be text that starts with '3.', such as '3.1.0' in quotes."
            self._reading.refuse("not-openapi", message, self._under_root("openapi"))
        if self._reading.findings:
            raise InvalidFileError(self._reading.findings)

    def _under_root(self, key: str) -> Node:
        root = self._reading.root
        return root.child(key) if key in root.value else root

    def _operations(self) -> Iterator[_Operation]:
        paths = self._under_root("paths")
        if self._reading.field(self._reading.root, "paths", dict, "a mapping of path to operations") is None:
            return
        for path in paths.value:
            if path.startswith("x-"):
                continue
            if not path.startswith("/"):
                self._reading.refuse("invalid-path", f"The path {path!r} must begin with '/'.", paths.child(path))
            item = self._path_item(paths.child(path))
            for method in item:
                if method in _METHODS and (operation := self._operation(item, method, path)):
                    yield operation

    def _path_item(self, node: Node) -> dict[str, Node]:
        """What stands under each key of a path, and of what it refers to."""
        fields: dict[str, Node] = {}
        for part in self._reading.chain(node):
            if not self._reading.is_mapping(part, "A path"):
                continue
            for key in part.value:
                if key in _NOT_READ:
                    self._reading.note(f"{key!r} is not read", str(node.path[-1]))
                elif key not in _PATH_KEYS and not key.startswith("x-"):
                    message = f"A path has no method or key {key!r}.{suggestion(key, _PATH_KEYS)}"
                    self._reading.refuse("unknown-key", message, part.child(key))
                fields.setdefault(key, part.child(key))
        return fields

    def _operation(self, item: Mapping[str, Node], method: str, path: str) -> _Operation | None:
        node = item[method]
        if not self._reading.is_mapping(node, "An operation"):
            return None
        name = self._reading.field(node, "operationId", str, "text")
        if name is not None and not name.strip():
            self._reading.refuse("wrong-type", "`operationId` must not be blank.", node.child("operationId"))
        tag = self._tag(node) or self._name
        # Plugin names ignore case, so two spellings are one plugin, under the first.
        plugin = self._spellings.setdefault(fold(tag), tag)
        return _Operation(node, item, method, path, plugin, name)

    def _tag(self, node: Node) -> str | None:
        tags = self._reading.field(node, "tags", list, "a list of tags") or []
        for index, tag in enumerate(tags):
            if not isinstance(tag, str) or not tag.strip():
                message = "A tag of an operation must be text that is not blank."
                self._reading.refuse("wrong-type", message, node.child("tags").child(index))
                return None
        if len(tags) > 1:
            self._reading.note("some operations have several tags; the first is their plugin")
        return tags[0] if tags else None

    def _named(self, operations: list[_Operation]) -> Iterator[tuple[_Operation, str]]:
        """The operations with their tools' names, given ones first served, so that none gives way to a made one."""
        for operation in operations:
            if operation.name is not None:
                tool_id = f"{operation.plugin}/{operation.name}"
                if (other := self._nodes.get(tool_id)) is not None:
                    line = self._reading.find_line(other)
                    message = (
                        f"Plugin {operation.plugin!r} has an operation {operation.name!r} already"
                        f"{f', in line {line}' if line else ''}; give each its own `operationId`."
                    )
                    self._reading.refuse("duplicate-tool-id", message, operation.node.child("operationId"))
                self._nodes.setdefault(tool_id, operation.node)
        for operation in operations:
            name = operation.name
            if name is None:
                wanted = f"{operation.plugin}/{_readable_name(operation)}"
                tool_id = free_name(wanted, self._nodes)
                self._nodes[tool_id] = operation.node
                name = tool_id.removeprefix(f"{operation.plugin}/")
                if tool_id != wanted:
                    self._reading.note(
                        f"is called {name!r}, as {_readable_name(operation)!r} is taken", operation.label
                    )
            yield operation, name

    def _tool(self, operation: _Operation, name: str) -> Tool:
        node = operation.node
        arguments = _Arguments(self._reading, operation.label)
        for parameter in self._parameters(operation):
            self._add_parameter(parameter, operation, arguments)
        given = {each["name"] for each in arguments.places.values() if each["in"] == "path"}
        for variable in re.findall(r"{([^{}]*)}", operation.path):
            if variable not in given:
                self._reading.note(f"the path has {{{variable}}}, but no parameter is called so", operation.label)
        extra: dict[str, Any] = {"method": operation.method.upper(), "path": operation.path}
        extra["arguments"] = arguments.places
        if (body := self._add_body(operation, arguments)) is not None:
            extra["body"] = body
        if deprecated := self._reading.field(node, "deprecated", bool, "true or false"):
            extra["deprecated"] = True
        if callbacks := self._reading.field(node, "callbacks", dict, "a mapping of callbacks"):
            self._reading.note(f"callbacks are not tools: {', '.join(callbacks)}", operation.label)
        summary = self._text(operation, "summary")
        description = _joined(summary, self._text(operation, "description"))
        title = {"title": summary} if summary else {}
        return Tool(
            name=name if name.strip() else "?",  # a blank one is a finding already
            description=f"Deprecated. {description}".strip() if deprecated else description,
            parameters=arguments.schema(self._schemas),
            annotations={**title, **_METHODS[operation.method], "openWorldHint": True},
            extra=extra,
        )

    def _text(self, operation: _Operation, key: str) -> str:
        """A text of the operation, else of its path."""
        own = self._reading.field(operation.node, key, str, "text")
        if own is None and key in operation.item:
            own = self._reading.typed(operation.item[key], f"`{key}`", str, "text")
        return (own or "").strip()

    def _parameters(self, operation: _Operation) -> list[Node]:
        """Those of the path and the operation, which wins by name and place."""
        merged: dict[tuple[str, str], Node] = {}
        own = operation.node.child("parameters") if "parameters" in operation.node.value else None
        for node in (operation.item.get("parameters"), own):
            if node is None or not self._reading.typed(node, "`parameters`", list, "a list"):
                continue
            seen: set[tuple[str, str]] = set()
            for index in range(len(node.value)):
                found = self._parameter(node.child(index))
                if found is None:
                    continue
                key, parameter = found
                if key in seen:
                    message = f"The parameter {key[1]!r} of the {key[0]} stands in this list already."
                    self._reading.refuse("duplicate-parameter", message, node.child(index))
                seen.add(key)
                merged[key] = parameter
        return list(merged.values())

    def _parameter(self, node: Node) -> tuple[tuple[str, str], Node] | None:
        found = self._reading.follow(node)
        if found is None or not self._reading.is_mapping(found, "A parameter"):
            return None
        name, place = found.value.get("name"), found.value.get("in")
        if not isinstance(name, str) or not name.strip():
            self._reading.refuse("invalid-parameter", "A parameter needs a `name` that is text.", found)
            return None
        if place not in _PLACES:
            message = f"`in` of the parameter {name!r} must be one of {', '.join(_PLACES)}, not {place!r}."
            self._reading.refuse("invalid-parameter", message, found)
            return None
        # Header names ignore case.
        return (place, fold(name) if place == "header" else name), found

    def _add_parameter(self, node: Node, operation: _Operation, arguments: _Arguments) -> None:
        name, place = node.value["name"], node.value["in"]
        if place == "header" and fold(name) in _IGNORED_HEADERS:
            self._reading.note(f"the header {name!r} is left out, as OpenAPI says", operation.label)
            return
        required = self._reading.field(node, "required", bool, "true or false") or False
        if place == "path" and not required:
            self._reading.note(
                f"parameter {name!r} of the path is required, though it does not say so", operation.label
            )
        details: dict[str, Any] = {"name": name}
        for key, kind, wanted in (
            ("style", str, "text"),
            ("explode", bool, "true or false"),
            ("allowReserved", bool, "true or false"),
        ):
            if (value := self._reading.field(node, key, kind, wanted)) is not None:
                details[key] = value
        schema = self._parameter_schema(node, details)
        arguments.add(place, name, schema, details, required=required or place == "path")

    def _parameter_schema(self, node: Node, details: dict[str, Any]) -> Schema:
        schema: Schema = {}
        if "schema" in node.value:
            schema = self._schemas.convert(node.child("schema"))
        elif content := self._reading.field(node, "content", dict, "a mapping with one media type"):
            details["content_type"] = next(iter(content))
            schema = self._media_schema(node.child("content").child(details["content_type"]))[0]
        else:
            self._reading.refuse("invalid-parameter", f"The parameter {node.value['name']!r} has no `schema`.", node)
        said: dict[str, Any] = {}
        if description := self._reading.field(node, "description", str, "text"):
            said["description"] = description.strip()
        if self._reading.field(node, "deprecated", bool, "true or false"):
            said["deprecated"] = True
        if "example" in node.value:
            said["examples"] = [node.value["example"]]
        return _with_annotations(schema, said)

    def _media_schema(self, node: Node) -> tuple[Schema, Node | None]:
        """The schema of a media type, and where it stands; any value if it has none."""
        if self._reading.is_mapping(node, "A media type") and "schema" in node.value:
            return self._schemas.convert(node.child("schema")), node.child("schema")
        return {}, None

    def _add_body(self, operation: _Operation, arguments: _Arguments) -> dict[str, Any] | None:
        if "requestBody" not in operation.node.value:
            return None
        node = self._reading.follow(operation.node.child("requestBody"))
        if node is None or not self._reading.is_mapping(node, "`requestBody`"):
            return None
        required = self._reading.field(node, "required", bool, "true or false") or False
        content = self._reading.field(node, "content", dict, "a mapping of media types")
        if not content:
            self._reading.refuse("invalid-body", "A request body needs a `content` with a media type.", node)
            return None
        media_type = _chosen_media_type(content)
        if not _is_json(media_type):
            self._reading.note(f"the body is sent as {media_type}", operation.label)
        schema, schema_node = self._media_schema(node.child("content").child(media_type))
        flat = flatten(schema, self._schemas)
        if flat is None or schema_node is None:
            description = self._reading.field(node, "description", str, "text")
            body = _with_annotations(schema, {"description": description.strip()} if description else {})
            arguments.add("body", "body", body, {}, required=required)
        else:
            # The mark may stand in another part of an `allOf` than the requirement.
            unrequired = self._schemas.read_only_names(schema_node)
            needed = [name for name in flat["required"] if name not in unrequired] if required else []
            self._add_fields(flat, needed, arguments)
        return {"content_type": media_type, "required": required}

    def _add_fields(self, flat: Mapping[str, Any], required: list[str], arguments: _Arguments) -> None:
        properties = dict(flat["properties"])
        for name in required:
            if name not in properties:
                self._reading.note(f"the body requires {name!r}, which it does not describe", arguments.label)
                properties[name] = {}
        for name, schema in properties.items():
            arguments.add("body", name, schema, {"name": name}, required=name in required)
        arguments.additional = flat.get("additionalProperties", False)

    def _tag_descriptions(self) -> dict[str, str]:
        made: dict[str, str] = {}
        tags = self._reading.field(self._reading.root, "tags", list, "a list of tags") or []
        for index, tag in enumerate(tags):
            node = self._reading.root.child("tags").child(index)
            if not isinstance(tag, dict) or not isinstance(tag.get("name"), str):
                self._reading.refuse("wrong-type", "A tag is a mapping with a `name`.", node)
            elif description := self._reading.field(node, "description", str, "text"):
                made.setdefault(fold(tag["name"]), description.strip())
        return made

    def _about(self) -> str:
        if self._reading.field(self._reading.root, "info", dict, "a mapping with a `title`") is None:
            return ""
        info = self._reading.root.child("info")
        title = self._reading.field(info, "title", str, "text") or ""
        description = self._reading.field(info, "description", str, "text") or ""
        first_paragraph = description.strip().split("\n\n")[0]
        return _joined(title, textwrap.shorten(first_paragraph, 200, placeholder=" …"))

    def _note_webhooks(self) -> None:
        webhooks = self._reading.field(self._reading.root, "webhooks", dict, "a mapping of webhooks")
        if webhooks:
            self._reading.note(
                "1 webhook is not a tool" if len(webhooks) == 1 else f"{len(webhooks)} webhooks are not tools"
            )


def _readable_name(operation: _Operation) -> str:
    """`get_pets_petId` of GET /pets/{petId}."""
    return "_".join([operation.method, *re.findall(r"\w+", operation.path)])


def _is_json(media_type: str) -> bool:
    essence = _essence(media_type)
    return essence == "application/json" or essence.endswith("+json")


def _essence(media_type: str) -> str:
    """`application/json` of `Application/JSON; charset=utf-8`."""
    return media_type.partition(";")[0].strip().lower()


def _chosen_media_type(content: Mapping[str, Any]) -> str:
    """JSON with a schema, else the first with a schema, else JSON, else the first."""
    described = [key for key, value in content.items() if isinstance(value, Mapping) and "schema" in value]
    candidates = described or list(content)
    exact = [key for key in candidates if _essence(key) == "application/json"]
    return next(iter(exact or [key for key in candidates if _is_json(key)] or candidates))


def _with_annotations(schema: Schema, said: Mapping[str, Any]) -> Schema:
    """`schema` with what is said where it is used, which goes before what it says itself."""
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    return {**schema, **said}


def _joined(first: str, second: str) -> str:
    """Both texts, or the one that holds the other."""
    first, second = first.strip(), second.strip()
    for inner, outer in ((first, second), (second, first)):
        if re.search(rf"(?<!\w){re.escape(inner.rstrip('.'))}(?!\w)", outer, re.IGNORECASE) or not inner:
            return outer
    stop = "" if first.endswith((".", "!", "?", ":", "…")) else "."
    gap = "\n\n" if "\n" in second else " "
    return f"{first}{stop}{gap}{second}"
