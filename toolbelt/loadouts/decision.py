"""Why a plugin or tool is where it is: the chain, level by level and rule by rule (rule L8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from toolbelt.catalog import Plugin, Tool
from toolbelt.loadouts.loadout import ToolLoadout
from toolbelt.loadouts.selection import Status
from toolbelt.patterns import fold, matches


class Rule(StrEnum):
    """What in a loadout spoke about a plugin or tool; the first that speaks decides."""

    DISABLED = "disabled"
    NAMED = "named"
    CATEGORY = "category"
    DISCOVERABLE = "discoverable"
    UNMATCHED = "unmatched"


_PHRASES = {
    Rule.DISABLED: "{loadout} disables {entry!r}",
    Rule.NAMED: "{loadout} names {entry!r}",
    Rule.CATEGORY: "{loadout} includes the category {entry!r}",
    Rule.DISCOVERABLE: "{loadout} makes {entry!r} discoverable",
    Rule.UNMATCHED: "nothing in {loadout} makes it active or discoverable",
}
_STATUS_OF_RULE = {
    Rule.DISABLED: Status.DISABLED,
    Rule.NAMED: Status.ACTIVE,
    Rule.CATEGORY: Status.ACTIVE,
    Rule.DISCOVERABLE: Status.DISCOVERABLE,
    Rule.UNMATCHED: Status.HIDDEN,
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One entry of one loadout that speaks about a plugin or tool.

    Attributes:
        loadout: Which of the chain.
        rule: Which of its rules.
        entry: What is written there: a name, a category, a pattern; empty if nothing is.
        decides: Whether the status rests on it; the others were overruled.
    """

    loadout: str
    rule: Rule
    entry: str
    decides: bool = True

    def __str__(self) -> str:
        return _PHRASES[self.rule].format(loadout=self.loadout, entry=self.entry)


@dataclass(frozen=True)
class Step:
    """What one loadout of the chain says about a plugin or tool, rule by rule.

    Attributes:
        loadout: Its name.
        entries: The matching entries by rule; empty where the rule does not speak.
    """

    loadout: str
    disabled: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    discoverable: tuple[str, ...] = ()

    def entries(self) -> Iterable[tuple[Rule, tuple[str, ...]]]:
        """Rules in the order in which they decide, each with what matched."""
        yield Rule.DISABLED, self.disabled
        yield Rule.NAMED, self.named
        yield Rule.CATEGORY, self.category
        yield Rule.DISCOVERABLE, self.discoverable


@dataclass(frozen=True)
class Decision:
    """What became of one plugin or tool, and why.

    Attributes:
        name: The plugin's name or the tool's id.
        kind: `plugin` or `tool`.
        plugin: The plugin it is, or is of.
        category: That plugin's; `None` if it has none.
        status: Active, discoverable, disabled or hidden.
        reasons: What decided first, then what was overruled; never empty.
        chain: What each loadout says, root first.
        parts: For a plugin whose tools differ, how many are active, discoverable, ...
    """

    name: str
    kind: str
    plugin: str
    category: str | None
    status: Status
    reasons: tuple[Reason, ...]
    chain: tuple[Step, ...]
    parts: tuple[tuple[Status, int], ...] = ()


def trace(chain: Sequence[ToolLoadout], plugin: Plugin, tools: Iterable[Tool]) -> tuple[Step, ...]:
    """What each loadout says about `plugin` as a whole and about any of `tools`, root first."""
    names = tuple(fold(tool.name) for tool in tools)
    return tuple(
        Step(
            loadout.name,
            disabled=_speaking(loadout.disabled_plugins, plugin, names),
            named=_speaking(loadout.default_plugins, plugin, names),
            category=tuple(sorted(e for e in loadout.included_categories if fold(e) == plugin.category_key)),
            discoverable=_speaking(loadout.discoverable_patterns, plugin, names, patterns=True),
        )
        for loadout in chain
    )


def reasons_for(status: Status, chain: Sequence[Step], unresolved: str) -> tuple[Reason, ...]:
    """Every matching entry, those that decide `status` first.

    Args:
        status: What was decided.
        chain: Every level's say.
        unresolved: The loadout asked for, to be named where the chain is empty.
    """
    spoken = [
        Reason(step.loadout, rule, entry, decides=_STATUS_OF_RULE[rule] is status)
        for step in chain
        for rule, entries in step.entries()
        for entry in entries
    ]
    spoken.sort(key=lambda reason: not reason.decides)
    if any(reason.decides for reason in spoken):
        return tuple(spoken)
    silent = tuple(Reason(step.loadout, Rule.UNMATCHED, "") for step in chain)
    return (*(silent or (Reason(unresolved, Rule.UNMATCHED, ""),)), *spoken)


def _speaking(
    entries: Iterable[str], plugin: Plugin, tool_names: Sequence[str], patterns: bool = False
) -> tuple[str, ...]:
    """The entries that name the plugin, or address one of its tools; `patterns` may match plugins as prefixes.

    Of a plugin whose tools are not known, every entry that addresses a tool speaks.
    """
    start = f"{plugin.key}/"
    return tuple(
        sorted(
            entry
            for entry in entries
            if (matches(entry, plugin.name) if patterns else fold(entry) == plugin.key)
            or (
                fold(entry).startswith(start)
                and (not plugin.tools or any(matches(fold(entry)[len(start) :], name) for name in tool_names))
            )
        )
    )
