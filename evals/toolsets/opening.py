"""Toolsets from their names: names and patterns are looked up in the project, then the toolset is made (rule E1)."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import cast

from toolbelt.catalog import Catalog
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.agents import find_agent, has_tools, match_agent
from toolbelt.evals.toolsets.spec import TOOLSETS, NameOf, ToolsetKind, ToolsetSpec, parse_toolset, toolset_forms
from toolbelt.evals.toolsets.toolset import Toolset, ToolsetContext
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.patterns import fold, is_prefix_pattern, matches
from toolbelt.search.presets import parse_search
from toolbelt.search.settings import SearchSettings
from toolbelt.sessions.agent import AgentSpec
from toolbelt.toolkits.toolkit import Toolkit

ToolsetFactory = Callable[[ToolsetSpec, ToolsetContext], Toolset]


@dataclass(frozen=True, eq=False)
class _Names:
    """What a toolset's name may refer to."""

    catalog: Catalog
    registry: ToolLoadoutRegistry
    agents: tuple[AgentSpec, ...]
    toolkits: tuple[Toolkit, ...]
    searches: Mapping[str, SearchSettings]


def make_toolset(spec: ToolsetSpec, context: ToolsetContext) -> Toolset:
    """The toolset that a spec describes.

    Args:
        spec: Which; a pattern that stands for several is for `expand_toolsets`.
        context: What it is made from.

    Raises:
        NotFoundError: no such loadout or agent.
        ToolbeltError: nothing of the catalog would ever be shown.
    """
    names = _Names(context.catalog, context.registry, context.agents, context.toolkits, context.searches)
    module, _, attribute = TOOLSETS[spec.kind].factory.partition(":")
    factory = cast("ToolsetFactory", getattr(importlib.import_module(module), attribute))
    return factory(_look_up(spec, names), context)


def expand_toolsets(
    texts: Iterable[str],
    catalog: Catalog,
    registry: ToolLoadoutRegistry,
    agents: Iterable[AgentSpec] = (),
    toolkits: Iterable[Toolkit] = (),
    searches: Mapping[str, SearchSettings] = MappingProxyType({}),
) -> tuple[ToolsetSpec, ...]:
    """The toolsets that are meant, each once, with names as the project spells them.

    Args:
        texts: As given, each possibly several with commas between. `loadout:*` and `loadout:dev*` stand for every
            loadout of such a name (rule L4) that makes something of the catalog active, in the registry's order;
            `dynamic:*` for every agent that has something of it.
        catalog: Over which they will be used.
        registry: Every loadout there is.
        agents: Of the project.
        toolkits: Of the project.
        searches: Search toolsets of the project, by name.

    Raises:
        NotFoundError: no such toolset, loadout or agent.
        ToolbeltError: a name is malformed, a pattern stands for nothing, or there is no name at all.
    """
    parts = [name for text in texts for part in text.split(",") if (name := part.strip())]
    if not parts:
        raise ToolbeltError(f"No toolset is named. There are: {', '.join(toolset_forms())}.")
    names = _Names(catalog, registry, tuple(agents), tuple(toolkits), searches)
    specs = [_parse(name, names) for name in parts]
    return tuple(dict.fromkeys(expanded for spec in specs for expanded in _expand(spec, names)))


def _parse(text: str, names: _Names) -> ToolsetSpec:
    try:
        return parse_toolset(text)
    except NotFoundError as error:
        if error.kind != "toolset":  # of a search: a key, a value or a ranker
            raise
        raise NotFoundError("toolset", text, toolset_forms(), _hint(text, names)) from None


def _hint(text: str, names: _Names) -> str:
    """What to write where a loadout or an agent is called as no toolset is."""
    if (loadout := names.registry.get_loadout(text.strip())) is not None:
        return f"For the loadout of that name write '{ToolsetSpec(ToolsetKind.LOADOUT, loadout.name)}'."
    agent = next((agent.name for agent in names.agents if fold(agent.name) == fold(text)), None)
    return f"For the agent of that name write '{ToolsetSpec(ToolsetKind.DYNAMIC, agent)}'." if agent else ""


def _look_up(spec: ToolsetSpec, names: _Names) -> ToolsetSpec:
    """With the loadout or agent as the project spells it.

    Raises:
        NotFoundError: there is none.
    """
    if not spec.name or spec.is_auto or TOOLSETS[spec.kind].name_of is NameOf.METHOD:
        return spec
    if spec.kind is ToolsetKind.SEARCH:
        settings = parse_search(spec.name, names.searches)
        if settings.pinned_loadout is not None:
            names.registry.require_loadout(settings.pinned_loadout)
        return replace(spec, name=str(settings))
    if TOOLSETS[spec.kind].name_of is NameOf.LOADOUT:
        return replace(spec, name=names.registry.require_loadout(spec.name).name)
    return replace(spec, name=find_agent(spec.name, names.agents).name)


def _expand(spec: ToolsetSpec, names: _Names) -> tuple[ToolsetSpec, ...]:
    """Every toolset that a pattern stands for; a loadout or agent that is called like a pattern is itself."""
    if not is_prefix_pattern(spec.name):
        return (_look_up(spec, names),)
    match TOOLSETS[spec.kind].name_of:
        case NameOf.LOADOUT if names.registry.get_loadout(spec.name) is None:
            matching = _match(spec, NameOf.LOADOUT, [loadout.name for loadout in names.registry.get_all()])
            useful = [name for name in matching if names.registry.resolve(name, names.catalog).active_tools]
        case NameOf.AGENT if fold(spec.name) not in {fold(agent.name) for agent in names.agents}:
            agents = {agent.name: agent for agent in names.agents}
            matching = _match(spec, NameOf.AGENT, agents)
            useful = [name for name in matching if has_tools(match_agent(agents[name], names.toolkits, names.catalog))]
        case _:
            return (_look_up(spec, names),)
    if not useful:
        raise ToolbeltError(
            f"None of the {TOOLSETS[spec.kind].name_of}s that '{spec}' matches has a tool of catalog "
            f"{names.catalog.name!r}: {', '.join(matching)}."
        )
    return tuple(replace(spec, name=name) for name in useful)


def _match(spec: ToolsetSpec, name_of: NameOf, known: Iterable[str]) -> list[str]:
    matching = [name for name in known if matches(spec.name, name)]
    if not matching:
        raise NotFoundError(name_of.value, spec.name, known)
    return matching
