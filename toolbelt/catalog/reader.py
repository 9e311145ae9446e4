"""Reading a catalog document strictly: every mistake with its line, all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolbelt.catalog.catalog import Catalog, make_rung
from toolbelt.catalog.tool import Plugin, Tool
from toolbelt.errors import InvalidDefinitionError, InvalidFileError, ToolbeltError, suggestion
from toolbelt.findings import Finding
from toolbelt.patterns import fold
from toolbelt.sources import Document, Key

CATALOG_KEYS = ("name", "description", "categories", "plugins", "core", "unique_names", "loadouts", "ladder")
PLUGIN_KEYS = ("name", "description", "category", "tools")
TOOL_KEYS = ("name", "description", "parameters", "annotations", "id", "extra")
_TOOL_TYPES: tuple[tuple[str, type, str], ...] = (
    ("name", str, "text"),
    ("description", str, "text"),
    ("parameters", dict, "a mapping, a JSON Schema"),
    ("annotations", dict, "a mapping"),
    ("extra", dict, "a mapping"),
)


@dataclass(frozen=True, eq=False, repr=False)
class CatalogFile:
    """A catalog with where it came from.

    Attributes:
        catalog: What was read.
        source: The path as the user wrote it.
        notes: What a reader should know: how foreign fields were understood, what was renamed or left out.
        document: The document, where the file was one.
        lines: 1-based line of each tool by id, where the file has a line per tool.
        places: Where each tool stands in the document, by id.
        is_shipped: Whether it is one of those that come with toolbelt.
    """

    catalog: Catalog
    source: str
    notes: tuple[str, ...] = ()
    document: Document | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, tuple[Key, ...]] = field(default_factory=dict)
    is_shipped: bool = False

    def find_line(self, subject: Tool | Plugin) -> int | None:
        """1-based line where a tool, or a plugin's first tool, stands."""
        if isinstance(subject, Plugin):
            index = next((i for i, plugin in enumerate(self.catalog.plugins) if plugin.name == subject.name), None)
            data = None if self.document is None else self.document.data
            if self.document is not None and isinstance(data, dict) and "plugins" in data and index is not None:
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
        for index, rung in enumerate(fields["ladder"]):
            self._try(make_rung, rung, "ladder", index)
        found_before = len(self._findings)
        plugins = tuple(self._plugins(data["plugins"]))
        # Where a tool was refused, a core tool may be missing for that reason alone.
        if len(self._findings) == found_before and (fields["core"] or fields["unique_names"]):
            self._check_whole(Catalog(plugins), fields)
        if not self._findings:
            catalog = Catalog(plugins=plugins, **fields)
            return CatalogFile(catalog, self._document.source, document=self._document, places=self._places)
        raise InvalidFileError(sorted(self._findings, key=lambda finding: finding.line or 0))

    def _categories(self, data: dict[str, Any]) -> dict[str, str]:
        categories: dict[str, Any] = self._typed(data, "categories", dict, "a mapping of category to description")
        spelled: dict[str, str] = {}
        for name, description in categories.items():
            if (before := spelled.setdefault(fold(name), name)) != name:
                message = f"Category {name!r} stands here again, after {before!r}; names ignore case."
                self._add("duplicate-category", message, "categories", name)
            if not isinstance(description, str):
                self._add("wrong-type", f"The description of category {name!r} must be text.", "categories", name)
        return categories

    def _check_whole(self, catalog: Catalog, fields: Mapping[str, Any]) -> None:
        """What can only be told from all the tools together."""
        for index, reference in enumerate(fields["core"]):
            if isinstance(reference, str):
                self._try(catalog.get_tool, reference, "core", index)
            else:
                self._add("wrong-type", f"A core tool is named by text, not {reference!r}.", "core", index)
        for name, tool_ids in catalog.shared_names.items() if fields["unique_names"] else ():
            message = f"The tool name {name!r} stands here again, though `unique_names` promises that none does."
            self._add("repeated-name", message, *self._places[tool_ids[1]])

    def _try(self, make: Callable[[Any], object], value: Any, *path: Key) -> None:
        try:
            make(value)
        except ToolbeltError as error:
            self._add("invalid-catalog", str(error), *path)

    def _plugins(self, entries: Any) -> Iterator[Plugin]:
        if not isinstance(entries, list):
            self._add("wrong-type", "`plugins` must be a list.", "plugins")
            return
        for index, entry in enumerate(entries):
            plugin = self._plugin(entry, "plugins", index)
            if plugin is not None:
                yield plugin

    def _plugin(self, entry: Any, *path: Key) -> Plugin | None:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"].strip():
            self._add("wrong-type", "A plugin is a mapping with a `name`, which is not blank, and `tools`.", *path)
            return None
        self._check_keys(entry, PLUGIN_KEYS, "plugin", *path)
        name = entry["name"]
        if (before := self._plugin_names.get(fold(name))) is not None:
            message = f"Plugin {name!r} stands here again, after {before!r}; names ignore case."
            self._add("duplicate-plugin", message, *path)
        self._plugin_names.setdefault(fold(name), name)
        found_before = len(self._findings)
        category = self._typed(entry, "category", str, "text", *path)
        description = self._typed(entry, "description", str, "text", *path)
        is_sound = len(self._findings) == found_before
        raw_tools = self._typed(entry, "tools", list, "a list", *path)
        tools = [tool for i, raw in enumerate(raw_tools) if (tool := self._tool(raw, name, *path, "tools", i))]
        if not is_sound:
            return None
        own = None if entry.get("category") is None else category
        try:
            return Plugin(name=name, tools=tuple(tools), category=own, description=description)
        except InvalidDefinitionError as error:
            self._add("invalid-plugin", str(error), *path)
            return None

    def _tool(self, entry: Any, plugin: str, *path: Key) -> Tool | None:
        if not isinstance(entry, dict) or entry.get("name") is None:
            self._add("wrong-type", "A tool is a mapping with a `name`.", *path)
            return None
        self._check_keys(entry, TOOL_KEYS, "tool", *path)
        if "id" in entry and not (isinstance(entry["id"], str) and entry["id"].strip()):
            self._add("wrong-type", "`id` must be text that is not blank.", *path, "id")
            return None
        found_before = len(self._findings)
        for key, kind, wanted in _TOOL_TYPES:
            self._typed(entry, key, kind, wanted, *path)
        if len(self._findings) > found_before:
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
