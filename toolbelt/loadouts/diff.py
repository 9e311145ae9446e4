"""What changes for an agent between two loadouts, or two versions of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts.resolution import Resolution
from toolbelt.loadouts.selection import Status


@dataclass(frozen=True)
class Change:
    """A plugin or tool whose status differs.

    Attributes:
        name: The plugin's name or the tool's id.
        plugin: The plugin it is, or is of.
        before: Under the first.
        after: Under the second.
    """

    name: str
    plugin: str
    before: Status
    after: Status

    @property
    def appears(self) -> bool:
        """Whether the agent sees it now and did not before."""
        return self.after is Status.ACTIVE

    @property
    def disappears(self) -> bool:
        """Whether the agent saw it before and does not now."""
        return self.before is Status.ACTIVE


@dataclass(frozen=True)
class LoadoutDiff:
    """Two resolutions compared.

    Attributes:
        a: Label of the first.
        b: Label of the second.
        plugins: Those whose status differs, in catalog order.
        tools: Tools whose status differs.
        tokens_a: Of the first's active tools.
        tokens_b: Of the second's.
        tokenizer: What counted.
    """

    a: str
    b: str
    plugins: tuple[Change, ...]
    tools: tuple[Change, ...]
    tokens_a: int
    tokens_b: int
    tokenizer: str

    @property
    def is_same(self) -> bool:
        """Whether nothing differs for an agent."""
        return not self.plugins and not self.tools and self.tokens_a == self.tokens_b

    def to_dict(self) -> dict[str, Any]:
        """The stable form for `--json`."""
        return {
            "a": self.a,
            "b": self.b,
            "same": self.is_same,
            "plugins": _changes(self.plugins),
            "tools": _changes(self.tools),
            "tokens": {
                "a": self.tokens_a,
                "b": self.tokens_b,
                "difference": self.tokens_b - self.tokens_a,
                "tokenizer": self.tokenizer,
            },
        }


def diff_resolutions(
    before: Resolution, after: Resolution, tokens: ToolTokens, labels: tuple[str, str] | None = None
) -> LoadoutDiff:
    """Compare two resolutions over the same catalog.

    Args:
        before: The first.
        after: The second.
        tokens: Of that catalog.
        labels: What to call them; their loadouts' names if `None`.
    """
    a, b = labels or (before.loadout, after.loadout)
    return LoadoutDiff(
        a=a,
        b=b,
        plugins=_differing(_plugin_statuses(before), _plugin_statuses(after)),
        tools=_differing(_tool_statuses(before), _tool_statuses(after)),
        tokens_a=tokens.of([tool.id for tool in before.active_tools]),
        tokens_b=tokens.of([tool.id for tool in after.active_tools]),
        tokenizer=tokens.tokenizer,
    )


Statuses = dict[str, tuple[str, Status]]
"""Plugin and status by name."""


def _plugin_statuses(resolution: Resolution) -> Statuses:
    return {plugin.name: (plugin.name, resolution.plugin_status(plugin)) for plugin in resolution.catalog.plugins}


def _tool_statuses(resolution: Resolution) -> Statuses:
    return {
        tool.id: (plugin.name, resolution.tool_status(plugin, tool))
        for plugin in resolution.catalog.plugins
        for tool in plugin.tools
    }


def _differing(before: Statuses, after: Statuses) -> tuple[Change, ...]:
    """Both over the same catalog, so that the names are the same."""
    changes = (Change(name, plugin, status, after[name][1]) for name, (plugin, status) in before.items())
    return tuple(change for change in changes if change.before is not change.after)


def _changes(changes: Sequence[Change]) -> dict[str, list[Any]]:
    return {
        "added": [change.name for change in changes if change.appears],
        "removed": [change.name for change in changes if change.disappears],
        "changed": [
            {
                "name": change.name,
                "before": change.before.value,
                "after": change.after.value,
            }
            for change in changes
        ],
    }
