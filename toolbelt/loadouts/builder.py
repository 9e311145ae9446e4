"""Loadouts step by step (rule L6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from toolbelt.catalog import ToolCategory
from toolbelt.loadouts.loadout import ToolLoadout


class ToolLoadoutBuilder:
    """Builds a `ToolLoadout` step by step (rule L6).

    Each step returns the builder. Built loadouts are values: building twice, or going on after `build()`,
    never changes one.

        ToolLoadoutBuilder.create("reviewer").extends("developer").include_category("security").build()
    """

    def __init__(self, loadout: ToolLoadout) -> None:
        self._loadout = loadout

    @classmethod
    def create(cls, name: str) -> Self:
        """Start a loadout.

        Raises:
            InvalidDefinitionError: the name is blank.
        """
        return cls(ToolLoadout(name))

    def extends(self, parent_name: str | None) -> Self:
        """Inherit from `parent_name`, or from nothing; the last call wins."""
        return self._set(parent_loadout_name=parent_name)

    def include_category(self, category: str | ToolCategory) -> Self:
        """Make every plugin of `category` active."""
        return self._set(included_categories=self._loadout.included_categories | {category})

    def add_plugin(self, name: str) -> Self:
        """Make a plugin, or the tool `plugin/tool`, active by name."""
        return self._set(default_plugins=self._loadout.default_plugins | {name})

    def add_discoverable(self, pattern: str) -> Self:
        """Let what matches `pattern` be asked for."""
        return self._set(discoverable_patterns=(*self._loadout.discoverable_patterns, pattern))

    def disable(self, name: str) -> Self:
        """Block a plugin, or the tool `plugin/tool`, for this loadout and all that extend it."""
        return self._set(disabled_plugins=self._loadout.disabled_plugins | {name})

    def describe(self, description: str) -> Self:
        """Say what the loadout is for."""
        return self._set(description=description)

    def build(self) -> ToolLoadout:
        """The loadout as it stands now."""
        return self._loadout

    def _set(self, **changes: object) -> Self:
        self._loadout = replace(self._loadout, **changes)  # type: ignore[arg-type]
        return self
