"""The loadout, a named selection of tools (rule L3), and its builder (rule L6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from toolbelt.catalog import Catalog, ToolCategory
from toolbelt.errors import InvalidDefinitionError
from toolbelt.patterns import find_name_problem

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
        name: Not blank; no name here is, nor has it an invisible character.
        parent_loadout_name: What it inherits from; `None` for a root.
        default_plugins: Active by name.
        included_categories: Plugins of these categories are active.
        discoverable_patterns: What may be asked for; a trailing `*` makes a prefix (rule L4).
        disabled_plugins: Blocked, whatever includes them, here or at any other level.
        description: What it is for.
        resources: Whether a gateway offers the resources and prompts of its servers, too (rule M6); `False` at any
            level omits them.

    Raises:
        InvalidDefinitionError: a name, of the loadout or of an entry, that is no text, is blank or has an invisible
            character.
    """

    name: str
    parent_loadout_name: str | None = None
    default_plugins: frozenset[str] = frozenset()
    included_categories: frozenset[str] = frozenset()
    discoverable_patterns: tuple[str, ...] = ()
    disabled_plugins: frozenset[str] = frozenset()
    description: str = ""
    resources: bool = True

    def __post_init__(self) -> None:
        if (problem := find_name_problem(self.name)) is not None:
            raise InvalidDefinitionError(f"A loadout's name {problem}.")
        object.__setattr__(self, "name", str.__str__(self.name))  # a plain text, also of an enum's member
        if self.parent_loadout_name is not None:
            if (problem := find_name_problem(self.parent_loadout_name)) is not None:
                raise InvalidDefinitionError(f"The parent of loadout {self.name!r} {problem}.")
            object.__setattr__(self, "parent_loadout_name", str.__str__(self.parent_loadout_name))
        for part in ("default_plugins", "included_categories", "disabled_plugins"):
            object.__setattr__(self, part, frozenset(self._texts(part)))
        # A list that repeats itself says nothing more.
        patterns = tuple(dict.fromkeys(self._texts("discoverable_patterns")))
        object.__setattr__(self, "discoverable_patterns", patterns)

    def _texts(self, part: str) -> list[str]:
        entries = getattr(self, part)
        if isinstance(entries, str) or not isinstance(entries, Iterable):
            raise InvalidDefinitionError(
                f"The {part} of loadout {self.name!r} must be a list of names, not {entries!r}."
            )
        texts = [_category_text(entry) if part == "included_categories" else entry for entry in entries]
        for entry in texts:
            if (problem := find_name_problem(entry)) is not None:
                raise InvalidDefinitionError(f"An entry in {part} of loadout {self.name!r} {problem}.")
        return [str.__str__(entry) for entry in texts]


def whole_catalog(catalog: Catalog) -> ToolLoadout:
    """What an agent without a loadout has: every plugin, by name."""
    return ToolLoadout(WHOLE_CATALOG, default_plugins=frozenset(plugin.name for plugin in catalog.plugins))


def _category_text(category: object) -> object:
    """A well-known category in its own spelling, whatever the case; another as given."""
    if not isinstance(category, str):
        return category
    known = ToolCategory._missing_(category)
    return category.strip() if known is None else known.value


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
        return self._set(included_categories=(*self._loadout.included_categories, category))

    def add_plugin(self, name: str) -> Self:
        """Make a plugin, or the tool `plugin/tool`, active by name."""
        return self._set(default_plugins=(*self._loadout.default_plugins, name))

    def add_discoverable(self, pattern: str) -> Self:
        """Let what matches `pattern` be asked for."""
        return self._set(discoverable_patterns=(*self._loadout.discoverable_patterns, pattern))

    def disable(self, name: str) -> Self:
        """Block a plugin, or the tool `plugin/tool`, for this loadout and all that extend it."""
        return self._set(disabled_plugins=(*self._loadout.disabled_plugins, name))

    def describe(self, description: str) -> Self:
        """Say what the loadout is for."""
        return self._set(description=description)

    def build(self) -> ToolLoadout:
        """The loadout as it stands now."""
        return self._loadout

    def _set(self, **changes: object) -> Self:
        self._loadout = replace(self._loadout, **changes)  # type: ignore[arg-type]
        return self
