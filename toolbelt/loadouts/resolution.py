"""What a loadout makes of a catalog: the status of every plugin and tool, with its reasons (rule L8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import NotFoundError
from toolbelt.loadouts.loadout import ToolLoadout
from toolbelt.loadouts.selection import ALL_PLUGINS, MergedLoadouts, Status, active_tools
from toolbelt.patterns import fold, matches


class Rule(StrEnum):
    """What in a loadout spoke about a plugin or tool; the first that speaks decides."""

    SWITCHED_OFF = "switched_off"
    """Not of a loadout: a file of a client, or `toolbelt.yaml`."""
    DISABLED = "disabled"
    NAMED = "named"
    CATEGORY = "category"
    DISCOVERABLE = "discoverable"
    UNMATCHED = "unmatched"


_PHRASES = {
    Rule.SWITCHED_OFF: "{entry}, whatever {loadout} has",
    Rule.DISABLED: "{loadout} disables {entry!r}",
    Rule.NAMED: "{loadout} names {entry!r}",
    Rule.CATEGORY: "{loadout} includes the category {entry!r}",
    Rule.DISCOVERABLE: "{loadout} makes {entry!r} discoverable",
    Rule.UNMATCHED: "nothing in {loadout} makes it active or discoverable",
}
_STATUS_OF_RULE = {
    Rule.SWITCHED_OFF: Status.DISABLED,
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
    """The entries of one loadout of the chain that match a plugin or tool, rule by rule.

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
        chain: The rules of each loadout, root first.
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
            named=_speaking(loadout.default_plugins, plugin, names, everything=ALL_PLUGINS),
            category=tuple(sorted(e for e in loadout.included_categories if fold(e) == plugin.category_key)),
            discoverable=_speaking(loadout.discoverable_patterns, plugin, names, patterns=True),
        )
        for loadout in chain
    )


def reasons_for(status: Status, chain: Sequence[Step], unresolved: str) -> tuple[Reason, ...]:
    """Every matching entry, those that decide `status` first.

    Args:
        status: The decision.
        chain: The rules of every loadout.
        unresolved: The loadout asked for, to be named where the chain is empty.
    """
    given_reasons = [
        Reason(step.loadout, rule, entry, decides=_STATUS_OF_RULE[rule] is status)
        for step in chain
        for rule, entries in step.entries()
        for entry in entries
    ]
    given_reasons.sort(key=lambda reason: not reason.decides)
    if any(reason.decides for reason in given_reasons):
        return tuple(given_reasons)
    silent = tuple(Reason(step.loadout, Rule.UNMATCHED, "") for step in chain)
    return (*(silent or (Reason(unresolved, Rule.UNMATCHED, ""),)), *given_reasons)


def _speaking(
    entries: Iterable[str],
    plugin: Plugin,
    tool_names: Sequence[str],
    patterns: bool = False,
    everything: str | None = None,
) -> tuple[str, ...]:
    """The entries that name the plugin, or address one of its tools; `patterns` may match plugins as prefixes.

    The entry `everything` names every plugin.

    Of a plugin whose tools are not known, every entry that addresses a tool speaks.
    """
    start = f"{plugin.key}/"
    return tuple(
        sorted(
            entry
            for entry in entries
            if (matches(entry, plugin.name) if patterns else fold(entry) == plugin.key)
            or entry == everything
            or (
                fold(entry).startswith(start)
                and (not plugin.tools or any(matches(fold(entry)[len(start) :], name) for name in tool_names))
            )
        )
    )


@dataclass(frozen=True, eq=False, repr=False)
class Resolution:
    """Every plugin and tool of a catalog, decided.

    Attributes:
        loadout: The name asked for.
        chain: The loadouts that were merged, root first; empty if the name is unknown, and all is hidden then.
        catalog: What was decided about.
        broken: Why the chain ended early, `None` if it did not.
    """

    loadout: str
    chain: tuple[ToolLoadout, ...]
    catalog: Catalog
    broken: str | None = None

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self.tools_with(status))} {status.value}" for status in Status)
        return f"<Resolution {self.loadout!r} over catalog {self.catalog.name!r}: {counts} tools>"

    @property
    def lineage(self) -> tuple[str, ...]:
        """Names of the chain, root first."""
        return tuple(loadout.name for loadout in self.chain)

    @property
    def active_plugins(self) -> tuple[str, ...]:
        """Names of plugins with at least one tool shown, in catalog order."""
        return self._plugins_by_status[Status.ACTIVE]

    @property
    def discoverable_plugins(self) -> tuple[str, ...]:
        """Names of plugins that may be asked for."""
        return self._plugins_by_status[Status.DISCOVERABLE]

    @property
    def disabled_plugins(self) -> tuple[str, ...]:
        """Names of plugins that are blocked."""
        return self._plugins_by_status[Status.DISABLED]

    @property
    def hidden_plugins(self) -> tuple[str, ...]:
        """Names of plugins that are neither shown, nor to be asked for, nor blocked."""
        return self._plugins_by_status[Status.HIDDEN]

    @cached_property
    def active_tools(self) -> tuple[Tool, ...]:
        """The tools that are shown, in catalog order."""
        return () if self._selection is None else active_tools(self._selection, self.catalog.plugins)

    def tools_with(self, status: Status) -> tuple[Tool, ...]:
        """The tools of that status, in catalog order."""
        return self.active_tools if status is Status.ACTIVE else self._tools_by_status[status]

    def tools_of(self, plugin: Plugin, status: Status) -> tuple[Tool, ...]:
        """The tools of one plugin that have that status."""
        return tuple(tool for tool in plugin.tools if self.tool_status(plugin, tool) is status)

    def plugin_status(self, plugin: Plugin) -> Status:
        """The status of a plugin."""
        return Status.HIDDEN if self._selection is None else self._selection.plugin_status(plugin)

    def tool_status(self, plugin: Plugin, tool: Tool) -> Status:
        """The status of a tool."""
        return Status.HIDDEN if self._selection is None else self._selection.tool_status(plugin, tool)

    def why(self, name: str) -> Decision:
        """What became of a plugin or tool, and why.

        Args:
            name: A plugin's name, else a tool's id, `plugin/name`, or bare name that one tool alone has.

        Raises:
            NotFoundError: neither a plugin nor a tool, with the nearest names of both.
            AmbiguousNameError: several tools have the name.
        """
        if (plugin := self.catalog.find_plugin(name)) is not None:
            return self.explain_plugin(plugin)
        try:
            tool = self.catalog.get_tool(name)
        except NotFoundError as error:
            if (off := self.catalog.find_switched_off(name)) is not None:
                reason, kind = Reason(self.loadout, Rule.SWITCHED_OFF, off.why), "tool" if off.tool else "server"
                return Decision(off.name, kind, off.server, None, Status.DISABLED, (reason,), ())
            known = [*(plugin.name for plugin in self.catalog.plugins), *error.known]
            raise NotFoundError("plugin or tool", name, known) from None
        return self._explain_tool(tool)

    def explain_plugin(self, plugin: Plugin) -> Decision:
        """The status of a plugin, with its reasons."""
        status = self.plugin_status(plugin)
        steps = trace(self.chain, plugin, plugin.tools)
        parts = Counter(self.tool_status(plugin, tool) for tool in plugin.tools)
        return Decision(
            name=plugin.name,
            kind="plugin",
            plugin=plugin.name,
            category=plugin.effective_category,
            status=status,
            reasons=reasons_for(status, steps, self.loadout),
            chain=steps,
            parts=tuple((part, parts[part]) for part in Status if parts[part]) if len(parts) > 1 else (),
        )

    def _explain_tool(self, tool: Tool) -> Decision:
        plugin = self.catalog.get_plugin(tool.plugin or "")
        status = self.tool_status(plugin, tool)
        steps = trace(self.chain, plugin, (tool,))
        return Decision(
            name=tool.id,
            kind="tool",
            plugin=plugin.name,
            category=plugin.effective_category,
            status=status,
            reasons=reasons_for(status, steps, self.loadout),
            chain=steps,
        )

    @cached_property
    def _selection(self) -> MergedLoadouts | None:
        return MergedLoadouts.of(self.chain)

    @cached_property
    def _plugins_by_status(self) -> dict[Status, tuple[str, ...]]:
        by_status: dict[Status, list[str]] = {status: [] for status in Status}
        for plugin in self.catalog.plugins:
            by_status[self.plugin_status(plugin)].append(plugin.name)
        return {status: tuple(names) for status, names in by_status.items()}

    @cached_property
    def _tools_by_status(self) -> dict[Status, tuple[Tool, ...]]:
        by_status: dict[Status, list[Tool]] = {status: [] for status in Status}
        for plugin in self.catalog.plugins:
            for tool in plugin.tools:
                by_status[self.tool_status(plugin, tool)].append(tool)
        return {status: tuple(tools) for status, tools in by_status.items()}
