"""Everything there is to say about a project's toolkits over a catalog: what they hold, cost, say and switch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.catalog.frozen import FrozenDict, thaw
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.errors import NotFoundError
from toolbelt.toolkits.directive import DirectiveRules, directive
from toolbelt.toolkits.expand import EntryMatch, ExpandedToolkits, Unmatched, expand_entry, expand_toolkits, expander
from toolbelt.toolkits.policy import PolicyText, build_policy_section, find_named_members
from toolbelt.toolkits.switch_decisions import ConfigNote, SwitchDecision
from toolbelt.toolkits.toolkit import Directive, Toolkit


@dataclass(frozen=True, eq=False, repr=False)
class ToolkitInspection:
    """A project's toolkits over a catalog, counted.

    Attributes:
        written: As the project's file has them.
        expanded: Over the tools of the catalog.
        tokens: The cost of every tool of the catalog.
    """

    written: tuple[Toolkit, ...]
    expanded: ExpandedToolkits
    tokens: ToolTokens

    @classmethod
    def of(cls, toolkits: Iterable[Toolkit], catalog: Catalog, tokens: ToolTokens) -> ToolkitInspection:
        """Toolkits over a catalog.

        Raises:
            InvalidDefinitionError: a toolkit has the id of a tool as its key.
        """
        written = tuple(toolkits)
        return cls(written, expand_toolkits(written, catalog), tokens)

    def get_toolkit(self, key: str) -> Toolkit:
        """The toolkit of that key as written.

        Raises:
            NotFoundError: with the nearest keys.
        """
        written = next((toolkit for toolkit in self.written if toolkit.key == key), None)
        if written is None:
            raise NotFoundError("toolkit", key, [toolkit.key for toolkit in self.written])
        return written

    def tool_ids(self, toolkit: Toolkit) -> tuple[str, ...]:
        """Ids of the tools a toolkit makes of the catalog."""
        return self.expanded.catalog.get_toolkit(toolkit.key).member_tools

    def entries(self, toolkit: Toolkit) -> tuple[EntryMatch, ...]:
        """What each entry of a toolkit stands for."""
        return tuple(expand_entry(entry, self.expanded.source) for entry in toolkit.member_tools)

    def unmatched(self, toolkit: Toolkit) -> tuple[Unmatched, ...]:
        """Entries of a toolkit that match nothing."""
        return tuple(missing for missing in self.expanded.unmatched if missing.toolkit == toolkit.key)

    def doubts(self, toolkit: Toolkit) -> tuple[str, ...]:
        """What of a toolkit's members may not be meant as it stands, each in a sentence."""
        overlaps = (overlap.message for overlap in self.expanded.overlaps if overlap.toolkit == toolkit.key)
        return (*(missing.message for missing in self.unmatched(toolkit)), *overlaps)

    def policy(self, toolkit: Toolkit) -> tuple[str | None, str | None]:
        """A toolkit's prompt text where all of its tools are available, and where none is."""
        expanded, names = self.expanded.catalog.get_toolkit(toolkit.key), self.expanded.source.wire_names
        return build_policy_section(expanded, expanded.member_tools, names), build_policy_section(expanded, (), names)

    def named_in_policy(self, toolkit: Toolkit) -> tuple[str, ...]:
        """Members that the policy names whether they are available or not, against rule K4."""
        if not isinstance(toolkit.policy, PolicyText):
            return ()
        return find_named_members(toolkit.policy.text, (*toolkit.member_tools, *self.tool_ids(toolkit)))

    def list_data(self, agents: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """All toolkits as plain values.

        Args:
            agents: By toolkit, the agents that may load it.
        """
        rows = [
            {
                "toolkit": toolkit.key,
                "label": toolkit.label,
                "description": toolkit.description,
                "default_on": toolkit.default_on,
                "members": list(toolkit.member_tools),
                "tools": len(self.tool_ids(toolkit)),
                "tokens": self.tokens.of(self.tool_ids(toolkit)),
                "unmatched": [missing.entry for missing in self.unmatched(toolkit)],
                "agents": list(agents.get(toolkit.key, ())),
            }
            for toolkit in self.written
        ]
        return {"catalog": self.expanded.source.name, "tokens": self._tokens_data(), "toolkits": rows}

    def toolkit_data(self, toolkit: Toolkit, agents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """One toolkit as plain values.

        Args:
            toolkit: As written.
            agents: Those that may load it, as plain values.
        """
        text, unavailable = self.policy(toolkit)
        expanded = self.expanded.catalog.get_toolkit(toolkit.key)
        return {
            "toolkit": toolkit.key,
            "label": toolkit.label,
            "description": toolkit.description,
            "default_on": toolkit.default_on,
            "catalog": self.expanded.source.name,
            "members": [self._entry_data(toolkit, match) for match in self.entries(toolkit)],
            "tokens": {"toolkit": self.tokens.of(expanded.member_tools), **self._tokens_data()},
            "policy": {"text": text, "unavailable": unavailable},
            "directive": _rules_data(toolkit, self.expanded.source),
            "agents": [dict(agent) for agent in agents],
        }

    def _entry_data(self, toolkit: Toolkit, match: EntryMatch) -> dict[str, Any]:
        return {
            "entry": match.entry,
            "overrides": thaw(toolkit.overrides.get(match.entry, {})),
            "tools": [{"id": tool.id, "tokens": self.tokens.by_id[tool.id]} for tool in match.tools],
            "tokens": self.tokens.of([tool.id for tool in match.tools]),
            "message": match.message,
        }

    def _tokens_data(self) -> dict[str, Any]:
        return {"full": self.tokens.total, "tokenizer": self.tokens.tokenizer, "exact": self.tokens.exact}


@dataclass(frozen=True, eq=False, repr=False)
class SwitchInspection:
    """What a config switches, tool by tool.

    Attributes:
        inspection: The toolkits.
        config: As written.
        shows_all: Whether tools in no toolkit are included.
        message: A message of a user, for the directives; `None` for none.
        agents: By toolkit, the agents that may load it, whatever its switch says.
        decide: From what the switches decide to what an agent has at the start of a session; unchanged for no agent.
        started: Keys of the toolkits that it has then; `None` for no agent.
    """

    inspection: ToolkitInspection
    config: Mapping[str, Any]
    shows_all: bool
    message: str | None
    agents: Mapping[str, Sequence[str]] = field(default_factory=FrozenDict)
    decide: Callable[[SwitchDecision], SwitchDecision] = lambda decision: decision
    started: Collection[str] | None = None

    @cached_property
    def _read(self) -> tuple[dict[str, Any], tuple[ConfigNote, ...]]:
        return self.inspection.expanded.read_config(self.config)

    @property
    def notes(self) -> tuple[ConfigNote, ...]:
        """What of the config does not do what it seems to."""
        return self._read[1]

    @cached_property
    def decisions(self) -> tuple[SwitchDecision, ...]:
        """What decided about each tool: toolkit by toolkit, then those in none."""
        catalog, (config, _) = self.inspection.expanded.catalog, self._read
        shown = [member for toolkit in catalog.toolkits for member in toolkit.member_tools]
        if self.shows_all:
            shown += [tool.key for tool in catalog.tools]
        return tuple(self.decide(catalog.decide(key, config)) for key in dict.fromkeys(shown))

    @property
    def enabled(self) -> tuple[str, ...]:
        """Ids of the included tools that are on."""
        return tuple(decision.tool for decision in self.decisions if decision.enabled)

    @cached_property
    def directive(self) -> Directive | None:
        """What the message narrows a request to; `None` for nothing."""
        if self.message is None:
            return None
        toolkits, started = self.inspection.expanded.catalog.toolkits, self.started
        there = [toolkit for toolkit in toolkits if started is None or toolkit.key in started]
        return directive(self.message, there, self.enabled)

    def switches(self) -> list[dict[str, Any]]:
        """The switch of each toolkit (rule K3), as plain values."""
        catalog, (config, _) = self.inspection.expanded.catalog, self._read
        enabled = frozenset(self.enabled)
        return [
            {
                "toolkit": toolkit.key,
                "label": toolkit.label,
                "on": catalog.toolkit_switch(toolkit.key, config),
                "value": config.get(toolkit.key) if type(config.get(toolkit.key)) is bool else None,
                "default_on": toolkit.default_on,
                "tools": len(toolkit.member_tools),
                "enabled": sum(member in enabled for member in toolkit.member_tools),
                "agents": list(self.agents.get(toolkit.key, ())),
            }
            for toolkit in catalog.toolkits
        ]

    def to_dict(self) -> dict[str, Any]:
        """The stable form for `--json`."""
        tokens, shown = self.inspection.tokens, [decision.tool for decision in self.decisions]
        on = tokens.of(self.enabled)
        return {
            "catalog": self.inspection.expanded.source.name,
            "toolkits": self.switches(),
            "tools": [
                {**decision_data(decision), "tokens": tokens.by_id[decision.tool]} for decision in self.decisions
            ],
            "tokens": {
                "on": on,
                "off": tokens.of(shown) - on,
                "full": tokens.total,
                "tokenizer": tokens.tokenizer,
                "exact": tokens.exact,
            },
            "notes": [{"key": note.key, "rule": note.rule, "message": note.message} for note in self.notes],
            "directive": None if self.message is None else self._directive_data(self.message),
        }

    def _directive_data(self, message: str) -> dict[str, Any]:
        narrowed = self.directive
        active = self.enabled if narrowed is None else narrowed.active_tools
        return {
            "message": message,
            "applies": narrowed is not None,
            "active_tools": list(active),
            "tool_choice": None if narrowed is None else narrowed.tool_choice,
            "tokens": self.inspection.tokens.of(active),
        }


def decision_data(decision: SwitchDecision) -> dict[str, Any]:
    """What decided about a tool, as plain values."""
    return {
        "id": decision.tool,
        "enabled": decision.enabled,
        "rule": decision.rule.value,
        "key": decision.key,
        "value": decision.value,
        "toolkits": list(decision.toolkits),
        "reason": decision.reason,
    }


def _rules_data(written: Toolkit, catalog: Catalog) -> list[dict[str, Any]]:
    """The rules as written, each with the tools it stands for."""
    if not isinstance(written.directive, DirectiveRules):
        return []
    expand = expander(catalog)
    rows = []
    for rule in written.directive.rules:
        members = rule.tools or written.member_tools
        tools = dict.fromkeys(tool_id for member in members for tool_id in expand(member))
        rows.append(
            {"when": list(rule.when), "members": list(members), "tools": list(tools), "tool_choice": rule.tool_choice}
        )
    return rows
