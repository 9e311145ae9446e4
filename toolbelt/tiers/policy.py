"""Tiers as a policy of a session (rules T1 to T4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import AmbiguousNameError, NotFoundError
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import ToolResult
from toolbelt.sessions.policy import Selection, SessionPolicy, Stage
from toolbelt.tiers.meta_tools import MetaTools, TierMetaRole, own_meta_tools
from toolbelt.tiers.tiers import LoadedCategories, Tiers


class TierPolicy(SessionPolicy):
    """Core tools are shown; the others come by category, with the next request, and go when the turn ends.

    Tiers save context and are no permissions: a call of a tool that is not loaded runs, unless `enforce`.

    Attributes:
        loaded: Names of the categories that are loaded in this turn, in order.

    Args:
        catalog: Has the core, and the categories with their descriptions; the tools are those of the session. `None`
            for no core, and the well-known categories. A core tool of its own that is a meta-tool (rule T1) gives the
            policy's its definition; where it is registered, the policy's takes its place.
        enforce: Whether calls of tools that are not loaded are refused.
    """

    name = "tiers"
    stage = Stage.CONTEXT

    def __init__(self, catalog: Catalog | None = None, *, enforce: bool = False) -> None:
        self.loaded: LoadedCategories = ()
        self._catalog = Catalog() if catalog is None else catalog
        self._enforce = enforce
        self._tools = ToolRegistry()
        self._tiers = self._whole = Tiers(Catalog())
        self._ids: Mapping[str, str] = {}
        self._names: Mapping[str, str] = {}
        self._replaced: frozenset[str] = frozenset()
        meta = MetaTools.of(self._catalog)
        self._meta_tools = (meta.browse, meta.load)

    @property
    def meta_tools(self) -> Sequence[Tool]:
        """The two of rule T2."""
        return self._meta_tools

    def begin_turn(self, tools: ToolRegistry) -> Sequence[str]:
        """Forget what was loaded."""
        self.loaded = ()
        if self._tools is not tools:
            registered = tools.catalog
            self._ids = {tool.name: tool.id for tool in registered.tools}
            self._names = {tool.id: tool.name for tool in registered.tools}
            plugins = tuple(_with_category(plugin, self._catalog) for plugin in registered.plugins)
            core = tuple(_find_core(self._catalog, registered))
            catalog = Catalog(plugins, categories=self._catalog.categories, core=core)
            names = {tool.id: name for name, tool in MetaTools.of(catalog).extras.items()}
            names.update((tool_id, tools.wire_names[name]) for tool_id, name in self._names.items())
            self._replaced = frozenset(self._names[tool_id] for tool_id in own_meta_tools(catalog))
            self._whole = Tiers(catalog, names=names)
        self._tools = tools
        return ()

    def select(self, given: Selection) -> Selection:
        """The core and what the model asked for, then each loaded category (rule T3)."""
        self._tiers = self._whole.within(self._ids[name] for name in given.callable)
        shown_ids = self._tiers.tool_ids(category for category in self.loaded if category in self._tiers.categories)
        shown = dict.fromkeys(name for tool_id in shown_ids if (name := self._names.get(tool_id)) is not None)
        shown.update(dict.fromkeys(name for name in given.shown if name in given.requested))
        for name in self._replaced:
            shown.pop(name, None)
        rest = tuple(name for name in given.callable if name not in shown and name not in self._replaced)
        waiting = (*given.waiting, *(rest if self._enforce else ()))
        return Selection(tuple(shown), () if self._enforce else rest, waiting, given.requested)

    async def answer(self, meta_tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """An answer of rule T2 as JSON."""
        answer, self.loaded = self._tiers.call(TierMetaRole(meta_tool), arguments, self.loaded)
        return ToolResult(ok=True, value=json.dumps(answer, ensure_ascii=False), structured=answer)

    def explain(self, tool: str) -> str | None:
        """Which category has the tool, and whether it is loaded from the next request on."""
        category = next((tier.name for tier in self._tiers.tiers if self._ids.get(tool) in tier.tool_ids), None)
        if category is None:
            return None
        name = self._tools.wire_names[tool]
        if category in self.loaded:
            return f"{name} is available from your next message on; call it again then."
        return f'{name} is not loaded. Call {TierMetaRole.LOAD} with {{"category": {json.dumps(category)}}} first.'


def _with_category(plugin: Plugin, catalog: Catalog) -> Plugin:
    """With the category that the catalog has for a plugin of that name, if it is registered without one."""
    known = catalog.find_plugin(plugin.name) if plugin.category is None else None
    return plugin if known is None else replace(plugin, category=known.category)


def _find_core(catalog: Catalog, registered: Catalog) -> list[str]:
    """Ids of the core tools that are registered, by id, `plugin/name` or a name that only one tool has."""
    core: dict[str, None] = {}
    for tool_id in catalog.core:
        tool = catalog.get_tool(tool_id)
        for reference in (tool.id, tool.path, tool.name):
            try:
                core.setdefault(registered.get_tool(reference).id)
                break
            except (NotFoundError, AmbiguousNameError):
                continue
    return list(core)
