"""Tool lists as agents pass them to an API: OpenAI's, Anthropic's, and an MCP server's answer to `tools/list`.

An entry that is no tool is a finding, and does not refuse the others (rule V6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import convert_types
from toolbelt.catalog.parameters import FLAT_NOTE, is_flat, read_parameters
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidDefinitionError, InvalidFileError
from toolbelt.findings import Finding
from toolbelt.sources import Document, Key
from toolbelt.sources.document import describe_value, format_path

Entry = Mapping[str, Any]
Placed = tuple[tuple[Key, ...], Any]


def is_openai(data: object) -> bool:
    """A list of `{"type": "function", …}`, alone or under `tools`; the function nested, flat, or without a type."""
    entries = [entry for _, entry in _entries(data, "tools") if isinstance(entry, dict)]
    return data == [] or any(map(_is_openai_function, entries))


def _is_openai_function(entry: Entry) -> bool:
    named = entry.get("type") == "function" or isinstance(entry.get("function"), dict)
    return named or {"name", _schema_key(entry)} <= set(entry)  # the older `functions` had no type


def _schema_key(entry: Entry) -> str:
    """Where a function has its arguments; smolagents has them under `inputs`."""
    return "inputs" if "inputs" in entry and "parameters" not in entry else "parameters"


def is_anthropic(data: object) -> bool:
    """A list of `{"name", "input_schema"}`, alone or under `tools`."""
    return any(isinstance(entry, dict) and "input_schema" in entry for _, entry in _entries(data, "tools"))


def is_mcp(data: object) -> bool:
    """A `tools/list` result: its `tools` have an `inputSchema`; the JSON-RPC envelope may be around it."""
    return any(isinstance(entry, dict) and "inputSchema" in entry for _, entry in _entries(data, "tools", "result"))


def convert_openai(document: Document, name: str) -> CatalogFile:
    """A catalog of one plugin from an OpenAI tool list (chat completions or responses).

    Raises:
        InvalidFileError: every entry that is no function, where none is.
    """
    return _convert(document, name, _openai_tool)


def convert_anthropic(document: Document, name: str) -> CatalogFile:
    """A catalog of one plugin from an Anthropic tool list; what runs at Anthropic has no schema and is noted.

    Raises:
        InvalidFileError: every entry that is no tool, where none is.
    """
    return _convert(document, name, _anthropic_tool)


def convert_mcp(document: Document, name: str) -> CatalogFile:
    """A catalog of one plugin from an MCP `tools/list` result; an unread further page is noted.

    Raises:
        InvalidFileError: every entry that is no tool, where none is.
    """
    catalog_file = _convert(document, name, read_mcp_tool)
    result = document.data.get("result", document.data) if isinstance(document.data, dict) else {}
    cursor = result.get("nextCursor") if isinstance(result, dict) else None
    if not cursor:
        return catalog_file
    note = "the server has more tools than this page holds (nextCursor is set)"
    return replace(catalog_file, notes=(*catalog_file.notes, note))


def _convert(document: Document, name: str, read: Callable[[Entry], Tool | str]) -> CatalogFile:
    tools: list[Tool] = []
    places: dict[str, tuple[Key, ...]] = {}
    findings: list[Finding] = []
    notes: list[str] = []
    flat = 0
    for path, entry in _entries(document.data, "tools", "result"):
        if not isinstance(entry, dict):
            shown = describe_value(entry, is_json=document.is_json)
            message = f"`{format_path(path)}`: a tool is an object, not {shown}."
            findings.append(document.finding("wrong-type", message, *path))
            continue
        try:
            tool = read(entry)
        except InvalidDefinitionError as error:
            findings.append(document.finding("invalid-tool", f"`{format_path(path)}`: {error}", *path))
            continue
        if isinstance(tool, str):
            notes.append(tool)
            continue
        tool_id = f"{name}/{tool.name}"
        if tool_id in places:
            message = f"The tool name {tool.name!r} stands here again; a provider would refuse the list."
            findings.append(document.finding("duplicate-tool-id", message, *path))
            continue
        places[tool_id] = path
        tools.append(tool)
        flat += any(
            is_flat(place.get(key))
            for place in (entry, entry.get("function"))
            if isinstance(place, dict)
            for key in ("parameters", "inputs", "input_schema")
        )
    if not tools:
        raise InvalidFileError(findings or [document.finding("empty", "There is no tool in this file.")])
    if flat:
        notes.append(f"{flat:,} of {len(tools):,} tools: {FLAT_NOTE}")
    catalog = Catalog(plugins=(Plugin(name=name, tools=tuple(tools)),), name=name)
    return CatalogFile(catalog, document.source, tuple(notes), document, places=places, findings=tuple(findings))


def _openai_tool(entry: Entry) -> Tool | str:
    function = entry.get("function")
    if entry.get("type", "function") != "function":
        return f"{entry['type']!r} is a tool of the provider's own and has no definition; left out"
    # The responses API has the same fields without the inner object.
    inner = function if isinstance(function, dict) else entry
    outer = {key: value for key, value in entry.items() if key not in ("type", "function")} if inner is function else {}
    return _tool(inner, _schema_key(inner), {**outer}, ignored=("type",))


def _anthropic_tool(entry: Entry) -> Tool | str:
    if "input_schema" not in entry and entry.get("type", "custom") != "custom":
        return f"{entry.get('name', entry['type'])!r} runs at the provider and has no schema; left out"
    return _tool(entry, "input_schema", {}, ignored=("type",))


def read_definition(entry: Entry) -> Tool | str:
    """A tool as OpenAI, Anthropic or MCP have it; a note where it runs at the provider and has no definition.

    Raises:
        InvalidDefinitionError: it has no name, or a field is of the wrong type.
    """
    if "inputSchema" in entry:
        return read_mcp_tool(entry)
    return _anthropic_tool(entry) if "input_schema" in entry else _openai_tool(entry)


def read_mcp_tool(entry: Entry) -> Tool:
    """A tool as an MCP server lists it; what catalogs have no place for is in `extra`.

    Raises:
        InvalidDefinitionError: it has no name, or a field is of the wrong type.
    """
    return _tool(entry, "inputSchema", {})


def _tool(entry: Entry, schema_key: str, extra: Entry, ignored: tuple[str, ...] = ()) -> Tool:
    if "name" not in entry:
        raise InvalidDefinitionError("A tool needs a `name`.")
    own = {"name", "description", "annotations", schema_key, *ignored}
    return Tool(
        name=entry["name"],
        description=_given(entry, "description", ""),
        parameters=_given(entry, schema_key, {})
        if schema_key == "inputSchema"
        else convert_types(read_parameters(_given(entry, schema_key, {}))),
        annotations=_given(entry, "annotations", {}),
        extra={**extra, **{key: value for key, value in entry.items() if key not in own}},
    )


def _given(entry: Entry, key: str, default: Any) -> Any:
    value = entry.get(key)
    return default if value is None else value


def _entries(data: object, *wrappers: str) -> Iterator[Placed]:
    """Every entry of the list, wherever it is wrapped, with its place."""
    path: tuple[Key, ...] = ()
    for wrapper in reversed(wrappers):
        if isinstance(data, dict) and wrapper in data:
            data, path = data[wrapper], (*path, wrapper)
    if isinstance(data, list):
        yield from (((*path, index), entry) for index, entry in enumerate(data))
