"""Everything there is to say about a loadout over a catalog: what, why, how much, and on which models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.loadout import WHOLE_CATALOG, ToolLoadout
from toolbelt.loadouts.resolution import Decision, Reason, Resolution
from toolbelt.loadouts.selection import Status
from toolbelt.patterns import fold

if TYPE_CHECKING:
    from toolbelt.loadouts.auto import AutoChoice

MOST_PLUGINS = 10
"""Plugins of a model's row; all are in the list of what is active."""


@dataclass(frozen=True, eq=False, repr=False)
class Inspection:
    """A loadout over a catalog, counted.

    Attributes:
        resolution: What the loadout makes of the catalog.
        tokens: The cost of every tool of the catalog.
        models: How the active tools fit each model asked about.
        auto: The choice, where the loadout was chosen by `auto`.
    """

    resolution: Resolution
    tokens: ToolTokens
    models: tuple[ModelFit, ...] = ()
    auto: AutoChoice | None = None

    @property
    def active_tokens(self) -> int:
        """Tokens of what is shown."""
        return self.tokens_of(self.resolution.active_tools)

    @property
    def full_tokens(self) -> int:
        """Tokens of the whole catalog."""
        return self.tokens.total

    @property
    def saved_fraction(self) -> float:
        """Share of the whole catalog's tokens that is not spent, 0 to 1; 0 for an empty catalog."""
        return 1 - self.active_tokens / self.full_tokens if self.full_tokens else 0.0

    @property
    def is_empty(self) -> bool:
        """Whether the loadout matches nothing of this catalog."""
        return not self.resolution.active_tools

    def tokens_of(self, tools: Iterable[Tool]) -> int:
        """Tokens of some tools together."""
        return self.tokens.of([tool.id for tool in tools])

    def plugins_with(self, status: Status) -> tuple[Plugin, ...]:
        """Plugins of that status, in catalog order."""
        plugins = self.resolution.catalog.plugins
        return tuple(plugin for plugin in plugins if self.resolution.plugin_status(plugin) is status)

    def by_category(self) -> dict[str | None, tuple[Plugin, ...]]:
        """Active plugins by category, in the catalog's order of categories; `None` holds those without one."""
        groups: dict[str | None, list[Plugin]] = {category: [] for category in self.resolution.catalog.categories}
        groups[None] = []
        spelled = {fold(category): category for category in self.resolution.catalog.categories}
        for plugin in self.plugins_with(Status.ACTIVE):
            groups[spelled.get(plugin.category_key or "")].append(plugin)
        return {category: tuple(plugins) for category, plugins in groups.items() if plugins}

    def to_dict(self) -> dict[str, Any]:
        """The stable form for `--json`."""
        resolution = self.resolution
        data: dict[str, Any] = {
            "loadout": None if resolution.loadout == WHOLE_CATALOG else resolution.loadout,
            "catalog": resolution.catalog.name,
            "lineage": [name for name in resolution.lineage if name != WHOLE_CATALOG],
            "active": [self._active_plugin(plugin) for plugin in self.plugins_with(Status.ACTIVE)],
            "discoverable": list(resolution.discoverable_plugins),
            "disabled": list(resolution.disabled_plugins),
            "hidden": list(resolution.hidden_plugins),
            "differing_tools": self._differing_tools(),
            "tokens": {
                "active": self.active_tokens,
                "full": self.full_tokens,
                "saved_fraction": self.saved_fraction,
                "tokenizer": self.tokens.tokenizer,
                "exact": self.tokens.exact,
            },
            "models": [fit_data(fit) for fit in self.models],
        }
        if self.auto is not None:
            data["auto"] = auto_data(self.auto)
        return data

    def _differing_tools(self) -> list[dict[str, str]]:
        """Tools that fare otherwise than their plugin, which is listed by the best that becomes of any."""
        resolution = self.resolution
        return [
            {"id": tool.id, "plugin": plugin.name, "status": status.value}
            for plugin in resolution.catalog.plugins
            for tool in plugin.tools
            if (status := resolution.tool_status(plugin, tool)) is not resolution.plugin_status(plugin)
        ]

    def _active_plugin(self, plugin: Plugin) -> dict[str, Any]:
        shown = self.resolution.tools_of(plugin, Status.ACTIVE)
        decision = self.resolution.explain_plugin(plugin)
        data: dict[str, Any] = {
            "plugin": plugin.name,
            "category": plugin.effective_category,
            "reasons": [reason_data(reason) for reason in decision.reasons],
            "tokens": self.tokens_of(shown),
            "tools": [{"name": tool.name, "id": tool.id, "tokens": self.tokens.by_id[tool.id]} for tool in shown],
        }
        ids = {tool.id for tool in shown}
        if withheld := [tool for tool in plugin.tools if tool.id not in ids]:
            data["withheld"] = [
                {"name": tool.name, "id": tool.id, "status": self.resolution.tool_status(plugin, tool).value}
                for tool in withheld
            ]
        return data


def auto_data(choice: AutoChoice) -> dict[str, Any]:
    """An automatic choice as plain values."""
    return {
        "outcome": choice.outcome.value,
        "loadout": choice.loadout.name if choice.loadout and choice.loadout.name != WHOLE_CATALOG else None,
        "tokens": choice.tokens,
        "context_window": choice.window,
        "reasons": list(choice.reasons),
    }


def fit_data(fit: ModelFit) -> dict[str, Any]:
    """A model's row as plain values."""
    return {
        "model": fit.model,
        "context_window": fit.context_window,
        "fraction": fit.fraction,
        "verdict": fit.verdict.value,
        "reasons": list(fit.reasons),
        "tokens": fit.tokens,
        "tokenizer": fit.tokenizer,
        "exact": fit.exact,
        "tools": fit.tools,
        "max_tools": fit.max_tools,
        "tool_calling": fit.tool_calling,
        "output_reserve": fit.output_reserve,
        "room": fit.room,
        "largest": fit.largest.value.replace(" ", "_"),
        "by_plugin": [{"plugin": name, "tokens": tokens} for name, tokens in fit.by_plugin[:MOST_PLUGINS]],
        "api": fit.api,
        "tools_to_mend": fit.to_mend,
    }


def reason_data(reason: Reason) -> dict[str, Any]:
    """A reason as plain values."""
    return {
        "loadout": reason.loadout,
        "rule": reason.rule.value,
        "entry": reason.entry,
        "decides": reason.decides,
        "text": str(reason),
    }


def decision_data(decision: Decision) -> dict[str, Any]:
    """A decision with its whole chain as plain values."""
    return {
        "name": decision.name,
        "kind": decision.kind,
        "plugin": decision.plugin,
        "category": decision.category,
        "status": decision.status.value,
        "reasons": [reason_data(reason) for reason in decision.reasons],
        "chain": [
            {"loadout": step.loadout, **{rule.value: list(entries) for rule, entries in step.entries()}}
            for step in decision.chain
        ],
        "parts": {status.value: count for status, count in decision.parts},
    }


def loadout_data(loadout: ToolLoadout) -> dict[str, Any]:
    """A loadout's definition under the keys of `toolbelt.yaml`; what is empty is left out."""
    data: dict[str, Any] = {
        "description": loadout.description,
        "extends": loadout.parent_loadout_name,
        "categories": sorted(loadout.included_categories),
        "plugins": sorted(loadout.default_plugins),
        "discoverable": list(loadout.discoverable_patterns),
        "disabled": sorted(loadout.disabled_plugins),
    }
    return {key: value for key, value in data.items() if value}
