"""The operations of a document: each with what it has from its path, and the name of its tool."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.errors import suggestion
from toolbelt.importers.openapi.spec import Spec, free_name
from toolbelt.patterns import fold
from toolbelt.sources.section import Section

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

    node: Section
    item: Mapping[str, Section]
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


def read_operations(spec: Spec, plugin: str) -> Iterator[Operation]:
    """Every operation, in the order of the document; those with no tag are of the plugin `plugin`."""
    if spec.root.read_mapping("paths", "a mapping of path to operations") is None:
        return
    spellings: dict[str, str] = {}
    paths = spec.root.child("paths")
    for path in paths.value:
        if path.startswith("x-"):
            continue
        if not path.startswith("/"):
            paths.child(path).add_error("invalid-path", f"The path {path!r} must begin with '/'.")
            continue
        item = _path_item(spec, paths.child(path))
        for method in item:
            before = len(spec.root.findings)
            if method in METHODS and item[method].read_mapping() is not None:
                name = item[method].read_text("operationId")
                tag = _tag(spec, item[method]) or plugin
                if len(spec.root.findings) == before:
                    # Plugin names ignore case, so two spellings are one plugin, under the first.
                    yield Operation(item[method], item, method, path, spellings.setdefault(fold(tag), tag), name)


def name_tools(spec: Spec, operations: list[Operation]) -> Iterator[tuple[Operation, str]]:
    """The operations with their tools' names, given ones first served, so that none gives way to a made one.

    Of two with one given name, the first counts.
    """
    nodes: dict[str, Section] = {}
    repeated: set[int] = set()
    for index, operation in enumerate(operations):
        if operation.name is not None:
            tool_id = f"{operation.plugin}/{operation.name}"
            if (other := nodes.get(tool_id)) is not None:
                line = f", in line {other.line}" if other.line else ""
                message = (
                    f"Plugin {operation.plugin!r} has an operation {operation.name!r} already{line}; "
                    "give each its own `operationId`."
                )
                operation.node.child("operationId").add_error("duplicate-tool-id", message)
                repeated.add(index)
            nodes.setdefault(tool_id, operation.node)
    for operation in (each for index, each in enumerate(operations) if index not in repeated):
        name = operation.name
        if name is None:
            wanted = f"{operation.plugin}/{operation.readable_name}"
            tool_id = free_name(wanted, nodes)
            nodes[tool_id] = operation.node
            name = tool_id.removeprefix(f"{operation.plugin}/")
            if tool_id != wanted:
                spec.note(f"is called {name!r}, as {operation.readable_name!r} is taken", operation.label)
        yield operation, name


def _path_item(spec: Spec, node: Section) -> dict[str, Section]:
    """What stands under each key of a path, and of what it refers to."""
    fields: dict[str, Section] = {}
    for part in spec.chain(node):
        if part.read_mapping() is None:
            continue
        for key in part.value:
            if key in _NOT_READ:
                spec.note(f"{key!r} is not read", str(node.path[-1]))
            elif key not in _PATH_KEYS and not key.startswith("x-"):
                message = f"A path has no method or key {key!r}.{suggestion(key, _PATH_KEYS)}"
                part.child(key).add_error("unknown-key", message)
            fields.setdefault(key, part.child(key))
    return fields


def _tag(spec: Spec, node: Section) -> str | None:
    tags = node.read_texts("tags", "a list of tags")
    if len(tags) > 1:
        spec.note("some operations have several tags; the first is their plugin")
    return tags[0] if tags and node.child("tags").is_name(tags[0]) else None
