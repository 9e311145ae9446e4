"""Reading a catalog document strictly: every mistake with its line, all of them at once.

The readers are given the class that they make, because `Catalog.read` calls them: they cannot import it as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.categories import ToolCategory
from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.catalog.ladder import make_rung
from toolbelt.catalog.parameters import FLAT_NOTE, is_flat, read_parameters
from toolbelt.catalog.tool import Plugin, Tool
from toolbelt.errors import InvalidDefinitionError, InvalidFileError, ToolbeltError, find_misspelt
from toolbelt.findings import Finding, Severity
from toolbelt.patterns import find_name_problem, fold
from toolbelt.sources import Document, Key
from toolbelt.sources.section import Section

if TYPE_CHECKING:
    from toolbelt.catalog.catalog import Catalog

CATALOG_KEYS = ("name", "description", "categories", "plugins", "core", "unique_names", "loadouts", "ladder", "servers")
PLUGIN_KEYS = ("name", "description", "category", "server", "tools")
TOOL_KEYS = ("name", "description", "parameters", "annotations", "id", "extra", "wire_name")


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
        findings: What is doubtful about it as it is written. An error is about an entry that could not be read, and so
            is not in the catalog: only readers of foreign formats go on without it.
    """

    catalog: Catalog
    source: str
    notes: tuple[str, ...] = ()
    document: Document | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, tuple[Key, ...]] = field(default_factory=dict)
    is_shipped: bool = False
    findings: tuple[Finding, ...] = ()

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """Why entries are not in the catalog, as warnings."""
        errors = (finding for finding in self.findings if finding.severity is Severity.ERROR)
        return tuple(replace(finding, severity=Severity.WARNING) for finding in errors)

    def refuse(self) -> None:
        """Raise everything that is wrong with the file.

        Raises:
            InvalidFileError: if an entry could not be read.
        """
        if self.left_out:
            raise InvalidFileError(self.findings)

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


def parse_catalog(document: Document, catalog_type: type[Catalog]) -> CatalogFile:
    """A catalog from toolbelt's own document form.

    Args:
        document: What was read.
        catalog_type: `Catalog`.

    Raises:
        InvalidFileError: every mistake in it.
    """
    return _Reader(document, catalog_type).read()


class _Reader:
    def __init__(self, document: Document, catalog_type: type[Catalog]) -> None:
        self._document = document
        self._catalog_type = catalog_type
        self._section = Section.of(document)
        self._places: dict[str, tuple[Key, ...]] = {}
        self._plugin_names: dict[str, str] = {}
        self._categories: dict[str, str] = {}

    def read(self) -> CatalogFile:
        section, findings = self._section, self._section.findings
        if not isinstance(section.value, dict) or "plugins" not in section.value:
            section.add_error("not-a-catalog", "A catalog is a mapping with a list of `plugins`.")
            raise InvalidFileError(findings)
        section.check_keys(CATALOG_KEYS, "catalog")
        self._categories = self._read_categories()
        fields: dict[str, Any] = {
            "name": section.read_text("name", blank=True) or Path(self._document.source).stem,
            "description": section.read_text("description", blank=True) or "",
            "categories": self._categories,
            "core": section.read_list("core", "a list of tools") or [],
            "unique_names": section.read_bool("unique_names") is True,
            "loadouts": section.read_mapping("loadouts", "a mapping of loadouts") or {},
            "ladder": section.read_list("ladder", "a list of loadouts") or [],
            "servers": section.read_mapping("servers", "a mapping of servers") or {},
        }
        for rung in section.read_items("ladder") if fields["ladder"] else ():
            _check(make_rung, rung)
        findings_before = len(findings)
        plugins = tuple(self._read_plugins())
        # Where a tool was refused, a core tool may be missing for that reason alone.
        if not any(finding.severity is Severity.ERROR for finding in findings[findings_before:]) and (
            fields["core"] or fields["unique_names"]
        ):
            self._check_whole(self._catalog_type(plugins), unique_names=fields["unique_names"])
        if not section.has_errors:
            catalog = self._catalog_type(plugins=plugins, **fields)
            source = self._document.source
            return CatalogFile(catalog, source, document=self._document, places=self._places, findings=tuple(findings))
        raise InvalidFileError(sorted(findings, key=lambda finding: finding.line or 0))

    def _read_categories(self) -> dict[str, str]:
        categories = self._section.read_mapping("categories", "a mapping of category to description") or {}
        section = self._section.child("categories")
        spelled: dict[str, str] = {}
        for name in categories:
            category = section.child(name)
            category.is_name(name)
            if (first := spelled.setdefault(fold(name), name)) != name:
                message = f"Category {name!r} stands here again, after {first!r}; names ignore case."
                category.add_error("duplicate-category", message)
            category.read_text(blank=True)
        return categories

    def _check_whole(self, catalog: Catalog, *, unique_names: bool) -> None:
        """Find what can only be known from all the tools together."""
        for tool in self._section.read_items("core"):
            if isinstance(tool.value, str):
                _check(catalog.get_tool, tool)
            else:
                tool.add_wrong_type("the name of a tool")
        for name, tool_ids in catalog.shared_names.items() if unique_names else ():
            message = f"The tool name {name!r} stands here again, though `unique_names` promises that none does."
            self._section.at(self._places[tool_ids[1]]).add_error("repeated-name", message)

    def _read_plugins(self) -> Iterator[Plugin]:
        plugins = self._section.child("plugins")
        for section in plugins.read_items():
            plugin = self._read_plugin(section)
            if plugin is not None:
                yield plugin

    def _read_plugin(self, section: Section) -> Plugin | None:
        name = section.value.get("name") if isinstance(section.value, dict) else None
        if not isinstance(name, str) or not name.strip():
            message = f"{section.label}: a plugin is a mapping with a `name`, which is not blank, and `tools`."
            section.add_error("wrong-type", message)
            return None
        section.check_keys(PLUGIN_KEYS, "plugin")
        if (first := self._plugin_names.get(fold(name))) is not None:
            message = f"Plugin {name!r} stands here again, after {first!r}; names ignore case."
            section.add_error("duplicate-plugin", message)
        self._plugin_names.setdefault(fold(name), name)
        findings_before = len(section.findings)
        category = section.read_text("category", blank=True)
        description = section.read_text("description", blank=True) or ""
        server = section.read_text("server") or ""
        is_sound = len(section.findings) == findings_before
        if category is not None and find_name_problem(category) is None:
            check_category(category, self._categories, section.child("category"))
        tools = [tool for item in section.read_items("tools") if (tool := self._read_tool(item, name))]
        if not is_sound:
            return None
        try:
            return Plugin(name=name, tools=tuple(tools), category=category, description=description, server=server)
        except InvalidDefinitionError as error:
            section.add_error("invalid-plugin", str(error))
            return None

    def _read_tool(self, section: Section, plugin: str) -> Tool | None:
        written = section.value
        if not isinstance(written, dict) or written.get("name") is None:
            section.add_error("wrong-type", f"{section.label}: a tool is a mapping with a `name`.")
            return None
        section.check_keys(TOOL_KEYS, "tool")
        findings_before = len(section.findings)
        if "id" in written:
            section.child("id").read_text()
        for key in ("name", "description"):
            section.read_text(key, blank=True)
        wire_name = section.read_text("wire_name")
        if wire_name is not None and not is_legal_wire_name(wire_name):
            section.child("wire_name").add_error("wire-name", f"No provider takes the wire name {wire_name!r}.")
        section.read_mapping("parameters", "a mapping, a JSON Schema")
        for key in ("annotations", "extra"):
            section.read_mapping(key)
        if len(section.findings) > findings_before:
            return None
        fields = {key: value for key, value in written.items() if key in TOOL_KEYS and value is not None}
        if is_flat(fields.get("parameters")):
            section.child("parameters").add_warning("flat-parameters", f"{section.label}: its {FLAT_NOTE}.")
            fields["parameters"] = read_parameters(fields["parameters"])
        try:
            tool = Tool(plugin=plugin, **fields)
        except InvalidDefinitionError as error:
            section.add_error("invalid-tool", str(error))
            return None
        # Looked at one by one as written, before any dict could keep one of two.
        if tool.id in self._places:
            section.add_error("duplicate-tool-id", f"The tool id {tool.id!r} stands here again; ids are unique.")
            return None
        self._places[tool.id] = section.path
        return tool


def check_category(category: str, declared: Iterable[str], section: Section) -> None:
    """Add a finding for a category that is neither well-known nor declared, which no loadout may include (rule L10).

    One that is nearly another is an error: it was misspelt, and would remove its tools from every loadout in silence.
    """
    known = dict.fromkeys((*map(str, ToolCategory), *declared))
    if fold(category.strip()) in map(fold, known):
        return
    message = f"{section.label}: the category {category!r} is neither well-known nor declared under `categories`."
    if (meant := find_misspelt(category.strip(), known)) is not None:
        section.add_error("unknown-category", f"{message} Did you mean {meant!r}?")
    else:
        section.add_warning("unknown-category", f"{message} Declare it there, with what it is about.")


def _check(make: Callable[[Any], object], section: Section) -> None:
    """Add what `make` raises about a value."""
    try:
        make(section.value)
    except ToolbeltError as error:
        section.add_error("invalid-catalog", str(error))
