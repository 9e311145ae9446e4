"""Every tool there is."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolbelt.catalog.categories import CATEGORY_DESCRIPTIONS
from toolbelt.catalog.definitions import assign_wire_names
from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.catalog.ladder import make_rung
from toolbelt.catalog.tool import Plugin, Tool, refuse_duplicate_ids
from toolbelt.errors import AmbiguousNameError, InvalidDefinitionError, NotFoundError, require_items
from toolbelt.patterns import find_name_problem, fold, matches
from toolbelt.text import plural

WHOLE_SERVER = "*"
"""Stands for every tool of a server among the names of what is switched off."""


@dataclass(frozen=True)
class SwitchedOff:
    """A server or a tool that a file switches off, so that it is not in the catalog (rule V7).

    Attributes:
        server: Name of the server.
        tool: Name of the tool; empty for the whole server.
        key: Of the file: `disabledTools`; empty for a server whose entry cannot be read.
        file: As a user of the project writes it; or why the entry cannot be read.
    """

    server: str
    tool: str
    key: str
    file: str

    @property
    def name(self) -> str:
        """`server`, or `server/tool`."""
        return f"{self.server}/{self.tool}" if self.tool else self.server

    @property
    def why(self) -> str:
        """In words, to follow `is`."""
        return f"switched off by `{self.key}` in {self.file}" if self.key else f"not read: {self.file}"


@dataclass(frozen=True)
class Catalog:
    """All plugins and their tools, in order; immutable.

    Attributes:
        plugins: Names unique, ignoring case; ids of tools unique over all.
        name: What it is called in output.
        description: What it holds.
        categories: Description by category name: those declared, in the order declared, then the
            well-known and other ones that its plugins have.
        core: Ids of the tools that are always shown (rule T1); accepts any reference `get_tool` does.
        loadouts: Loadouts of its own, as the mapping written under `loadouts:` of a file.
        ladder: Those `auto` steps down, largest first (rule L15): `{"loadout": name, "min_window": tokens}`.
        servers: Of the MCP servers that were asked for the tools, by name: `version`, `protocol`, `digest`,
            `stale: true` where the last attempt to ask failed (rule M4), and `off`, as `switched_off` has it.
        unique_names: Promise that no two tools share a bare name (rule T5); held at construction.

    Raises:
        InvalidDefinitionError: plugins, categories or ids repeat, a rung is none, or the promise is broken.
        NotFoundError: a core tool is not there.
        AmbiguousNameError: a core tool is named by a name that several tools have.
    """

    plugins: tuple[Plugin, ...] = ()
    name: str = "catalog"
    description: str = ""
    categories: Mapping[str, str] = FrozenDict()
    core: tuple[str, ...] = ()
    loadouts: Mapping[str, Any] = FrozenDict()
    ladder: tuple[Mapping[str, Any], ...] = ()
    unique_names: bool = False
    servers: Mapping[str, Any] = FrozenDict()
    digest: str = field(init=False, repr=False, compare=False, default="")
    """Of the large file that it is as read from, and of the code that read it; empty for any other catalog."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "plugins", require_items("The plugins of a catalog", self.plugins, Plugin))
        if not isinstance(self.categories, Mapping):
            raise InvalidDefinitionError("The categories of a catalog are a mapping from names to descriptions.")
        object.__setattr__(self, "core", require_items("The core tools of a catalog", self.core, str))
        twice = _repeated(plugin.key for plugin in self.plugins)
        if twice:
            raise InvalidDefinitionError(f"Plugin names must be unique, ignoring case: {', '.join(sorted(twice))}.")
        refuse_duplicate_ids(self.tools)
        if self.unique_names and (shared := _repeated(tool.name for tool in self.tools)):
            raise InvalidDefinitionError(
                f"Catalog {self.name!r} promises unique tool names; these repeat: {', '.join(sorted(shared))}."
            )
        for name in self.categories:
            if (problem := find_name_problem(name)) is not None:
                raise InvalidDefinitionError(f"The name of a category {problem}.")
        if twice := _repeated(fold(name) for name in self.categories):
            raise InvalidDefinitionError(f"Categories must be unique, ignoring case: {', '.join(sorted(twice))}.")
        object.__setattr__(self, "categories", _all_categories(self.categories, self.plugins))
        object.__setattr__(self, "core", tuple(self.get_tool(reference).id for reference in self.core))
        object.__setattr__(self, "loadouts", freeze(self.loadouts))
        object.__setattr__(self, "servers", freeze(self.servers))
        object.__setattr__(self, "ladder", tuple(make_rung(entry) for entry in self.ladder))

    def __repr__(self) -> str:
        return f"<Catalog {self.name!r}: {plural(len(self.plugins), 'plugin')}, {plural(len(self.tools), 'tool')}>"

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Catalog:
        """The catalog in a YAML, JSON or JSON Lines file.

        Raises:
            NotFoundError: no such file.
            InvalidFileError: every mistake in it, with its line.
        """
        from toolbelt.catalog.files import read_catalog  # only what reads a file needs the readers

        return read_catalog(path, cls).catalog

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool, plugin by plugin."""
        return tuple(tool for plugin in self.plugins for tool in plugin.tools)

    @cached_property
    def wire_names(self) -> Mapping[str, str]:
        """The name a provider is shown, by tool id."""
        return FrozenDict(assign_wire_names(self.tools))

    @cached_property
    def shared_names(self) -> Mapping[str, tuple[str, ...]]:
        """Ids by bare name, for every name that more than one tool has, in order of appearance."""
        return FrozenDict({name: tuple(t.id for t in tools) for name, tools in self._by_name.items() if len(tools) > 1})

    @cached_property
    def switched_off(self) -> tuple[SwitchedOff, ...]:
        """What files of clients, or `toolbelt.yaml`, switch off: it is in no plugin."""
        return tuple(
            SwitchedOff(server, "" if tool == WHOLE_SERVER else tool, str(why.get("key")), str(why.get("file")))
            for server, facts in self.servers.items()
            if isinstance(facts, Mapping) and isinstance(facts.get("off"), Mapping)
            for tool, why in facts["off"].items()
            if isinstance(why, Mapping)
        )

    def find_switched_off(self, reference: str) -> SwitchedOff | None:
        """What is switched off under a name: a server, a tool, `server/tool` or a pattern of it, ignoring case."""
        plugin, stroke, rest = reference.partition("/")
        found = self.find_plugin(plugin) if stroke else None  # of a server that is split
        wanted = f"{found.server}/{rest}" if found is not None and found.server else reference
        for off in self.switched_off:
            is_within = not off.tool and matches(f"{off.server}/*", f"{wanted}/")
            if is_within or fold(wanted) == fold(off.tool) or matches(wanted, off.name):
                return off
        return None

    def find_plugin(self, name: str) -> Plugin | None:
        """The plugin of that name, ignoring case."""
        return self._plugins_by_key.get(fold(name))

    def get_plugin(self, name: str) -> Plugin:
        """The plugin of that name, ignoring case.

        Raises:
            NotFoundError: with the nearest names.
        """
        if (plugin := self.find_plugin(name)) is None:
            raise NotFoundError("plugin", name, [plugin.name for plugin in self.plugins])
        return plugin

    def get_tool(self, reference: str) -> Tool:
        """The tool of that id, `plugin/name`, bare name where only one has it, or wire name.

        Exact spelling goes before spelling that differs in case.

        Raises:
            NotFoundError: with the nearest names.
            AmbiguousNameError: with the ids of all tools of that name.
        """
        if (tool := self._by_id.get(reference)) is not None:
            return tool
        for index, key in (
            (self._by_path, reference),
            (self._by_name, reference),
            (self._by_folded, fold(reference)),
        ):
            tools = index.get(key, ())
            if len(tools) == 1:
                return tools[0]
            if tools:
                raise AmbiguousNameError(reference, [tool.id for tool in tools])
        if (tool := self.find_tool_by_wire_name(reference)) is not None:
            return tool
        raise NotFoundError("tool", reference, [*self._by_name, *self._by_id])

    def find_tool_by_wire_name(self, wire_name: str) -> Tool | None:
        """The tool a provider means when it calls `wire_name`."""
        tool_id = self._ids_by_wire_name.get(wire_name)
        return None if tool_id is None else self._by_id[tool_id]

    @cached_property
    def _plugins_by_key(self) -> dict[str, Plugin]:
        return {plugin.key: plugin for plugin in self.plugins}

    @cached_property
    def _by_id(self) -> dict[str, Tool]:
        return {tool.id: tool for tool in self.tools}

    @cached_property
    def _by_path(self) -> dict[str, list[Tool]]:
        return _grouped((tool.path, tool) for tool in self.tools)

    @cached_property
    def _by_name(self) -> dict[str, list[Tool]]:
        return _grouped((tool.name, tool) for tool in self.tools)

    @cached_property
    def _by_folded(self) -> dict[str, list[Tool]]:
        keys = ((key, tool) for tool in self.tools for key in {fold(tool.id), fold(tool.path), fold(tool.name)})
        return _grouped(keys)

    @cached_property
    def _ids_by_wire_name(self) -> dict[str, str]:
        return {wire_name: tool_id for tool_id, wire_name in self.wire_names.items()}


def _grouped(pairs: Iterable[tuple[str, Tool]]) -> dict[str, list[Tool]]:
    groups: dict[str, list[Tool]] = {}
    for key, tool in pairs:
        groups.setdefault(key, []).append(tool)
    return groups


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _all_categories(declared: Mapping[str, str], plugins: Iterable[Plugin]) -> FrozenDict:
    categories = {str(name): description for name, description in declared.items()}
    known = {fold(name) for name in categories}
    for plugin in plugins:
        category = plugin.effective_category
        if category is not None and fold(category) not in known:
            known.add(fold(category))
            categories[category] = CATEGORY_DESCRIPTIONS.get(fold(category), "")
    return FrozenDict(categories)
