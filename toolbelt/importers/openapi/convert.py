"""From an OpenAPI document to a catalog: the document as a whole, and a tool for each operation."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.catalog import Catalog
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tool import Plugin, Tool
from toolbelt.errors import InvalidFileError
from toolbelt.importers.openapi.arguments import Arguments, add_body, add_parameters
from toolbelt.importers.openapi.operations import METHODS, Operation, name_tools, read_operations
from toolbelt.importers.openapi.schemas import Schemas
from toolbelt.importers.openapi.spec import Spec
from toolbelt.patterns import fold
from toolbelt.sources.section import Section

if TYPE_CHECKING:
    from toolbelt.sources import Document


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
        The catalog; its notes say what was renamed or left out, its findings which operations have mistakes: these
        are left out, too, and the others are read (rule V6).

    Raises:
        InvalidFileError: every mistake, with its line, where no operation can be read.
    """
    return _Importer(document, name).read()


class _ToolLines(Mapping[str, int]):
    """Lines by tool id, looked up when asked for: a JSON text must be read again for them."""

    def __init__(self, nodes: Mapping[str, Section]) -> None:
        self._nodes = nodes

    def __getitem__(self, tool_id: str) -> int:
        line = self._nodes[tool_id].line
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
        self._spec = Spec(document)
        version = document.data.get("openapi") if isinstance(document.data, dict) else None
        self._schemas = Schemas(self._spec, siblings_count=not str(version).startswith("3.0"))
        self._nodes: dict[str, Section] = {}

    def read(self) -> CatalogFile:
        self._check_version()
        operations = list(read_operations(self._spec, self._name))
        if not operations and not self._spec.findings:
            self._spec.under_root("paths").add_error("empty", "There is no operation under `paths`.")
        tools: dict[str, list[Tool]] = {}
        for operation, tool_name in name_tools(self._spec, operations):
            if (tool := self._tool(operation, tool_name)) is not None:
                self._nodes.setdefault(f"{operation.plugin}/{tool_name}", operation.node)
                tools.setdefault(operation.plugin, []).append(tool)
        descriptions = self._tag_descriptions()
        about = self._about()
        self._note_webhooks()
        if not tools:
            raise InvalidFileError(self._spec.findings)
        plugins = [Plugin(each, tuple(tools[each]), None, descriptions.get(fold(each), "")) for each in tools]
        catalog = Catalog(tuple(plugins), self._name, about)
        source, notes, lines = self._document.source, self._spec.notes, _ToolLines(self._nodes)
        return CatalogFile(catalog, source, notes, self._document, lines, findings=tuple(self._spec.findings))

    def _check_version(self) -> None:
        root = self._spec.root
        if not isinstance(root.value, dict):
            root.add_error("not-openapi", "An OpenAPI document is a mapping.")
        elif "openapi" not in root.value and "swagger" in root.value:
            message = "Swagger 2 is not read; convert it to OpenAPI 3 first, for example with swagger2openapi."
            root.child("swagger").add_error("swagger-2", message)
        elif not is_openapi(root.value):
            message = "`openapi` must be text that starts with '3.', such as '3.1.0' in quotes."
            self._spec.under_root("openapi").add_error("not-openapi", message)
        if self._spec.findings:
            raise InvalidFileError(self._spec.findings)

    def _tool(self, operation: Operation, name: str) -> Tool | None:
        """The tool of an operation; `None` if any part of it is wrong."""
        before, self._schemas.met_mistake = len(self._spec.root.findings), False
        node = operation.node
        arguments = Arguments(self._spec, self._schemas, operation.label)
        add_parameters(operation, arguments)
        extra: dict[str, Any] = {"method": operation.method.upper(), "path": operation.path}
        extra["arguments"] = arguments.places
        if (body := add_body(operation, arguments)) is not None:
            extra["body"] = body
        if deprecated := node.read_bool("deprecated"):
            extra["deprecated"] = True
        if callbacks := node.read_mapping("callbacks", "a mapping of callbacks"):
            self._spec.note(f"callbacks are not tools: {', '.join(callbacks)}", operation.label)
        summary = self._text(operation, "summary")
        description = _joined(summary, self._text(operation, "description"))
        title = {"title": summary} if summary else {}
        parameters = arguments.schema()
        if len(self._spec.root.findings) > before or self._schemas.met_mistake:
            return None
        return Tool(
            name=name,
            description=f"Deprecated. {description}".strip() if deprecated else description,
            parameters=parameters,
            annotations={**title, **METHODS[operation.method], "openWorldHint": True},
            extra=extra,
        )

    def _text(self, operation: Operation, key: str) -> str:
        """A text of the operation, else of its path."""
        own = operation.node.read_text(key, blank=True)
        if own is None and key in operation.item:
            written = operation.item[key]
            own = None if written.value is None else written.read_text(blank=True)
        return (own or "").strip()

    def _tag_descriptions(self) -> dict[str, str]:
        descriptions: dict[str, str] = {}
        for tag in self._spec.root.read_items("tags", "a list of tags"):
            if not isinstance(tag.value, dict) or not isinstance(tag.value.get("name"), str):
                tag.add_error("wrong-type", f"{tag.label}: a tag is a mapping with a `name`.")
            elif description := tag.read_text("description", blank=True):
                descriptions.setdefault(fold(tag.value["name"]), description.strip())
        return descriptions

    def _about(self) -> str:
        if self._spec.root.read_mapping("info", "a mapping with a `title`") is None:
            return ""
        info = self._spec.root.child("info")
        title = info.read_text("title", blank=True) or ""
        description = info.read_text("description", blank=True) or ""
        first_paragraph = description.strip().split("\n\n")[0]
        return _joined(title, textwrap.shorten(first_paragraph, 200, placeholder=" …"))

    def _note_webhooks(self) -> None:
        webhooks = self._spec.root.read_mapping("webhooks", "a mapping of webhooks")
        if webhooks:
            self._spec.note(
                "1 webhook is not a tool" if len(webhooks) == 1 else f"{len(webhooks)} webhooks are not tools"
            )


def _joined(first: str, second: str) -> str:
    """Both texts, or the one that holds the other."""
    first, second = first.strip(), second.strip()
    for inner, outer in ((first, second), (second, first)):
        if re.search(rf"(?<!\w){re.escape(inner.rstrip('.'))}(?!\w)", outer, re.IGNORECASE) or not inner:
            return outer
    stop = "" if first.endswith((".", "!", "?", ":", "…")) else "."
    gap = "\n\n" if "\n" in second else " "
    return f"{first}{stop}{gap}{second}"
