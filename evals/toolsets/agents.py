"""The project's agents, and what they have of a catalog (rule D1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.errors import AmbiguousNameError, NotFoundError, Suggester
from toolbelt.patterns import fold
from toolbelt.sessions.agent import AgentSpec
from toolbelt.tiers import own_meta_tools
from toolbelt.toolkits.expand import EntryMatch, expand_entry
from toolbelt.toolkits.switching import find_switched_off
from toolbelt.toolkits.toolkit import Toolkit


def find_agent(name: str, agents: Sequence[AgentSpec]) -> AgentSpec:
    """The agent of that name, spelled exactly or else but for its case.

    Raises:
        NotFoundError: with the nearest name.
        AmbiguousNameError: several that differ in case alone.
    """
    matching = [agent for agent in agents if agent.name == name] or [
        agent for agent in agents if fold(agent.name) == fold(name)
    ]
    if len(matching) > 1:
        raise AmbiguousNameError(name, [agent.name for agent in matching])
    if not matching:
        hint = "" if agents else "There are no agents in this project; write them under 'agents' in toolbelt.yaml."
        raise NotFoundError("agent", name, [agent.name for agent in agents], hint)
    return matching[0]


def match_agent(agent: AgentSpec, toolkits: Sequence[Toolkit], catalog: Catalog) -> dict[str, EntryMatch]:
    """What a catalog has of what an agent has or may load, by entry, in order.

    Without the catalog's own meta-tools, which load in another way, and what the agent's switches take away.
    """
    switched = find_switched_off(toolkits, catalog, agent.tools_config)
    left_out = frozenset(own_meta_tools(catalog)) | switched.tools
    entries = dict.fromkeys((*agent.tools, *switched.on_tools))
    for toolkit in toolkits:
        is_there = toolkit.key in agent.allowed_toolkits or toolkit.key in switched.on_toolkits
        entries |= dict.fromkeys(toolkit.member_tools if is_there else ())
    suggest = Suggester()
    matched = {entry: expand_entry(entry, catalog, suggest) for entry in entries}
    return {
        entry: replace(match, tools=tuple(tool for tool in match.tools if tool.id not in left_out))
        for entry, match in matched.items()
    }


def has_tools(matched: Mapping[str, EntryMatch]) -> bool:
    """Whether a catalog has anything for an agent, as `match_agent` found it."""
    return any(match.tools for match in matched.values())


def describe_agents(agents: Iterable[AgentSpec], toolkits: Iterable[Toolkit]) -> str:
    """All that a toolset takes from the project's agents and toolkits, as one text, another for each project."""
    described = [
        (
            *(each.name, each.tools, each.allowed_toolkits, each.initial_toolkits, _plain(each.overrides)),
            *((_plain(each.tools_config),) if each.tools_config else ()),  # runs of before had none
        )
        for each in agents
    ]
    bundles = [
        (each.key, each.description, each.member_tools, _plain(each.overrides), *((True,) if each.default_on else ()))
        for each in toolkits
    ]
    return repr((described, bundles))


def _plain(value: Any) -> Any:
    """What YAML may hold, in a form whose `repr` is the same in every process."""
    if isinstance(value, Mapping):
        return sorted((repr(key), _plain(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return sorted(map(repr, value)) if isinstance(value, set | frozenset) else value
