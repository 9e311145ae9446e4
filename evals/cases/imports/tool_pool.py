"""The tools of all records as one catalog."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.frozen import thaw
from toolbelt.errors import InvalidDefinitionError
from toolbelt.evals.cases.imports.import_report import BrokenError
from toolbelt.evals.cases.imports.messages import CUSTOM_ARGUMENT
from toolbelt.patterns import fold

Value = TypeVar("Value")
_MOST_KEPT = 10_000
"""Lists of tools at most whose ids are cached, and as many definitions."""
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
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
        self._entries: dict[bytes, tuple[str, str]] = {}

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

        Raises:
            BrokenError: an entry is no tool, or two have one name.
        """
        entries = list(entries)
        digest = _digest(entries)
        if (known := self._lists.get(digest)) is None:
            tools = [tool for index, entry in enumerate(entries) if (tool := self._entry(entry, index)) is not None]
            refuse_repeated(name for name, _ in tools)
            known = _keep(self._lists, digest, tuple(tool_id for _, tool_id in tools))
        return known

    def _entry(self, entry: Any, index: int) -> tuple[str, str] | None:
        """Name and id of one definition; `None` for an entry without a definition."""
        digest = _digest(entry)
        known = self._entries.get(digest)
        if known is None and (tool := read_tool(entry, index)) is not None:
            known = _keep(self._entries, digest, (tool.name, self.add(tool)))
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
            name=entry.get("name", ""), description=entry.get("description") or "", parameters=schema, extra=extra
        )
    except InvalidDefinitionError as error:
        raise BrokenError("invalid-tool", f"`tools[{index}]`: {error}") from None


def names_offered(entries: Iterable[Any]) -> list[str]:
    """The names of tools as a request offers them, in order.

    Raises:
        BrokenError: an entry is no tool, or two have one name.
    """
    names = [tool.name for index, entry in enumerate(entries) if (tool := read_tool(entry, index)) is not None]
    refuse_repeated(names)
    return names


def refuse_repeated(names: Iterable[str]) -> None:
    """Raises `BrokenError` if a name is repeated; a provider would refuse that."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise BrokenError("tool-twice", f"The tool name {twice!r} stands twice in one list of tools.")


def _keep(cache: dict[bytes, Value], digest: bytes, value: Value) -> Value:
    """Store and return a value; a full cache is cleared first."""
    if len(cache) >= _MOST_KEPT:
        cache.clear()
    cache[digest] = value
    return value


def _digest(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
