"""The operations of a document: where each stands, its plugin and its tool's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.errors import suggestion
from toolbelt.importers.openapi.naming import free_name
from toolbelt.importers.openapi.reading import Node, Reading
from toolbelt.patterns import fold

_READS = MappingProxyType({"readOnlyHint": True})
_WRITES = MappingProxyType({"readOnlyHint": False})
METHODS: Mapping[str, Mapping[str, bool]] = MappingProxyType(
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
_PATH_KEYS = (*METHODS, "$ref", "summary", "description", "servers", "parameters")
_NOT_READ = ("query", "additionalOperations")  # of OpenAPI 3.2


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation, with what it has from its path.

    Attributes:
        node: Where it stands.
        item: What stands under each key of its path.
        method: In small letters.
        path: With its variables in braces.
        plugin: Name of the plugin that its tool is in.
        name: Its `operationId`; `None` if it has none.
    """

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

    @property
    def readable_name(self) -> str:
        """`get_pets_petId` of GET /pets/{petId}."""
        return "_".join([self.method, *re.findall(r"\w+", self.path)])


def read_operations(reading: Reading, plugin: str) -> Iterator[Operation]:
    """Every operation, in the order of the document; those with no tag are of the plugin `plugin`."""
    if reading.field(reading.root, "paths", dict, "a mapping of path to operations") is None:
        return
    spellings: dict[str, str] = {}
    paths = reading.root.child("paths")
    for path in paths.value:
        if path.startswith("x-"):
            continue
        if not path.startswith("/"):
            reading.refuse("invalid-path", f"The path {path!r} must begin with '/'.", paths.child(path))
        item = _path_item(reading, paths.child(path))
        for method in item:
            if method in METHODS and reading.is_mapping(item[method], "An operation"):
                name = _operation_id(reading, item[method])
                tag = _tag(reading, item[method]) or plugin
                # Plugin names ignore case, so two spellings are one plugin, under the first.
                yield Operation(item[method], item, method, path, spellings.setdefault(fold(tag), tag), name)


def name_tools(reading: Reading, operations: list[Operation]) -> Iterator[tuple[Operation, str]]:
    """The operations with their tools' names, given ones first served, so that none gives way to a made one."""
    nodes: dict[str, Node] = {}
    for operation in operations:
        if operation.name is not None:
            tool_id = f"{operation.plugin}/{operation.name}"
            if (other := nodes.get(tool_id)) is not None:
                line = reading.find_line(other)
                message = (
                    f"Plugin {operation.plugin!r} has an operation {operation.name!r} already"
                    f"{f', in line {line}' if line else ''}; give each its own `operationId`."
                )
                reading.refuse("duplicate-tool-id", message, operation.node.child("operationId"))
            nodes.setdefault(tool_id, operation.node)
    for operation in operations:
        name = operation.name
        if name is None:
            wanted = f"{operation.plugin}/{operation.readable_name}"
            tool_id = free_name(wanted, nodes)
            nodes[tool_id] = operation.node
            name = tool_id.removeprefix(f"{operation.plugin}/")
            if tool_id != wanted:
                reading.note(f"is called {name!r}, as {operation.readable_name!r} is taken", operation.label)
        yield operation, name


def _path_item(reading: Reading, node: Node) -> dict[str, Node]:
    """What stands under each key of a path, and of what it refers to."""
    fields: dict[str, Node] = {}
    for part in reading.chain(node):
        if not reading.is_mapping(part, "A path"):
            continue
        for key in part.value:
            if key in _NOT_READ:
                reading.note(f"{key!r} is not read", str(node.path[-1]))
            elif key not in _PATH_KEYS and not key.startswith("x-"):
                message = f"A path has no method or key {key!r}.{suggestion(key, _PATH_KEYS)}"
                reading.refuse("unknown-key", message, part.child(key))
            fields.setdefault(key, part.child(key))
    return fields


def _operation_id(reading: Reading, node: Node) -> str | None:
    name = reading.field(node, "operationId", str, "text")
    if name is not None and not name.strip():
        reading.refuse("wrong-type", "`operationId` must not be blank.", node.child("operationId"))
    return name


def _tag(reading: Reading, node: Node) -> str | None:
    tags = reading.field(node, "tags", list, "a list of tags") or []
    for index, tag in enumerate(tags):
        if not isinstance(tag, str) or not tag.strip():
            message = "A tag of an operation must be text that is not blank."
            reading.refuse("wrong-type", message, node.child("tags").child(index))
            return None
    if len(tags) > 1:
        reading.note("some operations have several tags; the first is their plugin")
    return tags[0] if tags else None
