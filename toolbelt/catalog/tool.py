"""What a tool is, and the plugin that groups it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from toolbelt.catalog.categories import PLUGIN_CATEGORY_MAP
from toolbelt.catalog.frozen import FrozenDict, freeze, freeze_members
from toolbelt.errors import InvalidDefinitionError, require_items
from toolbelt.patterns import find_name_problem, fold

_NOTHING = FrozenDict()


@dataclass(frozen=True)
class Tool:
    """One function an agent may call.

    Attributes:
        name: What it is called within its plugin; not blank. Names may repeat between plugins.
        description: What the model reads to decide.
        parameters: JSON Schema of the arguments; frozen, whatever was given. Empty means "takes none".
        annotations: MCP's hints under MCP's names (`readOnlyHint`, `destructiveHint`, `idempotentHint`,
            `openWorldHint`, `title`).
        plugin: Name of the plugin it belongs to; set when a `Plugin` takes it in.
        id: Its identity, unique in a catalog: `plugin/name` unless given.
        extra: Whatever else its source said (`outputSchema`, `strict`, ...): kept, never sent unless a
            provider's format has a place for it.
        wire_name: The name that a provider sees, where it is fixed; empty where the catalog assigns it.

    Raises:
        InvalidDefinitionError: the name is blank, or a field is of the wrong type.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = _NOTHING
    annotations: Mapping[str, Any] = _NOTHING
    plugin: str | None = None
    id: str = ""
    extra: Mapping[str, Any] = _NOTHING
    wire_name: str = ""
    has_own_id: bool = field(init=False, repr=False, compare=False, default=False)
    """Whether the id was given, and so stays when a plugin takes the tool in."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidDefinitionError(f"A tool's name must be text that is not blank, not {self.name!r}.")
        if not isinstance(self.description, str):
            raise InvalidDefinitionError(f"The description of tool {self.name!r} must be text.")
        for part, value in (("plugin", self.plugin), ("id", self.id or None)):
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise InvalidDefinitionError(f"The {part} of tool {self.name!r} must be text that is not blank.")
        for part in ("parameters", "annotations", "extra"):
            value = getattr(self, part)
            if type(value) is FrozenDict:  # which most are, and `Mapping` is slow to ask
                continue
            if not isinstance(value, Mapping):
                raise InvalidDefinitionError(f"The {part} of tool {self.name!r} must be a mapping.")
            try:
                object.__setattr__(self, part, freeze(value))
            except RecursionError:
                raise InvalidDefinitionError(f"The {part} of tool {self.name!r} are nested too deep.") from None
        object.__setattr__(self, "has_own_id", bool(self.id))
        if not self.id:
            object.__setattr__(self, "id", f"{self.plugin}/{self.name}" if self.plugin else self.name)

    def __hash__(self) -> int:
        return hash((self.id, self.name))

    @property
    def path(self) -> str:
        """`plugin/name`, the way a loadout addresses it (rule L9); not always the id."""
        return f"{self.plugin}/{self.name}" if self.plugin else self.name

    def written(self) -> bytes:
        """What of it is long, in one line of JSON, for `unread`; the same where it was made of such a line.

        Raises:
            ValueError, TypeError, RecursionError: it holds what JSON cannot.
        """
        if (written := vars(self).get("_written")) is None:
            return _COMPACT.encode([getattr(self, part) for part in _LONG_PARTS]).encode()
        line: bytes = written
        return line

    @classmethod
    def unread(cls, written: bytes, *, name: str, plugin: str, own_id: str = "", wire_name: str = "") -> Self:
        """A tool as it was before it was stored: what is long is read when it is first asked for.

        Args:
            written: As `written` gives it, of a tool that was valid.
            name: Its name.
            plugin: The plugin that it is in.
            own_id: Its id, if that was given.
            wire_name: As in `Tool`.
        """
        tool = object.__new__(cls)
        vars(tool).update(
            name=name,
            plugin=plugin,
            id=own_id or f"{plugin}/{name}",
            wire_name=wire_name,
            has_own_id=bool(own_id),
            _written=written,
        )
        return tool


_LONG_PARTS = ("description", "parameters", "annotations", "extra")
_COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_FROZEN = json.JSONDecoder(object_pairs_hook=freeze_members)


class _LongPart:
    """A field of an unread tool, until the tool has it: Python asks for it only then."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._default = getattr(Tool, name)

    def __get__(self, tool: Tool | None, owner: type[Tool]) -> Any:
        if tool is None:
            return self._default
        own = vars(tool)
        if (written := own.get("_written")) is not None:
            own.update(zip(_LONG_PARTS, _FROZEN.decode(written.decode()), strict=True))
            own.pop("_written", None)  # after: another thread may be here, too
        return own[self._name]


for _part in _LONG_PARTS:
    setattr(Tool, _part, _LongPart(_part))


@dataclass(frozen=True)
class Plugin:
    """A named group of tools that come and go together: one MCP server, one module.

    Attributes:
        name: Not blank; unique in a catalog, ignoring case.
        tools: Each with `plugin` set to this one's name.
        category: Its own category, which wins over `PLUGIN_CATEGORY_MAP`; `None` if it names none.
        description: What it is for.
        server: Name of the MCP server that has its tools; empty for none.

    Raises:
        InvalidDefinitionError: the name or category is blank or has an invisible character, a tool already belongs
            to another plugin, or two tools share an id.
    """

    name: str
    tools: tuple[Tool, ...] = ()
    category: str | None = None
    description: str = ""
    server: str = ""
    key: str = field(init=False, repr=False, compare=False, default="")
    """The name as names are compared."""
    category_key: str | None = field(init=False, repr=False, compare=False, default=None)
    """The category that counts, its own or the map's, as categories are compared."""

    def __hash__(self) -> int:
        return hash(self.key)

    def __post_init__(self) -> None:
        if (problem := find_name_problem(self.name)) is not None:
            raise InvalidDefinitionError(f"A plugin's name {problem}.")
        object.__setattr__(self, "key", fold(self.name))
        if self.category is not None:
            if (problem := find_name_problem(self.category)) is not None:
                raise InvalidDefinitionError(f"The category of plugin {self.name!r} {problem}.")
            object.__setattr__(self, "category", str(self.category).strip())
        category = find_category(self.name, self.category)
        object.__setattr__(self, "category_key", None if category is None else fold(category))
        items = require_items(f"The tools of plugin {self.name!r}", self.tools, Tool)
        tools = tuple(self._take_in(tool) for tool in items)
        object.__setattr__(self, "tools", tools)
        refuse_duplicate_ids(tools)

    @property
    def effective_category(self) -> str | None:
        """Its own category, else the map's (rule L2)."""
        return find_category(self.name, self.category)

    def _take_in(self, tool: Tool) -> Tool:
        if tool.plugin == self.name:
            return tool
        if tool.plugin is not None:
            raise InvalidDefinitionError(
                f"Tool {tool.name!r} belongs to plugin {tool.plugin!r} and cannot be in {self.name!r} too."
            )
        return replace(tool, plugin=self.name, id=tool.id if tool.has_own_id else "")


def find_category(plugin_name: str, own: str | None) -> str | None:
    """The category of a plugin: its own, else the one `PLUGIN_CATEGORY_MAP` gives its name (rule L2)."""
    if own is not None:
        return own
    mapped = PLUGIN_CATEGORY_MAP.get(plugin_name)
    return None if mapped is None else mapped.value


def refuse_duplicate_ids(tools: Iterable[Tool]) -> None:
    """Look at the raw sequence, before any dict could swallow one of two.

    Raises:
        InvalidDefinitionError: naming every id that stands twice.
    """
    twice = [tool_id for tool_id, count in Counter(tool.id for tool in tools).items() if count > 1]
    if twice:
        raise InvalidDefinitionError(f"Tool ids must be unique; these stand more than once: {', '.join(twice)}.")
