"""Reading a catalog document strictly: every mistake with its line, all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolbelt.catalog.catalog import Catalog
from toolbelt.catalog.tool import Plugin, Tool
from toolbelt.documents import Document, Key
from toolbelt.errors import InvalidDefinitionError, InvalidFileError, suggestion
from toolbelt.findings import Finding
from toolbelt.patterns import fold

CATALOG_KEYS = ("name", "description", "categories", "plugins", "core", "unique_names", "loadouts", "ladder")
PLUGIN_KEYS = ("name", "description", "category", "tools")
TOOL_KEYS = ("name", "description", "parameters", "annotations", "id", "extra")


@dataclass(frozen=True)
class CatalogFile:
    """A catalog with where it came from.

    Attributes:
        catalog: What was read.
        source: The path as the user wrote it.
        notes: What a reader should know: how foreign fields were understood, what was renamed or left out.
        document: The document, where the file was one.
        lines: 1-based line of each tool by id, where the file has a line per tool.
        places: Where each tool stands in the document, by id.
    """

    catalog: Catalog
    source: str
    notes: tuple[str, ...] = ()
    document: Document | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, tuple[Key, ...]] = field(default_factory=dict)

    def find_line(self, subject: Tool | Plugin) -> int | None:
        """1-based line where a tool, or a plugin's first tool, stands."""
        if isinstance(subject, Plugin):
            index = next((i for i, plugin in enumerate(self.catalog.plugins) if plugin.name == subject.name), None)
            if self.document is not None and self.places and index is not None:
                return self.document.find_line("plugins", index)
            return self.find_line(subject.tools[0]) if subject.tools else None
        if subject.id in self.lines:
            return self.lines[subject.id]
        place = self.places.get(subject.id)
        return self.document.find_line(*place) if self.document is not None and place else None


def parse_catalog(document: Document) -> CatalogFile:
    """A catalog from toolbelt's own document form.

    Raises:
        InvalidFileError: every mistake in it.
    """
    return _Reader(document).read()


class _Reader:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._findings: list[Finding] = []
        self._places: dict[str, tuple[Key, ...]] = {}
        self._plugin_names: dict[str, str] = {}

    def read(self) -> CatalogFile:
        data = self._document.data
        if not isinstance(data, dict) or "plugins" not in data:
            self._add("not-a-catalog", "A catalog is a mapping with a list of `plugins`.")
            raise InvalidFileError(self._findings)
        self._check_keys(data, CATALOG_KEYS, "catalog")
        fields: dict[str, Any] = {
            "name": self._typed(data, "name", str, "text") or Path(self._document.source).stem,
            "description": self._typed(data, "description", str, "text"),
            "categories": self._categories(data),
            "core": self._typed(data, "core", list, "a list of tools"),
            "unique_names": self._typed(data, "unique_names", bool, "true or false"),
            "loadouts": self._typed(data, "loadouts", dict, "a mapping of loadouts"),
            "ladder": self._typed(data, "ladder", list, "a list of loadouts"),
        }
        plugins = tuple(self._plugins(data["plugins"]))
        if not self._findings:
            try:
                catalog = Catalog(plugins=plugins, **fields)
                return CatalogFile(catalog, self._document.source, document=self._document, places=self._places)
            except (InvalidDefinitionError, LookupError, TypeError, ValueError) as error:
                self._add("invalid-catalog", str(error))
        raise InvalidFileError(sorted(self._findings, key=lambda finding: finding.line or 0))

    def _categories(self, data: dict[str, Any]) -> dict[str, str]:
        categories: dict[str, Any] = self._typed(data, "categories", dict, "a mapping of category to description")
        for name, description in categories.items():
            if not isinstance(description, str):
                self._add("wrong-type", f"The description of category {name!r} must be text.", "categories", name)
        return categories

    def _plugins(self, entries: Any) -> Iterator[Plugin]:
        if not isinstance(entries, list):
            self._add("wrong-type", "`plugins` must be a list.", "plugins")
            return
        for index, entry in enumerate(entries):
            plugin = self._plugin(entry, "plugins", index)
            if plugin is not None:
                yield plugin

    def _plugin(self, entry: Any, *path: Key) -> Plugin | None:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            self._add("wrong-type", "A plugin is a mapping with a `name` and `tools`.", *path)
            return None
        self._check_keys(entry, PLUGIN_KEYS, "plugin", *path)
        name = entry["name"]
        if (before := self._plugin_names.setdefault(fold(name), name)) is not name:
            self._add(
                "duplicate-plugin", f"Plugin {name!r} stands here again, after {before!r}; names ignore case.", *path
            )
        raw_tools = self._typed(entry, "tools", list, "a list", *path)
        tools = [tool for i, raw in enumerate(raw_tools) if (tool := self._tool(raw, name, *path, "tools", i))]
        try:
            return Plugin(
                name=name,
                tools=tuple(tools),
                category=entry.get("category"),
                description=self._typed(entry, "description", str, "text", *path),
            )
        except InvalidDefinitionError as error:
            self._add("invalid-plugin", str(error), *path)
            return None

    def _tool(self, entry: Any, plugin: str, *path: Key) -> Tool | None:
        if not isinstance(entry, dict) or "name" not in entry:
            self._add("wrong-type", "A tool is a mapping with a `name`.", *path)
            return None
        self._check_keys(entry, TOOL_KEYS, "tool", *path)
        if "id" in entry and not (isinstance(entry["id"], str) and entry["id"].strip()):
            self._add("wrong-type", "`id` must be text that is not blank.", *path, "id")
            return None
        given = {key: value for key, value in entry.items() if key in TOOL_KEYS and value is not None}
        try:
            tool = Tool(plugin=plugin, **given)
        except InvalidDefinitionError as error:
            self._add("invalid-tool", str(error), *path)
            return None
        # Looked at one by one as written, before any dict could keep one of two.
        if tool.id in self._places:
            self._add("duplicate-tool-id", f"The tool id {tool.id!r} stands here again; ids are unique.", *path)
            return None
        self._places[tool.id] = path
        return tool

    def _check_keys(self, entry: dict[str, Any], known: tuple[str, ...], kind: str, *path: Key) -> None:
        for key in entry:
            if key not in known:
                self._add("unknown-key", f"A {kind} has no key {key!r}.{suggestion(key, known)}", *path, key)

    def _typed(self, entry: dict[str, Any], key: str, kind: type, wanted: str, *path: Key) -> Any:
        value = entry.get(key)
        if value is not None and isinstance(value, kind):
            return value
        if value is not None:
            self._add("wrong-type", f"`{key}` must be {wanted}.", *path, key)
        return kind()

    def _add(self, rule: str, message: str, *path: Key) -> None:
        self._findings.append(self._document.finding(rule, message, *path))
