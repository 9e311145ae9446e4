"""`loadouts.json` beside cases: lists of tools by name, as loadouts of the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.loadouts.reader import WrittenLoadout, read_loadouts
from toolbelt.patterns import fold
from toolbelt.sources import Document, Key, parse_json, read_text
from toolbelt.sources.document import describe_value

LOADOUTS_FILE = "loadouts.json"
_PATH = "loadouts"


def with_loadouts(catalog_file: CatalogFile, path: str) -> tuple[CatalogFile, tuple[str, ...]]:
    """The catalog with the loadouts of a file, and notes on them.

    The file maps names to lists of tool ids; a list in a nested mapping has the name `outer/inner`. A mapping that has
    only texts is a description, and is left out.

    Args:
        catalog_file: Without loadouts of its own.
        path: Of the file.

    Raises:
        InvalidFileError: every mistake in the file, or the catalog has loadouts already.
        StorageError: it may not be read.
    """
    document = parse_json(read_text(path), path)
    reading = _Lists(document, CatalogNames(catalog_file.catalog))
    if catalog_file.catalog.loadouts:
        message = f"The catalog {catalog_file.source} has loadouts of its own; keep those, or these."
        reading.findings.append(document.finding("loadouts-twice", message))
    reading.read()
    loadouts_document = Document({_PATH: reading.definitions}, path, lines=reading.lines)
    written, findings = read_loadouts(loadouts_document, _PATH)
    if reading.findings or findings:
        raise InvalidFileError(sorted_findings([*reading.findings, *findings]))
    catalog = replace(catalog_file.catalog, loadouts=reading.definitions)
    # The result has the document of the loadouts, so it stores the lines of tools separately.
    lines = {tool.id: line for tool in catalog.tools if (line := catalog_file.find_line(tool)) is not None}
    changed = replace(catalog_file, catalog=catalog, document=loadouts_document, lines=lines, places={})
    return changed, (*reading.notes(), *_widened(written, reading.chosen, catalog))


@dataclass(eq=False)
class _Lists:
    """Collects the lists of a document."""

    document: Document
    names: CatalogNames
    definitions: dict[str, Any] = field(default_factory=dict)
    chosen: dict[str, set[str]] = field(default_factory=dict)
    lines: dict[tuple[Key, ...], int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    unknown: dict[str, list[str]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    paths: dict[str, tuple[Key, ...]] = field(default_factory=dict)

    def read(self) -> None:
        data = self.document.data
        if not isinstance(data, dict):
            message = (
                f"Loadouts are an object that maps names to lists of tools, not {describe_value(data, is_json=True)}."
            )
            self._add("wrong-type", message)
            return
        for name, value in data.items():
            self._read(name, value, (name,))
        spelled: dict[str, str] = {}
        for name in self.definitions:
            if (before := spelled.setdefault(fold(name), name)) != name:
                message = f"Loadout {name!r} is there already, as {before!r}; names ignore case."
                self._add("duplicate-loadout", message, *self.paths[name])

    def notes(self) -> Iterator[str]:
        for name, references in self.unknown.items():
            named = ", ".join(references[:5]) + ", …" * (len(references) > 5)
            yield f"loadout {name!r} names {len(references)} that the catalog does not have, left out: {named}"
        if self.left_out:
            yield f"{self.document.source}: no list of tools, left out: {', '.join(self.left_out)}"

    def _read(self, name: str, value: Any, path: tuple[Key, ...]) -> None:
        if isinstance(value, list):
            self._read_list(name, value, path)
        elif not isinstance(value, dict):
            self._add(
                "wrong-type",
                f"Loadout {name!r} must be a list of tools, not {describe_value(value, is_json=True)}.",
                *path,
            )
        elif value and all(isinstance(item, str) for item in value.values()):
            self.left_out.append(name)
        else:
            for inner, item in value.items():
                self._read(f"{name}/{inner}", item, (*path, inner))

    def _read_list(self, name: str, value: list[Any], path: tuple[Key, ...]) -> None:
        if name in self.definitions:
            self._add("duplicate-loadout", f"Loadout {name!r} is there already.", *path)
            return
        entries: list[str] = []
        self.paths[name] = path
        self._place((name,), path)
        for index, reference in enumerate(value):
            if not isinstance(reference, str) or not reference.strip():
                message = f"Loadout {name!r} must hold ids of tools, not {describe_value(reference, is_json=True)}."
                self._add("wrong-type", message, *path, index)
                continue
            tool_id = self.names.resolve(reference)
            tool = self.names.find_tool(tool_id) if isinstance(tool_id, str) else None
            if tool is None:
                self.unknown.setdefault(name, []).append(reference)
            elif tool.id not in self.chosen.setdefault(name, set()):
                self._place((name, "plugins", len(entries)), (*path, index))
                self.chosen[name].add(tool.id)
                entries.append(tool.path)
        self.definitions[name] = {"plugins": entries}

    def _place(self, key_path: tuple[Key, ...], path: tuple[Key, ...]) -> None:
        if (line := self.document.find_line(*path)) is not None:
            self.lines[(_PATH, *key_path)] = line

    def _add(self, rule: str, message: str, *path: Key) -> None:
        self.findings.append(self.document.finding(rule, message, *path, severity=Severity.ERROR))


def _widened(written: list[WrittenLoadout], chosen: dict[str, set[str]], catalog: Catalog) -> Iterator[str]:
    """Notes on loadouts that select unlisted tools: entries ignore case, may be names, and may end in * (L4, L9)."""
    registry = ToolLoadoutRegistry(entry.loadout for entry in written)
    for entry in written:
        name = entry.loadout.name
        selected = {tool.id for tool in registry.resolve(name, catalog).active_tools}
        if more := sorted(selected - chosen.get(name, set())):
            named = ", ".join(more[:5]) + ", …" * (len(more) > 5)
            yield f"loadout {name!r} also selects {len(more)} that it does not list, by alike names: {named}"
