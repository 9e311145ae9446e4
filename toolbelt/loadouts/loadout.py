"""The loadout: a named selection of tools (rule L3)."""

from __future__ import annotations

from dataclasses import dataclass

from toolbelt.catalog import Catalog, ToolCategory
from toolbelt.errors import InvalidDefinitionError

AUTO = "auto"
"""The name that asks for a choice rather than naming a loadout (rule L15)."""
WHOLE_CATALOG = "the whole catalog"
"""What stands for a loadout's name where there is none."""


@dataclass(frozen=True)
class ToolLoadout:
    """A named, immutable selection of plugins and tools.

    Entries of `default_plugins`, `discoverable_patterns` and `disabled_plugins` name a plugin, or one tool as
    `plugin/tool` or `plugin/prefix*` (rule L9). Comparison ignores case everywhere.

    Attributes:
        name: Not blank.
        parent_loadout_name: What it inherits from; `None` for a root.
        default_plugins: Active by name.
        included_categories: Plugins of these categories are active.
        discoverable_patterns: What may be asked for; a trailing `*` makes a prefix (rule L4).
        disabled_plugins: Blocked, whatever includes them, here or at any other level.
        description: What it is for.

    Raises:
        InvalidDefinitionError: the name is blank, or an entry is no text.
    """

    name: str
    parent_loadout_name: str | None = None
    default_plugins: frozenset[str] = frozenset()
    included_categories: frozenset[str] = frozenset()
    discoverable_patterns: tuple[str, ...] = ()
    disabled_plugins: frozenset[str] = frozenset()
    description: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidDefinitionError(f"A loadout's name must be text that is not blank, not {self.name!r}.")
        object.__setattr__(self, "name", str.__str__(self.name))  # a plain text, also of an enum's member
        if self.parent_loadout_name is not None:
            if not isinstance(self.parent_loadout_name, str):
                raise InvalidDefinitionError(f"The parent of loadout {self.name!r} must be named by text.")
            object.__setattr__(self, "parent_loadout_name", str.__str__(self.parent_loadout_name))
        for part in ("default_plugins", "included_categories", "disabled_plugins"):
            object.__setattr__(self, part, frozenset(self._texts(part)))
        # A list that repeats itself says nothing more.
        patterns = tuple(dict.fromkeys(self._texts("discoverable_patterns")))
        object.__setattr__(self, "discoverable_patterns", patterns)

    def _texts(self, part: str) -> list[str]:
        entries = getattr(self, part)
        if isinstance(entries, str):
            raise InvalidDefinitionError(f"The {part} of loadout {self.name!r} must be a collection, not one text.")
        made = [_category_text(entry) if part == "included_categories" else entry for entry in entries]
        if wrong := [entry for entry in made if not isinstance(entry, str)]:
            raise InvalidDefinitionError(f"The {part} of loadout {self.name!r} must be texts, not {wrong[0]!r}.")
        return [str.__str__(entry) for entry in made]


def whole_catalog(catalog: Catalog) -> ToolLoadout:
    """What an agent without a loadout has: every plugin, by name."""
    return ToolLoadout(WHOLE_CATALOG, default_plugins=frozenset(plugin.name for plugin in catalog.plugins))


def _category_text(category: object) -> object:
    """A well-known category in its own spelling, whatever the case; another as given."""
    if not isinstance(category, str):
        return category
    known = ToolCategory._missing_(category)
    return category.strip() if known is None else known.value
