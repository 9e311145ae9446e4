"""The tools of all records as one catalog."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.parameters import read_parameters
from toolbelt.errors import InvalidDefinitionError
from toolbelt.evals.cases.imports.import_report import BrokenError
from toolbelt.evals.cases.imports.messages import CUSTOM_ARGUMENT
from toolbelt.patterns import fold

Value = TypeVar("Value")
_MOST_KEPT = 10_000
"""Lists of tools at most whose ids are cached, and as many definitions."""
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "inputs")
_TEXT_INPUT = {"type": "object", "properties": {CUSTOM_ARGUMENT: {"type": "string"}}, "required": [CUSTOM_ARGUMENT]}
"""The schema of OpenAI's custom tools, which take one text."""


class ToolPool:
    """Collects tools; equal definitions are one tool.

    The id of the first definition of a name is the name. Another definition of that name is another tool; its id is
    `name#` and at least eight hexadecimal digits of the definition's hash.

    Args:
        name: Of the catalog, and of the plugin for tools without a plugin.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._plugins: dict[str, list[Tool]] = {}
        self._spelled: dict[str, str] = {}
        self._categories: dict[str, str] = {}
        self._ids: dict[bytes, str] = {}
        self._taken: set[str] = set()
        self._lists: dict[bytes, tuple[str, ...]] = {}
        self._entries: dict[bytes, str] = {}
        self._refused: dict[tuple[bytes, str], BrokenError | None] = {}

    def __len__(self) -> int:
        return len(self._taken)

    def add(self, tool: Tool, *, plugin: str = "", category: str = "") -> str:
        """Add a tool and return its id; without `plugin` it goes to the plugin with the catalog's name."""
        plugin_name = plugin.strip() or self.name
        spelled = self._spelled.setdefault(fold(plugin_name), plugin_name)
        digest = _digest([spelled, tool.name, tool.description, thaw(tool.parameters), thaw(tool.extra)])
        if (known := self._ids.get(digest)) is not None:
            return known
        tool_id = f"{plugin.strip()}/{tool.name}" if plugin.strip() else tool.name
        stem, digits = tool_id, 8
        while tool_id in self._taken:
            tool_id = f"{stem}#{digest.hex()[:digits]}"
            digits += 1
        self._taken.add(tool_id)
        self._ids[digest] = tool_id
        self._plugins.setdefault(spelled, []).append(replace(tool, id=tool_id))
        if category.strip():
            self._categories.setdefault(spelled, category)
        return tool_id

    def add_list(self, entries: Iterable[Any]) -> tuple[str, ...]:
        """Add the tools that a request offers; returns their ids, in order.

        An entry that is no tool, or the second of a name, is left out; `take_refused` has it.

        Raises:
            BrokenError: no entry is a tool.
        """
        entries = list(entries)
        digest = _digest(entries)
        if (known := self._lists.get(digest)) is None:
            refused: list[tuple[Any, BrokenError]] = []
            tools = {tool.name: self._add_entry(entry, tool) for entry, tool in read_tools(entries, refused)}
            for entry, error in refused:
                self._refused.setdefault((_digest(entry), error.message), error)
            known = _keep(self._lists, digest, tuple(tools.values()))
        return known

    def take_refused(self) -> Iterator[BrokenError]:
        """The entries that were left out since the last call, each once, however many lists have it."""
        for key, error in self._refused.items():
            if error is not None:
                self._refused[key] = None
                yield error

    def _add_entry(self, entry: Any, tool: Tool) -> str:
        digest = _digest(entry)
        if (known := self._entries.get(digest)) is None:
            known = _keep(self._entries, digest, self.add(tool))
        return known

    def catalog(self) -> Catalog:
        """The catalog of all collected tools."""
        plugins = (
            Plugin(name=name, tools=tuple(tools), category=self._categories.get(name))
            for name, tools in self._plugins.items()
        )
        return Catalog(plugins=tuple(plugins), name=self.name)

    def renamed(self) -> int:
        """Number of tools with digits in their id, because another definition of their name came first."""
        return sum("#" in tool.id and tool.id.rpartition("#")[0] in self._taken for tool in self._tools())

    def _tools(self) -> Iterable[Tool]:
        return (tool for tools in self._plugins.values() for tool in tools)


def read_tool(entry: Any, index: int) -> Tool | None:
    """A definition in the form of OpenAI (nested, flat, or the older `functions`), Anthropic, MCP or Bedrock.

    Args:
        entry: As a request holds it.
        index: Its place in the list, for messages.

    Returns:
        `None` for a tool that runs at a provider and has no definition.

    Raises:
        BrokenError: it is no tool.
    """
    if not isinstance(entry, dict):
        raise BrokenError("invalid-tool", f"`tools[{index}]` is no object.")
    inner = next((entry[key] for key in ("function", "toolSpec", "custom") if isinstance(entry.get(key), dict)), None)
    takes_text = entry.get("type") == "custom"
    if inner is not None:
        entry = inner
    elif entry.get("type", "function") not in ("function", "custom"):
        return None
    schema: Any = next(
        (entry[key] for key in _SCHEMAS if entry.get(key) is not None), _TEXT_INPUT if takes_text else {}
    )
    if isinstance(schema, dict) and schema.keys() == {"json"}:
        schema = schema["json"]
    extra = {key: entry[key] for key in ("strict",) if entry.get(key) is not None}
    try:
        return Tool(
            name=entry.get("name", ""),
            description=entry.get("description") or "",
            parameters=read_parameters(schema),
            extra=extra,
        )
    except InvalidDefinitionError as error:
        raise BrokenError("invalid-tool", f"`tools[{index}]`: {error}") from None


def read_tools(
    entries: Iterable[Any], refused: list[tuple[Any, BrokenError]] | None = None
) -> Iterator[tuple[Any, Tool]]:
    """The entries of a list that are tools, each name once, with the tools.

    Args:
        entries: As a request holds them.
        refused: Receives those that are no tools, and the second of a name.

    Raises:
        BrokenError: no entry is a tool, and one should be.
    """
    refused = [] if refused is None else refused
    names: set[str] = set()
    for index, entry in enumerate(entries):
        try:
            tool = read_tool(entry, index)
        except BrokenError as error:
            refused.append((entry, error))
            continue
        if tool is not None and tool.name in names:
            message = f"`tools[{index}]`: the tool name {tool.name!r} stands twice in one list of tools."
            refused.append((entry, BrokenError("tool-twice", message)))
        elif tool is not None:
            names.add(tool.name)
            yield entry, tool
    if refused and not names:
        raise refused[0][1]


def _keep(cache: dict[bytes, Value], digest: bytes, value: Value) -> Value:
    """Store and return a value; a full cache is cleared first."""
    if len(cache) >= _MOST_KEPT:
        cache.clear()
    cache[digest] = value
    return value


def _digest(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
