"""Everything there is to say about a loadout over a catalog: what, why, how much, and on which models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts.fit import ModelFit
from toolbelt.loadouts.loadout import ToolLoadout
from toolbelt.loadouts.resolution import Resolution
from toolbelt.loadouts.selection import Status
from toolbelt.patterns import fold

if TYPE_CHECKING:
    from toolbelt.loadouts.auto import AutoChoice


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
    written = {key: value for key, value in data.items() if value}
    return written if loadout.resources else {**written, "resources": False}
