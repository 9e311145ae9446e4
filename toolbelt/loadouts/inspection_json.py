"""What `--json` prints of loadouts, as dataclasses: the documents and their JSON Schema come from these fields.

The keys are stable. Dataclasses are made at each start, so these do without comparison and `repr`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from toolbelt.catalog import Plugin
from toolbelt.loadouts.fit import Component, FitVerdict, ModelFit
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.loadout import WHOLE_CATALOG
from toolbelt.loadouts.resolution import Decision, Reason, Rule
from toolbelt.loadouts.selection import Status
from toolbelt.views.json_values import Amount, Count, Share, described, json_schema, to_json

if TYPE_CHECKING:
    from toolbelt.loadouts.auto import AutoChoice

MOST_PLUGINS = 10
"""Plugins of a model's row; all are in the list of what is active."""


@dataclass(frozen=True, eq=False, repr=False)
class ReasonData:
    """An entry of a loadout that speaks about a plugin or tool."""

    loadout: str = field(metadata=described("which loadout of the chain"))
    rule: Rule = field(metadata=described("which of its rules"))
    entry: str = field(metadata=described("what is written there: a name, a category, a pattern; empty if nothing is"))
    decides: bool = field(metadata=described("whether the status rests on it; the others were overruled"))
    text: str = field(metadata=described("in words"))


@dataclass(frozen=True, eq=False, repr=False)
class ToolData:
    """A tool that is shown."""

    name: str = field(metadata=described("its name, without its plugin's"))
    id: str = field(metadata=described("its id in the catalog"))
    tokens: Count = field(metadata=described("of its definition", "tokens"))


@dataclass(frozen=True, eq=False, repr=False)
class WithheldData:
    """A tool of an active plugin that is not shown."""

    name: str = field(metadata=described("its name, without its plugin's"))
    id: str = field(metadata=described("its id in the catalog"))
    status: Status = field(metadata=described("what the loadout makes of it"))


@dataclass(frozen=True, eq=False, repr=False)
class DifferingData:
    """A tool whose status is not its plugin's: a plugin is listed by the best that becomes of any of its tools."""

    id: str = field(metadata=described("its id in the catalog"))
    plugin: str = field(metadata=described("name of its plugin"))
    status: Status = field(metadata=described("what the loadout makes of the tool"))


@dataclass(frozen=True, eq=False, repr=False)
class SwitchedOffData:
    """A server or tool that a file of a client, or `toolbelt.yaml`, switches off."""

    name: str = field(metadata=described("`server`, or `server/tool`"))
    key: str = field(metadata=described("the key that switches it off"))
    file: str = field(metadata=described("the file that has the key"))


@dataclass(frozen=True, eq=False, repr=False)
class PluginData:
    """A plugin with at least one tool shown."""

    plugin: str = field(metadata=described("its name"))
    category: str | None = field(metadata=described("its category; null if it has none"))
    reasons: tuple[ReasonData, ...] = field(metadata=described("what decided first, then what was overruled"))
    tokens: Count = field(metadata=described("of the definitions of its tools that are shown", "tokens"))
    tools: tuple[ToolData, ...] = field(metadata=described("those that are shown"))
    withheld: tuple[WithheldData, ...] = field(
        metadata=described("those that are not; left out if there are none", may_be_absent=True)
    )


@dataclass(frozen=True, eq=False, repr=False)
class TokensData:
    """What the tool definitions cost."""

    active: Count = field(metadata=described("of the tools that are shown", "tokens"))
    full: Count = field(metadata=described("of the whole catalog", "tokens"))
    saved_fraction: Share = field(metadata=described("of the whole catalog's tokens that is not spent", "share"))
    tokenizer: str = field(metadata=described("what counted"))
    exact: bool = field(metadata=described("whether that is a real tokenizer; else the counts are estimates"))


@dataclass(frozen=True, eq=False, repr=False)
class PluginTokens:
    """What the definitions of a plugin cost."""

    plugin: str = field(metadata=described("its name"))
    tokens: Count = field(metadata=described("of its definitions", "tokens"))


@dataclass(frozen=True, eq=False, repr=False)
class FitData:
    """How a toolset fits a model; null is unknown."""

    model: str = field(metadata=described("as the user named it"))
    context_window: Count | None = field(metadata=described("that a prompt takes at most", "tokens"))
    fraction: Amount | None = field(metadata=described("of the window that is taken; above 1 if too much", "share"))
    verdict: FitVerdict = field(metadata=described("whether the toolset goes with the model"))
    reasons: tuple[str, ...] = field(metadata=described("why, and what else to know, in words"))
    tokens: Count = field(
        metadata=described("of the definitions in a prompt, estimated from what `tokenizer` counted", "tokens")
    )
    error: Amount = field(metadata=described("by what part of them they may be wrong", "share"))
    tokenizer: str = field(metadata=described("what counted"))
    exact: bool = field(metadata=described("whether that is the model's own tokenizer"))
    tools: Count | None = field(metadata=described("number of tools"))
    max_tools: Count | None = field(metadata=described("the most tools that a request may hold"))
    tool_calling: bool | None = field(metadata=described("whether the model calls tools"))
    output_reserve: Count | None = field(metadata=described("kept free for an answer", "tokens"))
    room: int | None = field(
        metadata=described("left for a conversation; below 0 where the definitions are too much", "tokens")
    )
    largest: Component = field(metadata=described("what takes the most room"))
    by_plugin: tuple[PluginTokens, ...] = field(metadata=described(f"the {MOST_PLUGINS} largest, the largest first"))
    api: str | None = field(metadata=described("whose rules `tools_to_mend` is about"))
    tools_to_mend: Count = field(
        metadata=described("tools that break a rule of the API as they are sent: such a request is sure to be refused")
    )


@dataclass(frozen=True, eq=False, repr=False)
class AutoData:
    """What `auto` chose."""

    outcome: str = field(metadata=described("`catalog`, `loadout`, `none` as nothing fits, or `unknown`"))
    loadout: str | None = field(metadata=described("the loadout chosen; null for the whole catalog, or if none was"))
    tokens: Count = field(metadata=described("of its definitions; 0 where nothing was chosen", "tokens"))
    context_window: Count | None = field(metadata=described("by which it was chosen; null if unknown", "tokens"))
    reasons: tuple[str, ...] = field(metadata=described("each step taken, in order, in words"))


@dataclass(frozen=True, eq=False, repr=False)
class InspectionData:
    """What an agent with a loadout gets from a catalog, why, what it costs, and how it fits models.

    `toolbelt loadout inspect --json` prints it.
    """

    loadout: str | None = field(metadata=described("its name; null for the whole catalog, or if `auto` chose none"))
    catalog: str = field(metadata=described("name of the catalog"))
    lineage: tuple[str, ...] = field(metadata=described("the loadouts that were merged, root first"))
    active: tuple[PluginData, ...] = field(metadata=described("plugins with a tool shown, in catalog order"))
    discoverable: tuple[str, ...] = field(metadata=described("plugins that may be asked for"))
    disabled: tuple[str, ...] = field(metadata=described("plugins that are blocked"))
    hidden: tuple[str, ...] = field(metadata=described("plugins that are none of these"))
    differing_tools: tuple[DifferingData, ...] = field(metadata=described("tools whose status is not their plugin's"))
    off: tuple[SwitchedOffData, ...] = field(
        metadata=described("what files switch off, whatever the loadout; left out if nothing is", may_be_absent=True)
    )
    tokens: TokensData = field(metadata=described("what the definitions cost"))
    models: tuple[FitData, ...] = field(metadata=described("how the tools fit each model asked about"))
    auto: AutoData | None = field(
        metadata=described("the choice, where the loadout was chosen by `auto`; else left out", may_be_absent=True)
    )


_PARTS: Mapping[str, type] = MappingProxyType(
    {
        "plugin": PluginData,
        "reason": ReasonData,
        "tool": ToolData,
        "withheld_tool": WithheldData,
        "differing_tool": DifferingData,
        "switched_off": SwitchedOffData,
        "tokens": TokensData,
        "fit": FitData,
        "plugin_tokens": PluginTokens,
        "auto": AutoData,
    }
)


def inspection_schema() -> dict[str, Any]:
    """The JSON Schema of what `inspection_data` returns."""
    return json_schema(InspectionData, _PARTS)


def inspection_data(inspection: Inspection) -> dict[str, Any]:
    """An inspection as plain values."""
    resolution, choice = inspection.resolution, inspection.auto
    is_named = resolution.loadout != WHOLE_CATALOG and (choice is None or choice.loadout is not None)
    data: dict[str, Any] = to_json(
        InspectionData(
            loadout=resolution.loadout if is_named else None,
            catalog=resolution.catalog.name,
            lineage=tuple(name for name in resolution.lineage if name != WHOLE_CATALOG),
            active=tuple(_plugin(inspection, plugin) for plugin in inspection.plugins_with(Status.ACTIVE)),
            discoverable=resolution.discoverable_plugins,
            disabled=resolution.disabled_plugins,
            hidden=resolution.hidden_plugins,
            differing_tools=tuple(
                DifferingData(tool.id, plugin.name, status)
                for plugin in resolution.catalog.plugins
                for tool in plugin.tools
                if (status := resolution.tool_status(plugin, tool)) is not resolution.plugin_status(plugin)
            ),
            off=tuple(SwitchedOffData(off.name, off.key, off.file) for off in resolution.catalog.switched_off),
            tokens=TokensData(
                inspection.active_tokens,
                inspection.full_tokens,
                inspection.saved_fraction,
                inspection.tokens.tokenizer,
                inspection.tokens.exact,
            ),
            models=tuple(map(_fit, inspection.models)),
            auto=None if choice is None else _auto(choice),
        )
    )
    return data


def fit_data(fit: ModelFit) -> dict[str, Any]:
    """A fit as plain values."""
    data: dict[str, Any] = to_json(_fit(fit))
    return data


def decision_data(decision: Decision) -> dict[str, Any]:
    """A decision with its whole chain as plain values."""
    return {
        "name": decision.name,
        "kind": decision.kind,
        "plugin": decision.plugin,
        "category": decision.category,
        "status": decision.status.value,
        "reasons": to_json(_reasons(decision.reasons)),
        "chain": [
            {"loadout": step.loadout, **{rule.value: list(entries) for rule, entries in step.entries()}}
            for step in decision.chain
        ],
        "parts": {status.value: count for status, count in decision.parts},
    }


def _plugin(inspection: Inspection, plugin: Plugin) -> PluginData:
    resolution = inspection.resolution
    shown = resolution.tools_of(plugin, Status.ACTIVE)
    ids = {tool.id for tool in shown}
    return PluginData(
        plugin=plugin.name,
        category=plugin.effective_category,
        reasons=_reasons(resolution.explain_plugin(plugin).reasons),
        tokens=inspection.tokens_of(shown),
        tools=tuple(ToolData(tool.name, tool.id, inspection.tokens.by_id[tool.id]) for tool in shown),
        withheld=tuple(
            WithheldData(tool.name, tool.id, resolution.tool_status(plugin, tool))
            for tool in plugin.tools
            if tool.id not in ids
        ),
    )


def _reasons(reasons: Sequence[Reason]) -> tuple[ReasonData, ...]:
    return tuple(
        ReasonData(reason.loadout, reason.rule, reason.entry, reason.decides, str(reason)) for reason in reasons
    )


def _fit(fit: ModelFit) -> FitData:
    from toolbelt.loadouts.fit_text import describe_fit  # words that are rarely needed here

    return FitData(
        model=fit.model,
        context_window=fit.context_window,
        fraction=fit.fraction,
        verdict=fit.verdict,
        reasons=describe_fit(fit),
        tokens=fit.tokens,
        error=fit.error,
        tokenizer=fit.tokenizer,
        exact=fit.exact,
        tools=fit.tools,
        max_tools=fit.max_tools,
        tool_calling=fit.tool_calling,
        output_reserve=fit.output_reserve,
        room=fit.room,
        largest=fit.largest,
        by_plugin=tuple(PluginTokens(name, tokens) for name, tokens in fit.by_plugin[:MOST_PLUGINS]),
        api=fit.api,
        tools_to_mend=fit.to_repair,
    )


def _auto(choice: AutoChoice) -> AutoData:
    from toolbelt.loadouts.reason_text import describe_choice  # likewise

    return AutoData(
        outcome=choice.outcome.value,
        loadout=choice.loadout.name if choice.loadout and choice.loadout.name != WHOLE_CATALOG else None,
        tokens=choice.tokens,
        context_window=choice.window,
        reasons=describe_choice(choice),
    )
