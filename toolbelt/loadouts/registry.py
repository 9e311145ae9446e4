"""All loadouts by name, the five built-in ones first, and what each resolves to (rules L5, L7, L8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from toolbelt.catalog import Catalog, Plugin, ToolCategory
from toolbelt.errors import InvalidDefinitionError, NotFoundError, require_items
from toolbelt.loadouts.loadout import ToolLoadout
from toolbelt.loadouts.resolution import Resolution
from toolbelt.loadouts.selection import active_names, discoverable_names
from toolbelt.patterns import fold


class WellKnownLoadouts(StrEnum):
    """Names of the five built-in loadouts (rule L5)."""

    MINIMAL = "minimal"
    DEVELOPER = "developer"
    RESEARCH = "research"
    DEVOPS = "devops"
    FULL = "full"


BUILT_IN_LOADOUTS: tuple[ToolLoadout, ...] = (
    ToolLoadout(
        WellKnownLoadouts.MINIMAL,
        default_plugins=frozenset({"think"}),
        included_categories=frozenset({ToolCategory.FILESYSTEM, ToolCategory.SHELL}),
        discoverable_patterns=("*",),
        description="Files, a shell and room to think; everything else on request.",
    ),
    ToolLoadout(
        WellKnownLoadouts.DEVELOPER,
        WellKnownLoadouts.MINIMAL,
        included_categories=frozenset(
            {
                ToolCategory.GIT,
                ToolCategory.GITHUB,
                ToolCategory.SEARCH,
                ToolCategory.ANALYSIS,
                ToolCategory.MEMORY,
            }
        ),
        discoverable_patterns=("docker*", "mcp*"),
        description="Writing, reviewing and shipping code.",
    ),
    ToolLoadout(
        WellKnownLoadouts.RESEARCH,
        WellKnownLoadouts.MINIMAL,
        included_categories=frozenset(
            {ToolCategory.SEARCH, ToolCategory.WEB, ToolCategory.MEMORY, ToolCategory.MULTIMODAL}
        ),
        description="Finding, reading and remembering.",
    ),
    ToolLoadout(
        WellKnownLoadouts.DEVOPS,
        WellKnownLoadouts.MINIMAL,
        included_categories=frozenset({ToolCategory.GIT, ToolCategory.NETWORK, ToolCategory.SCHEDULING}),
        discoverable_patterns=("docker*", "kube*", "terraform*"),
        description="Machines, schedules and deployments.",
    ),
    ToolLoadout(
        WellKnownLoadouts.FULL,
        included_categories=frozenset(ToolCategory),
        description="All 13 categories.",
    ),
)
"""The five built-in loadouts (rule L5)."""


@dataclass(frozen=True)
class Lineage:
    """A loadout and what it inherits from.

    Attributes:
        name: What was asked for.
        loadouts: Root first, the one asked for last; empty if it is unknown.
        broken: Why the chain ended before a root was reached: an unknown parent, or a cycle; `None` if it did not.
    """

    name: str
    loadouts: tuple[ToolLoadout, ...]
    broken: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names, root first."""
        return tuple(loadout.name for loadout in self.loadouts)


class ToolLoadoutRegistry:
    """Holds loadouts by name, ignoring case; starts with the five built-in ones.

    Example:
        >>> from toolbelt import Catalog, Plugin, Tool, ToolLoadout, ToolLoadoutRegistry
        >>> catalog = Catalog([Plugin("git", [Tool("git_status"), Tool("git_push")])])
        >>> registry = ToolLoadoutRegistry([ToolLoadout("reader", default_plugins=["git/git_status"])])
        >>> [tool.name for tool in registry.resolve("reader", catalog).active_tools]
        ['git_status']

    Args:
        loadouts: Registered after those, in order.
    """

    def __init__(self, loadouts: Iterable[ToolLoadout] = ()) -> None:
        self._by_key: dict[str, ToolLoadout] = {}
        for loadout in (*BUILT_IN_LOADOUTS, *require_items("The loadouts of a registry", loadouts, ToolLoadout)):
            self.register(loadout)

    def register(self, loadout: ToolLoadout) -> None:
        """Add `loadout`; one of the same name is overwritten where it stands."""
        if not isinstance(loadout, ToolLoadout):
            raise InvalidDefinitionError(f"What is registered is a ToolLoadout, not of type {type(loadout).__name__}.")
        self._by_key[fold(loadout.name)] = loadout

    def get_loadout(self, name: str) -> ToolLoadout | None:
        """The loadout of that name, `None` if there is none."""
        return self._by_key.get(_key(name))

    def require_loadout(self, name: str) -> ToolLoadout:
        """The loadout of that name.

        Raises:
            NotFoundError: with the nearest names.
        """
        if (loadout := self.get_loadout(name)) is None:
            raise NotFoundError("loadout", name, [known.name for known in self.get_all()])
        return loadout

    def get_all(self) -> tuple[ToolLoadout, ...]:
        """Every loadout, in order of registration."""
        return tuple(self._by_key.values())

    def trace_lineage(self, name: str) -> Lineage:
        """The chain of `name`; a revisit or an unknown parent ends it without an exception (rule L7)."""
        chain: list[ToolLoadout] = []
        visited: set[str] = set()
        current: str | None = name
        broken = None
        while current is not None:
            loadout = self._by_key.get(_key(current))
            if fold(current) in visited:
                broken = f"cycle: {' → '.join([*(link.name for link in chain), current])}"
                break
            if loadout is None:
                broken = f"unknown parent {current!r}" if chain else f"unknown loadout {current!r}"
                break
            visited.add(fold(current))
            chain.append(loadout)
            current = loadout.parent_loadout_name
        return Lineage(name, tuple(reversed(chain)), broken)

    def resolve_active_plugins(self, name: str, available: Iterable[Plugin | str]) -> tuple[str, ...]:
        """Names of the plugins that `name` makes active.

        Args:
            name: Of a loadout; an unknown one activates nothing.
            available: Plugins, or plugin names (whose category is then `PLUGIN_CATEGORY_MAP`'s).

        Returns:
            In the order and spelling of `available`, each once.
        """
        return active_names(self.trace_lineage(name).loadouts, available)

    def resolve_discoverable_plugins(self, name: str, available: Iterable[Plugin | str]) -> tuple[str, ...]:
        """Names of the plugins that may be asked for under `name`, as `resolve_active_plugins` gives them."""
        return discoverable_names(self.trace_lineage(name).loadouts, available)

    def resolve(self, name: str, catalog: Catalog) -> Resolution:
        """What `name` makes of every plugin and tool of `catalog`, with reasons."""
        if not isinstance(catalog, Catalog):
            raise InvalidDefinitionError(
                f"A loadout is resolved over a Catalog, not something of type {type(catalog).__name__}; of a "
                "ToolRegistry, give its `catalog`, and of a list of plugins, Catalog(plugins)."
            )
        lineage = self.trace_lineage(name)
        return Resolution(name, lineage.loadouts, catalog, lineage.broken)


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidDefinitionError(
            f"A loadout is asked for by its name, not by something of type {type(name).__name__}."
        )
    return fold(name)
