"""An agent whose tools may change from turn to turn, and how `toolbelt.yaml` describes it (rule D1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import InvalidDefinitionError
from toolbelt.findings import Finding
from toolbelt.patterns import find_name_problem, fold
from toolbelt.sessions.bundles import ActiveTool, Bundle
from toolbelt.sources import Document, Key
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.sources.section import Section
from toolbelt.toolkits.reader import read_entries
from toolbelt.toolkits.switches import require_mapping
from toolbelt.toolkits.toolkit import Toolkit, as_names, repeated, require_overrides


@dataclass(frozen=True)
class AgentSpec:
    """The configuration of an agent.

    toolbelt only stores and shows `display_name`, `role`, `model` and `rooms`, for the application that runs the agent;
    `system` is for evals; the other attributes decide its tools.

    Attributes:
        name: Not blank.
        tools: Its static tools: plugins, or tools as `plugin/tool`, in order.
        allowed_toolkits: Toolkits that it may load, in order.
        initial_toolkits: Allowed toolkits that each session starts with and cannot unload.
        overrides: Of tools, by entry of `tools`; frozen.
        tools_config: Its switches (rules K2, K8): keys of toolkits and tools, each true or false; frozen. What is
            switched off it does not have; `toolbelt.toolkits.switching.find_switched_off` decides that.
        system: Its system prompt, which an eval sends; empty for none.
        search: How it finds those of its tools that it is not shown, as after `search:` (rules S1, S4); empty if it is
            shown all of them.
        display_name: For people; by default the name.
        role: Its purpose.
        model: The model that it runs on.
        rooms: The rooms that it is in.

    Raises:
        InvalidDefinitionError: a name that is blank or not text, a duplicate, an initial toolkit that is not allowed,
            overrides for an entry that is not in `tools`, a `tools_config` that is no mapping.
    """

    name: str
    tools: tuple[str, ...] = ()
    allowed_toolkits: tuple[str, ...] = ()
    initial_toolkits: tuple[str, ...] = ()
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=FrozenDict)
    display_name: str = ""
    role: str = ""
    model: str = ""
    rooms: tuple[str, ...] = ()
    tools_config: Mapping[str, Any] = field(default_factory=FrozenDict)
    search: str = ""
    system: str = ""

    def __post_init__(self) -> None:
        if (problem := find_name_problem(self.name)) is not None:
            raise InvalidDefinitionError(f"The name of an agent {problem}.")
        object.__setattr__(self, "display_name", self.display_name or self.name)
        object.__setattr__(self, "overrides", freeze(self.overrides))
        object.__setattr__(self, "tools_config", freeze(require_mapping(self.tools_config)))
        for part in ("tools", "allowed_toolkits", "initial_toolkits", "rooms"):
            names = as_names(getattr(self, part))
            object.__setattr__(self, part, names)
            for name in names:
                if (problem := find_name_problem(name)) is not None:
                    raise InvalidDefinitionError(f"A name in {part} of agent {self.name!r} {problem}.")
            if twice := repeated(names):
                raise InvalidDefinitionError(f"{part} of agent {self.name!r} names these twice: {', '.join(twice)}.")
        allowed, tools = frozenset(self.allowed_toolkits), frozenset(self.tools)
        if wrong := [name for name in self.initial_toolkits if name not in allowed]:
            raise InvalidDefinitionError(
                f"initial_toolkits of agent {self.name!r} are not among its allowed_toolkits: {', '.join(wrong)}."
            )
        if wrong := [name for name in self.overrides if name not in tools]:
            raise InvalidDefinitionError(f"Agent {self.name!r} has overrides for no tool of its: {', '.join(wrong)}.")
        require_overrides(f"agent {self.name!r}", self.overrides)


AGENT_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "display_name": KeySpec(Kind.TEXT, "What people call it; its name if left out.", ("label", "name", "title")),
        "role": KeySpec(Kind.PROSE, "What it is for.", ("description",)),
        "model": KeySpec(Kind.TEXT, "What it runs on."),
        "tools": KeySpec(
            Kind.ENTRIES,
            "What it always has: plugins, or tools as `plugin/tool`, each a name or `name: {overrides}`.",
            ("static_tools", "member_tools"),
        ),
        "allowed_toolkits": KeySpec(
            Kind.NAMES, "Toolkits it may load and unload itself, in the order shown to it.", ("toolkits", "allowed")
        ),
        "initial_toolkits": KeySpec(
            Kind.NAMES, "Toolkits that each of its sessions starts with and cannot unload; allowed ones.", ("initial",)
        ),
        "search": KeySpec(
            Kind.TEXT,
            "How it finds those of its tools that it is not shown: a search toolset of this file, or as an eval has it "
            "after `search:`, such as `fastmcp:k=8`.",
        ),
        "system": KeySpec(
            Kind.PROSE,
            "Its system prompt, or a file of it relative to this one; `toolbelt eval run` sends it where the agent is "
            "the toolset.",
            ("system_prompt", "prompt", "instructions"),
        ),
        "rooms": KeySpec(Kind.NAMES, "Where it takes part."),
        "tools_config": KeySpec(
            Kind.SWITCHES,
            "Its switches: keys of toolkits and tools, each true or false; or a JSON or YAML file of them, relative to "
            "this one. What is switched off it does not have and cannot load.",
            ("toolsConfig", "switches"),
        ),
    }
)
"""The keys of an agent; each is the field of `AgentSpec` of that name."""
_MAX_SHOWN_CHARS = 60
"""Characters of overrides that a message shows."""
ReadSwitches = Callable[[Section], Mapping[str, Any]]
"""From the place of a `tools_config` that names a file, what the file holds; mistakes are kept by whoever reads it."""


def _read_no_file(section: Section) -> Mapping[str, Any]:
    section.add_wrong_type("a mapping; there is no folder to read a file from")
    return {}


def read_agents(
    document: Document, *path: Key, toolkits: Sequence[Toolkit], read_switches: ReadSwitches = _read_no_file
) -> tuple[list[AgentSpec], list[Finding]]:
    """The agents of a mapping from name to definition, and the findings on them.

    Args:
        document: The file.
        path: Where in it the mapping stands; nothing there is no agents.
        toolkits: Those there are.
        read_switches: Reads the file that a `tools_config` names.
    """
    section = Section.of(document, *path)
    known = {toolkit.key: toolkit for toolkit in toolkits}
    agents = [_read_agent(name, agent, known, read_switches) for name, agent in section.read_members("agent")]
    return agents, section.findings


def _read_agent(name: str, section: Section, toolkits: Mapping[str, Toolkit], read_switches: ReadSwitches) -> AgentSpec:
    fields: dict[str, Any] = {}
    written = section.read_fields(AGENT_KEYS, "agent")
    for key, value in written.items():
        match AGENT_KEYS[key].kind:
            case Kind.ENTRIES:
                fields["tools"], fields["overrides"] = read_entries(value)
            case Kind.SWITCHES:
                fields[key] = _read_tools_config(value, read_switches)
            case Kind.NAMES if key != "initial_toolkits":
                known = toolkits if key == "allowed_toolkits" else None
                names = value.read_names(None, known, "toolkit")
                fields[key] = tuple(name for name, item in names.items() if item.is_name(name))
            case Kind.TEXT | Kind.PROSE as kind:
                fields[key] = value.read_text(blank=kind is Kind.PROSE) or ""
    agent = AgentSpec(name, **fields)
    initial = _read_initial(written["initial_toolkits"], agent, toolkits) if "initial_toolkits" in written else ()
    return replace(agent, initial_toolkits=initial)


def check_switches(section: Section) -> None:
    """Add a finding for each switch that is neither true, false nor null, which K2 would take for absent."""
    for key, value in section.value.items() if isinstance(section.value, dict) else ():
        if value is not None:
            section.child(key).read_bool()


def _read_tools_config(section: Section, read_switches: ReadSwitches) -> Mapping[str, Any]:
    if isinstance(section.value, str) and section.value.strip():
        return read_switches(section)
    switches = section.read_mapping(wanted=Kind.SWITCHES.value) or {}
    check_switches(section)
    return switches


def _read_initial(section: Section, agent: AgentSpec, toolkits: Mapping[str, Toolkit]) -> tuple[str, ...]:
    sections: dict[str, Section] = {}
    for name, item in section.read_names(None, toolkits, "toolkit").items():
        if name in agent.allowed_toolkits:
            sections[name] = item
        else:
            message = f"{item.label}: {name!r} is not among the agent's `allowed_toolkits`; add it there."
            item.add_error("initial-not-allowed", message)
    _refuse_conflicts(
        agent, {name: (toolkits[name], sections[name]) for name in agent.allowed_toolkits if name in sections}
    )
    return tuple(sections)


def _refuse_conflicts(agent: AgentSpec, initial: Mapping[str, tuple[Toolkit, Section]]) -> None:
    """Reports initial toolkits that conflict (rule D6), as far as that is known without a catalog."""
    active = dict(Bundle.of(agent.tools, agent.overrides, _as_compared, None).tools)
    for toolkit, section in initial.values():
        bundle = Bundle.of(toolkit.member_tools, toolkit.overrides, _as_compared, toolkit.key)
        if (conflict := bundle.find_conflict(active)) is not None:
            other = "the agent's own `tools`" if conflict.existing.toolkit is None else f"toolkit {conflict.holder!r}"
            sides = f"{_shown(conflict.coming)} in the one, {_shown(conflict.existing)} in the other"
            message = f"toolkit {toolkit.key!r} and {other} give {conflict.coming.key!r} different overrides: {sides}."
            section.add_error("conflict", f"{section.label}: {message}")
        active = {**bundle.tools, **active}


def _as_compared(entry: str) -> tuple[str, ...]:
    return (fold(entry),)


def _shown(tool: ActiveTool) -> str:
    text = json.dumps(tool.overrides, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
