"""Catalogs as JSON Lines: one tool a line, the way public tool sets are passed around.

A line is `{"name", "description"?, "parameters"?, "id"?, "annotations"?, "plugin"?, "category"?,
"server"?, "group"?, …}`. What toolbelt has no field for is kept in `extra`.

Where there is no `plugin`, it comes from `server` and `group`: the finer of the two is the plugin (one MCP
server, one toolset), the coarser its category. A file with one server for everything has its groups as plugins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.categories import ToolCategory
from toolbelt.catalog.definitions import convert_types
from toolbelt.catalog.frozen import freeze_members
from toolbelt.catalog.parameters import read_parameters
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tool import Plugin, Tool
from toolbelt.errors import InvalidDefinitionError, InvalidFileError, find_misspelt, suggestion
from toolbelt.findings import Finding, Severity
from toolbelt.patterns import find_name_problem, fold
from toolbelt.sources import parse_json_lines

if TYPE_CHECKING:
    from toolbelt.catalog.catalog import Catalog

_OWN_FIELDS = frozenset({"name", "description", "parameters", "annotations", "id"})
_SCHEMA_FIELDS = ("parameters", "inputSchema", "input_schema", "inputs")


@dataclass(frozen=True)
class Grouping:
    """Which field of a line names the plugin and which the category.

    Attributes:
        plugin: Field name; `None` puts every tool in one plugin named after the catalog.
        category: Field name; `None` gives plugins no category.
    """

    plugin: str | None
    category: str | None

    def describe(self) -> str:
        """What was done, for the reader."""
        plugin = f"plugins from {self.plugin!r}" if self.plugin else "all tools in one plugin"
        return f"{plugin}, {f'categories from {self.category!r}' if self.category else 'no categories'}"


def parse_catalog_lines(
    text: str, source: str, name: str, catalog_type: type[Catalog], grouping: Grouping | None = None
) -> CatalogFile:
    """A catalog from JSON Lines.

    Args:
        text: The lines.
        source: The path as the user wrote it.
        name: Of the catalog, and of the plugin where there is but one.
        catalog_type: `Catalog`.
        grouping: Fields to group by; found by looking at all lines if `None`.

    Returns:
        The catalog; its findings are the lines that are no tool, by number, and what is doubtful.

    Raises:
        InvalidFileError: no line is a tool, or none has a field of the grouping.
    """
    rows: list[tuple[int, dict[str, Any]]] = []
    findings: list[Finding] = []
    for number, row, finding in parse_json_lines(text, source, freeze_members):
        if finding is not None:
            findings.append(finding)
        elif not isinstance(row, dict) or "name" not in row:
            message = "A line must be an object with a `name`."
            findings.append(Finding("wrong-type", Severity.ERROR, message, source, number))
        else:
            rows.append((number, row))
    if grouping is not None and rows and (unknown := [*_unknown_fields(grouping, [row for _, row in rows], source)]):
        raise InvalidFileError([*findings, *unknown])
    chosen = grouping or find_grouping([row for _, row in rows])
    reading = _Rows(source, name, chosen)
    for number, row in rows:
        reading.add(number, row)
    findings = sorted([*findings, *reading.findings], key=lambda finding: finding.line or 0)
    if not reading.lines:
        empty = Finding("empty", Severity.ERROR, "There is no tool in this file.", source)
        raise InvalidFileError(findings or [empty])
    plugins, notes = reading.plugins()
    catalog = catalog_type(plugins=plugins, name=name)
    doubts = (*findings, *reading.doubts())
    return CatalogFile(catalog, source, (chosen.describe(), *notes), lines=reading.lines, findings=doubts)


def find_grouping(rows: Sequence[Mapping[str, Any]]) -> Grouping:
    """The fields that name plugin and category, found by which is the finer."""
    if any("plugin" in row for row in rows):
        return Grouping("plugin", "category" if any("category" in row for row in rows) else None)
    fields = [field for field in ("server", "group") if rows and all(_is_label(row.get(field)) for row in rows)]
    if len(fields) < 2:
        return Grouping(fields[0] if fields else None, None)
    server_of: dict[str, set[str]] = {}
    group_of: dict[str, set[str]] = {}
    for row in rows:
        server_of.setdefault(row["group"], set()).add(row["server"])
        group_of.setdefault(row["server"], set()).add(row["group"])
    if len(group_of) == 1:
        return Grouping("group", None)  # a category that everything has says nothing
    if all(len(groups) == 1 for groups in group_of.values()):
        return Grouping("server", "group")
    if all(len(servers) == 1 for servers in server_of.values()):
        return Grouping("group", "server")
    return Grouping("server", None)


def _unknown_fields(grouping: Grouping, rows: Sequence[Mapping[str, Any]], source: str) -> Iterator[Finding]:
    known = dict.fromkeys(key for row in rows for key in row)
    for name in (grouping.plugin, grouping.category):
        if name is not None and name not in known:
            message = f"No line has a field {name!r} to group by.{suggestion(name, known)}"
            yield Finding("unknown-field", Severity.ERROR, message, source)


class _Rows:
    """Tools by plugin, gathered line by line."""

    def __init__(self, source: str, name: str, grouping: Grouping) -> None:
        self._source = source
        self._name = name
        self._grouping = grouping
        self._tools: dict[str, list[Tool]] = {}
        self._names: dict[str, str] = {}
        self._categories: dict[str, list[str]] = {}
        self._respelled: dict[str, dict[str, None]] = {}
        self.lines: dict[str, int] = {}
        self._category_lines: dict[str, int] = {}
        self.findings: list[Finding] = []

    def add(self, number: int, row: Mapping[str, Any]) -> None:
        label = row.get(self._grouping.plugin) if self._grouping.plugin else None
        if label is not None and (problem := find_name_problem(label)) is not None:
            self._refuse("wrong-type", f"{self._grouping.plugin!r}, which names a plugin, {problem}.", number)
            return
        # Plugin names ignore case, so two spellings are one plugin, under the first.
        spelled = label or self._name
        plugin = self._names.setdefault(fold(spelled), spelled)
        if spelled != plugin:
            self._respelled.setdefault(plugin, {})[spelled] = None
        category = row.get(self._grouping.category) if self._grouping.category else None
        if category is not None and (problem := find_name_problem(category)) is not None:
            self._refuse("wrong-type", f"{self._grouping.category!r}, which names a category, {problem}.", number)
            return
        try:
            tool = _tool(row, plugin, dropped=(self._grouping.plugin, self._grouping.category))
        except InvalidDefinitionError as error:
            self._refuse("invalid-tool", str(error), number)
            return
        if tool.id in self.lines:
            first = self.lines[tool.id]
            self._refuse("duplicate-tool-id", f"The tool id {tool.id!r} is also in line {first}.", number)
            return
        self.lines[tool.id] = number
        self._tools.setdefault(plugin, []).append(tool)
        if category is not None:
            self._category_lines.setdefault(category, number)
        if category is not None and category not in self._categories.setdefault(plugin, []):
            self._categories[plugin].append(category)

    def doubts(self) -> tuple[Finding, ...]:
        """Categories that are nearly well-known ones; lines cannot declare theirs, so any other is taken as meant."""
        known = [str(category) for category in ToolCategory]
        misspelt = {
            category: meant
            for category in self._category_lines
            if fold(category.strip()) not in known and (meant := find_misspelt(category.strip(), known)) is not None
        }
        return tuple(
            Finding(
                "unknown-category",
                Severity.WARNING,
                f"The category {category!r} is not well-known. Did you mean {meant!r}?",
                self._source,
                self._category_lines[category],
            )
            for category, meant in misspelt.items()
        )

    def plugins(self) -> tuple[tuple[Plugin, ...], tuple[str, ...]]:
        """The plugins, and a note for each whose lines disagree about the category or the spelling."""
        notes = [
            f"plugin {plugin!r} has several categories ({', '.join(categories)}); the first is taken"
            for plugin, categories in self._categories.items()
            if len(categories) > 1
        ]
        notes += [
            f"plugin {plugin!r} is also spelled {', '.join(map(repr, others))}; taken as one"
            for plugin, others in self._respelled.items()
        ]
        plugins = tuple(
            Plugin(name=plugin, tools=tuple(tools), category=next(iter(self._categories.get(plugin, ())), None))
            for plugin, tools in self._tools.items()
        )
        return plugins, tuple(notes)

    def _refuse(self, rule: str, message: str, line: int) -> None:
        self.findings.append(Finding(rule, Severity.ERROR, message, self._source, line))


def _tool(row: Mapping[str, Any], plugin: str, dropped: Iterable[str | None]) -> Tool:
    schema_field = next((field for field in _SCHEMA_FIELDS if field in row), "parameters")
    gone = {*_OWN_FIELDS, *dropped, schema_field}
    own_extra = _given(row, "extra", {})
    if not isinstance(own_extra, Mapping):
        raise InvalidDefinitionError(f"The extra of tool {row['name']!r} must be a mapping.")
    extra = {
        **own_extra,
        **{key: value for key, value in row.items() if key not in gone and key != "extra"},
    }
    tool_id = row.get("id")
    if tool_id is not None and not _is_label(tool_id):
        raise InvalidDefinitionError(f"`id` must be text that is not blank, not {tool_id!r}.")
    return Tool(
        name=row["name"],
        description=_given(row, "description", ""),
        parameters=convert_types(read_parameters(_given(row, schema_field, {}))),
        annotations=_given(row, "annotations", {}),
        plugin=plugin,
        id=tool_id or "",
        extra=extra,
    )


def _given(row: Mapping[str, Any], key: str, default: Any) -> Any:
    value = row.get(key)
    return default if value is None else value


def _is_label(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
