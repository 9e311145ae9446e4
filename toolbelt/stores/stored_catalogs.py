"""Large catalogs as they were read, kept in the cache folder by the text of their files.

Such a file is read and checked once. After that, its tools come from the cache with their names; what is long of a
tool (its description, its schema) is read when it is first asked for. It is only a cache, of what was valid when it was
made: where it cannot be read, is not whole, or is of another text or by other code, the file is read again.

A file of the cache has a line for each tool, then a line with the rest, then a line with the digest of all before it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import ToolbeltError
from toolbelt.findings import Finding, Severity
from toolbelt.sources import Document
from toolbelt.stores.cache_files import CacheFiles
from toolbelt.stores.content_cache import stamp_code
from toolbelt.stores.files import cache_folder

_KEPT = 4
_CODE = ("", "catalog", "importers", "importers/openapi", "sources", "stores")
"""Our packages that the catalog of a text follows from."""
_CATALOG_FIELDS = ("name", "description", "categories", "core", "loadouts", "ladder", "unique_names", "servers")


def read_through_cache(text: str, source: str, read: Callable[[], tuple[CatalogFile, str]]) -> tuple[CatalogFile, str]:
    """What `read` makes of the text of a file: as it is stored, else read and then stored.

    Args:
        text: The whole text.
        source: The path as the user wrote it.
        read: Returns the catalog, and its format in words; raises for what is wrong with the text.
    """
    # The name of a catalog, and how its file is read, may come from the names of the file and its folder.
    about = [stamp_code(*_CODE), Path(source).name, Path(source).resolve().parent.name]
    digest = blake2b(json.dumps(about).encode(), digest_size=16)
    digest.update(text.encode())
    key = digest.hexdigest()
    cache = CacheFiles(cache_folder(os.environ) / "catalogs", ".jsonl", _KEPT)
    stored = cache.read(key)
    result = None if stored is None else _parse(stored, key, text, source)
    if result is None:
        result = read()
        if result[0].document is None or result[0].document.is_json:  # of YAML, the lines are not found again
            with contextlib.suppress(TypeError, ValueError, RecursionError):  # where it holds what JSON cannot
                cache.write_parts(key, _format(*result, key))
    object.__setattr__(result[0].catalog, "digest", key)
    return result


class _Places(Mapping[str, Any]):
    """Where tools stand, by id; read when first asked for."""

    def __init__(self, tools: tuple[Tool, ...], written: str) -> None:
        self._tools = tools
        self._written = written

    @cached_property
    def _by_id(self) -> dict[str, Any]:
        return {tool.id: place for tool, place in zip(self._tools, json.loads(self._written), strict=True)}

    def __getitem__(self, tool_id: str) -> Any:
        return self._by_id[tool_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._tools)


def _format(file: CatalogFile, label: str, key: str) -> Iterator[bytes]:
    catalog, tools, digest = file.catalog, file.catalog.tools, blake2b(digest_size=16)
    for tool in tools:
        line = tool.written() + b"\n"
        digest.update(line)
        yield line
    data: Any = None if file.document is None else file.document.data
    rest = {
        "key": key,
        "label": label,
        "notes": file.notes,
        "findings": [(finding.rule, finding.severity, finding.message, finding.line) for finding in file.findings],
        "catalog": {name: getattr(catalog, name) for name in _CATALOG_FIELDS},
        "plugins": [
            (plugin.name, plugin.category, plugin.description, plugin.server, [tool.name for tool in plugin.tools])
            for plugin in catalog.plugins
        ],
        "ids": {position: tool.id for position, tool in enumerate(tools) if tool.has_own_id},
        "fixed_names": {position: tool.wire_name for position, tool in enumerate(tools) if tool.wire_name},
        "wire_names": {tool.id: name for tool in tools if (name := catalog.wire_names[tool.id]) != tool.name},
        # The document without its tools, and of each tool the line or the place in the document, read if need be.
        "document": None if file.document is None else ({**data, "plugins": []} if _is_own(data) else {}),
        **{
            part: json.dumps([where[tool.id] for tool in tools]) if where else ""
            for part, where in (("lines", file.lines), ("places", file.places))
        },
    }
    line = json.dumps(rest, ensure_ascii=False, allow_nan=False).encode()
    digest.update(line)
    yield line
    yield f"\n{digest.hexdigest()}".encode()


def _is_own(data: Any) -> bool:
    return isinstance(data, dict) and "plugins" in data


def _parse(stored: bytes, key: str, text: str, source: str) -> tuple[CatalogFile, str] | None:
    """The catalog of a file of the cache; `None` if that is not whole, or of something else."""
    content, _, digest = stored.rpartition(b"\n")
    if blake2b(content, digest_size=16).hexdigest().encode() != digest:
        return None
    *written, last = content.split(b"\n")
    try:
        rest = json.loads(last)
        if rest["key"] != key:
            return None
        catalog = _make_catalog(rest, written)
        findings = tuple(
            Finding(rule, Severity(severity), message, source, line)
            for rule, severity, message, line in rest["findings"]
        )
        document = None if rest["document"] is None else Document(rest["document"], source, text, is_json=True)
        lines, places = (_Places(catalog.tools, rest[part]) if rest[part] else {} for part in ("lines", "places"))
        notes = tuple(rest["notes"])
        return CatalogFile(catalog, source, notes, document, lines, places, findings=findings), rest["label"]
    except (
        ToolbeltError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
    ):  # made by nobody's code that is ours
        return None


def _make_catalog(rest: Mapping[str, Any], lines: list[bytes]) -> Catalog:
    ids = {int(position): tool_id for position, tool_id in rest["ids"].items()}
    fixed = {int(position): name for position, name in rest["fixed_names"].items()}
    numbered = enumerate(lines)
    plugins = []
    for name, category, description, server, names in rest["plugins"]:
        tools = tuple(
            Tool.unread(
                line,
                name=tool_name,
                plugin=name,
                own_id=ids.get(position, ""),
                wire_name=fixed.get(position, ""),
            )
            for tool_name, (position, line) in zip(names, numbered)  # noqa: B905  the lines are those of all plugins
        )
        plugins.append(Plugin(name, tools, category, description, server))
    catalog = Catalog(plugins=tuple(plugins), **rest["catalog"])
    if len(catalog.tools) != len(lines):
        raise ValueError("a line for each tool")
    assigned = rest["wire_names"]
    wire_names = FrozenDict({tool.id: assigned.get(tool.id, tool.name) for tool in catalog.tools})
    vars(catalog)["wire_names"] = wire_names  # which it would find for itself in a third of a second
    return catalog
