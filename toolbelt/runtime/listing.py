"""What is derived from the tools of a registry: the names they are shown under, their definitions, a catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS, openai_definition
from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.catalog.wire_names import assign_wire_names
from toolbelt.patterns import fold
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import Gates, Registered, find_lack, find_unavailability

LITE = "lite"
"""The form of a definition that is `{name, description, parameters}` and no provider's."""
Rendered = Mapping[str, Any]
"""A definition that nobody can change."""
_MAX_KEPT = 32
"""Of how many lists and filters it is remembered what they let through."""


class Listing:
    """One state of a registry, which never changes; what is derived from it is made when first needed.

    Args:
        entries: By name, in order of registration.
        plugins: What is known of plugins beside their tools, by their keys.
        reserved: Names of tools that may be added later.
    """

    def __init__(
        self, entries: Mapping[str, Registered], plugins: Mapping[str, Plugin], reserved: Iterable[str] = ()
    ) -> None:
        self._entries = dict(entries)
        self._plugins = dict(plugins)
        self._reserved = reserved
        self._rendered: dict[str, tuple[Rendered, ...]] = {}
        self._let_through: dict[tuple[str, Gates, tuple[str, ...], tuple[str, ...]], _LetThrough] = {}

    @cached_property
    def wire_names(self) -> Mapping[str, str]:
        """By name, of what is there and of what is reserved."""
        return _assign(frozenset((*self._entries, *self._reserved)))

    @cached_property
    def _by_wire_name(self) -> Mapping[str, Registered]:
        return {self.wire_names[name]: entry for name, entry in self._entries.items()}

    def find(self, name: str) -> Registered | None:
        """The tool of a name, or else of a wire name."""
        found = self._entries.get(name)
        return found if found is not None else self._by_wire_name.get(name)

    def shown(
        self, form: str, gates: Gates, first: tuple[str, ...] = (), last: tuple[str, ...] = ()
    ) -> tuple[Rendered, ...]:
        """The definitions of what passes the gates now: those named `first`, the rest in order, those named `last`."""
        key = (form, gates, first, last)
        let_through = self._let_through.get(key)
        if let_through is None:
            if len(self._let_through) >= _MAX_KEPT:  # lists that are new each time are not worth keeping
                self._let_through.clear()
            let_through = self._let_through[key] = self._pass(*key)
        return let_through.available()

    def _pass(self, form: str, gates: Gates, first: tuple[str, ...], last: tuple[str, ...]) -> _LetThrough:
        rendered = self._rendered.get(form)
        if rendered is None:
            rendered = self._rendered[form] = tuple(self._render(entry.tool, form) for entry in self._entries.values())
        passing = [
            (entry.tool, definition)
            for entry, definition in zip(self._entries.values(), rendered, strict=True)
            if gates.find_bar(entry) is None and find_lack(entry.tool, gates.backends) is None
        ]
        places = {name: place for place, name in enumerate(last, start=1)}
        places.update((name, place) for place, name in enumerate(first, start=-len(first)))
        passing.sort(key=lambda pair: places.get(pair[0].name, 0))
        asked = tuple((place, tool) for place, (tool, _) in enumerate(passing) if tool.is_available is not None)
        return _LetThrough(tuple(definition for _, definition in passing), asked)

    def _render(self, tool: ExecutableTool, form: str) -> Rendered:
        name = self.wire_names[tool.name]
        if form == LITE:
            whole = openai_definition(tool, name)["function"]
            return FrozenDict({key: whole[key] for key in ("name", "description", "parameters")})
        return FrozenDict(freeze(DEFINITION_FORMATS[form](tool, name)))

    @cached_property
    def catalog(self) -> Catalog:
        """The tools by plugin; one of no plugin is a plugin of its own name."""
        tools = [entry.tool for entry in self._entries.values()]
        bearers = Counter(f"{tool.plugin or tool.name}/{tool.name}" for tool in tools)
        groups: dict[str, list[Tool]] = {}
        spelled: dict[str, str] = {}
        for tool in tools:
            name = tool.plugin or tool.name
            # The id that a plugin gives is of two parts, and may be another tool's of other parts: `a/b` + `c`.
            own_id = tool.id if tool.has_own_id else "" if bearers[f"{name}/{tool.name}"] == 1 else tool.name
            spelled.setdefault(fold(name), name)
            plain = Tool(tool.name, tool.description, tool.parameters, tool.annotations, id=own_id, extra=tool.extra)
            groups.setdefault(fold(name), []).append(plain)
        return Catalog(tuple(_plugin(spelled[key], tools, self._plugins.get(key)) for key, tools in groups.items()))


class _LetThrough(NamedTuple):
    """The definitions that the lists let through, and the tools among them that have to be asked each time."""

    definitions: tuple[Rendered, ...]
    asked: tuple[tuple[int, ExecutableTool], ...]

    def available(self) -> tuple[Rendered, ...]:
        absent = {place for place, tool in self.asked if find_unavailability(tool) is not None}
        if not absent:
            return self.definitions
        return tuple(definition for place, definition in enumerate(self.definitions) if place not in absent)


@lru_cache(maxsize=16)
def _assign(names: frozenset[str]) -> Mapping[str, str]:
    # Kept, as the names are the same when one that was reserved is registered, and in each session over one registry.
    return MappingProxyType(assign_wire_names(Tool(name) for name in names))  # whose ids are their names


def _plugin(name: str, tools: Iterable[Tool], known: Plugin | None) -> Plugin:
    category, description = (None, "") if known is None else (known.category, known.description)
    return Plugin(name, tuple(tools), category, description)
