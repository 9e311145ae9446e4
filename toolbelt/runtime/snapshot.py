"""One state of a registry, and what is derived from it: names, definitions, catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS, assign_wire_names, openai_definition
from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.patterns import fold
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import Gates, RegisteredTool, ask_are_available, find_missing_backends

LITE = "lite"
"""The form of a definition that is `{name, description, parameters}` and no provider's."""
FrozenDefinition = Mapping[str, Any]
_MAX_CACHED_GATES = 32
"""Gates whose passing tools are cached."""


class RegistrySnapshot:
    """One state of a registry, which never changes; derived values are computed when first needed.

    Args:
        entries: By name, in order of registration.
        plugins: The plugins that were registered as such, by key.
        reserved: Tools that may be registered later.
    """

    def __init__(
        self, entries: Mapping[str, RegisteredTool], plugins: Mapping[str, Plugin], reserved: Iterable[Tool] = ()
    ) -> None:
        self._registered = dict(entries)
        self._plugins = dict(plugins)
        self._reserved = tuple(reserved)
        self._rendered: dict[str, tuple[FrozenDefinition, ...]] = {}
        self._passing: dict[tuple[str, Gates], _PassingTools] = {}

    @cached_property
    def wire_names(self) -> Mapping[str, str]:
        """By name, of registered and reserved tools: those that a catalog of the same tools has."""
        tools = {tool.name: tool for tool in (*self._reserved, *(entry.tool for entry in self._registered.values()))}
        ids = _find_ids(tools.values())
        names = _assign(frozenset((tool.name, tool.plugin, ids[tool.name]) for tool in tools.values()))
        return {name: names[ids[name]] for name in tools}

    @cached_property
    def _entries(self) -> Mapping[str, RegisteredTool]:
        """By name, with wire names."""
        wire_names = self.wire_names
        return {name: replace(entry, wire_name=wire_names[name]) for name, entry in self._registered.items()}

    @cached_property
    def keys(self) -> frozenset[str]:
        """Everything that a registered or reserved tool can be named by, as names are compared."""
        registered = (key for entry in self._entries.values() for key in entry.keys)
        reserved = (key for tool in self._reserved for key in (tool.name, tool.id, tool.path))
        return frozenset((*registered, *map(fold, reserved), *map(fold, self.wire_names.values())))

    @cached_property
    def _by_wire_name(self) -> Mapping[str, RegisteredTool]:
        return {self.wire_names[name]: entry for name, entry in self._entries.items()}

    @cached_property
    def _by_id(self) -> Mapping[str, RegisteredTool]:
        """By id and by `plugin/name`, where only one tool has it."""
        ids = [(key, entry) for entry in self._entries.values() for key in {entry.tool.id, entry.tool.path}]
        bearers = Counter(key for key, _ in ids)
        return {key: entry for key, entry in ids if bearers[key] == 1}

    def find(self, name: str) -> RegisteredTool | None:
        """The tool of a name, or else of a wire name, or else of an id."""
        return self._entries.get(name) or self._by_wire_name.get(name) or self._by_id.get(name)

    def definitions(self, form: str, gates: Gates) -> tuple[FrozenDefinition, ...]:
        """The definitions of the tools that pass the gates now, in order of registration."""
        key = (form, gates)
        passing = self._passing.get(key)
        if passing is None:
            if len(self._passing) >= _MAX_CACHED_GATES:  # gates that are new each time are not worth caching
                self._passing.clear()
            passing = self._passing[key] = self._find_passing(*key)
        return passing.available()

    def unconditional_names(self, gates: Gates) -> Iterator[str]:
        """The names of the tools that pass the gates, as they are shown; not of those that would have to be asked."""
        for entry in self._entries.values():
            if entry.tool.is_available is None and gates.find_refusal(entry) is None:
                yield entry.wire_name

    def _find_passing(self, form: str, gates: Gates) -> _PassingTools:
        rendered = self._rendered.get(form)
        if rendered is None:
            rendered = self._rendered[form] = tuple(self._render(entry.tool, form) for entry in self._entries.values())
        passing = [
            (entry.tool, definition)
            for entry, definition in zip(self._entries.values(), rendered, strict=True)
            if gates.find_exclusion(entry) is None and find_missing_backends(entry.tool, gates.backends) is None
        ]
        conditional = tuple((place, tool) for place, (tool, _) in enumerate(passing) if tool.is_available is not None)
        return _PassingTools(tuple(definition for _, definition in passing), conditional)

    def _render(self, tool: ExecutableTool, form: str) -> FrozenDefinition:
        name = self.wire_names[tool.name]
        if form == LITE:
            whole = openai_definition(tool, name)["function"]
            return FrozenDict({key: whole[key] for key in ("name", "description", "parameters")})
        return FrozenDict(freeze(DEFINITION_FORMATS[form](tool, name)))

    @cached_property
    def catalog(self) -> Catalog:
        """The tools by plugin; a tool without plugin is a plugin of its own name."""
        tools = [entry.tool for entry in self._entries.values()]
        ids = _find_ids(tools)
        groups: dict[str, list[Tool]] = {}
        spellings: dict[str, str] = {}
        for tool in tools:
            name = tool.plugin or tool.name
            spelling = spellings.setdefault(fold(name), name)
            own_id = "" if ids[tool.name] == f"{spelling}/{tool.name}" else ids[tool.name]
            plain = Tool(tool.name, tool.description, tool.parameters, tool.annotations, id=own_id, extra=tool.extra)
            groups.setdefault(fold(name), []).append(plain)
        return Catalog(tuple(_plugin(spellings[key], tools, self._plugins.get(key)) for key, tools in groups.items()))


class _PassingTools(NamedTuple):
    """The definitions that pass the lists, and the tools among them that are asked each time, with their places."""

    definitions: tuple[FrozenDefinition, ...]
    conditional: tuple[tuple[int, ExecutableTool], ...]

    def available(self) -> tuple[FrozenDefinition, ...]:
        absent = {refusal.tool for refusal in ask_are_available(tool for _, tool in self.conditional)}
        if not absent:
            return self.definitions
        places = {place for place, tool in self.conditional if tool.name in absent}
        return tuple(definition for place, definition in enumerate(self.definitions) if place not in places)


def _find_ids(tools: Iterable[Tool]) -> dict[str, str]:
    """By name, the ids that tools have in a catalog, where a tool without plugin is a plugin of its own name."""
    listed = tuple(tools)
    paths = {tool.name: f"{tool.plugin or tool.name}/{tool.name}" for tool in listed}
    # `plugin/name` may be the id of another tool, too: `a/b` + `c` and `a` + `b/c`.
    owners = Counter(paths.values())
    return {
        tool.name: tool.id if tool.has_own_id else paths[tool.name] if owners[paths[tool.name]] == 1 else tool.name
        for tool in listed
    }


@lru_cache(maxsize=16)
def _assign(tools: frozenset[tuple[str, str | None, str]]) -> Mapping[str, str]:
    """Wire names by id, of tools given as name, plugin and id."""
    # Cached: they stay the same when a reserved tool is registered, and in each session over one registry.
    return MappingProxyType(assign_wire_names(Tool(name, plugin=plugin, id=key) for name, plugin, key in tools))


def _plugin(name: str, tools: Iterable[Tool], known: Plugin | None) -> Plugin:
    category, description = (None, "") if known is None else (known.category, known.description)
    return Plugin(name, tuple(tools), category, description)
