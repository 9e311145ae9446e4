"""Catalogs as files: toolbelt's own document (YAML or JSON) and JSON Lines, one tool per line.

The document:

    name: assistant
    description: …
    categories: {payments: Moving money}        # further ones, with what they are about
    plugins:
      - name: git
        category: git
        description: …
        tools:
          - {name: git_status, description: …, parameters: {…}, annotations: {…}, id: …}
    core: [git/git_status]                       # always shown
    unique_names: true                           # a promise, held
    loadouts: {…}                                # as in toolbelt.yaml
    ladder: [big, {loadout: small, min_window: 0}]
    servers: {git: {version: …, digest: …}}      # MCP servers; a plugin has `server: git`, its tools a `wire_name`
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.categories import CATEGORY_DESCRIPTIONS
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.json_lines import parse_catalog_lines
from toolbelt.catalog.reader import CatalogFile, parse_catalog
from toolbelt.catalog.tool import Plugin, Tool
from toolbelt.sources import format_yaml, read_document, read_text

if TYPE_CHECKING:
    from toolbelt.catalog.catalog import Catalog


def read_catalog(path: str | os.PathLike[str], catalog_type: type[Catalog]) -> CatalogFile:
    """A catalog in toolbelt's document form, or JSON Lines where the name ends in `.jsonl` or `.ndjson`.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: every mistake in it.
    """
    if str(path).lower().endswith((".jsonl", ".ndjson")):
        catalog_file = parse_catalog_lines(read_text(path), str(path), Path(path).stem, catalog_type)
        catalog_file.refuse()
        return catalog_file
    return parse_catalog(read_document(path), catalog_type)


def format_catalog(catalog: Catalog, syntax: str) -> str:
    """The document of a catalog.

    Args:
        syntax: `json` or `yaml`.
    """
    data = catalog_data(catalog)
    if syntax == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    return format_yaml(data, width=110)


def catalog_data(catalog: Catalog) -> dict[str, Any]:
    """The document of a catalog as plain values; what is empty is left out."""
    # Well-known ones that its plugins alone would give, in the same order, need not be written.
    derived = list(type(catalog)(catalog.plugins).categories.items())
    is_derived = list(catalog.categories.items()) == derived and all(
        name in CATEGORY_DESCRIPTIONS for name, _ in derived
    )
    data = {
        "name": catalog.name,
        "description": catalog.description,
        "categories": {} if is_derived else dict(catalog.categories),
        "core": list(catalog.core),
        "unique_names": catalog.unique_names,
        "loadouts": thaw(catalog.loadouts),
        "ladder": [dict(rung) for rung in catalog.ladder],
        "servers": thaw(catalog.servers),
        "plugins": [plugin_data(plugin) for plugin in catalog.plugins],
    }
    return {key: value for key, value in data.items() if value or key in ("name", "plugins")}


def plugin_data(plugin: Plugin) -> dict[str, Any]:
    """A plugin as plain values, for a file or for JSON output."""
    data = {
        "name": plugin.name,
        "description": plugin.description,
        "category": plugin.category,
        "server": plugin.server,
        "tools": [tool_data(tool) for tool in plugin.tools],
    }
    return {key: value for key, value in data.items() if value or key in ("name", "tools")}


def tool_data(tool: Tool) -> dict[str, Any]:
    """A tool as plain values; the id only where it is not `plugin/name`."""
    data = {
        "name": tool.name,
        "id": tool.id if tool.id != tool.path else "",
        "wire_name": tool.wire_name,
        "description": tool.description,
        "parameters": thaw(tool.parameters),
        "annotations": thaw(tool.annotations),
        "extra": thaw(tool.extra),
    }
    return {key: value for key, value in data.items() if value or key == "name"}
