"""Tools in tiers: core tools are always shown, each category is loaded on request (rules T1 to T4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import assign_wire_names
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.catalog.tool_names import describe_tools
from toolbelt.errors import NotFoundError
from toolbelt.patterns import fold
from toolbelt.tiers.meta_tools import MetaTools, TierMetaRole

OTHER = "other"
"""The category of tools without one."""

MetaToolAnswer = dict[str, Any]
LoadedCategories = tuple[str, ...]


@dataclass(frozen=True)
class Tier:
    """One category that can be browsed and loaded.

    Attributes:
        name: In the catalog's spelling.
        description: From the catalog, else made from the names of its tools (rule T2).
        tool_ids: In the catalog's order, without core tools.
    """

    name: str
    description: str
    tool_ids: tuple[str, ...]


class Tiers:
    """The tiers of a catalog.

    The caller keeps the loaded categories, a tuple of names in loading order, for as long as an interaction lasts. They
    begin with `()`, and this object never changes:

        tiers, loaded = Tiers(catalog), ()
        definitions = export_definitions(tiers.tools(loaded), tiers.names, "openai")   # for the next request
        answer, loaded = tiers.call(TierMetaRole.LOAD, {"category": "git"}, loaded)        # when the model calls it

    Attributes:
        catalog: All tools.
        meta: The two meta-tools; they are always core (rule T1).
        names: Wire names by tool id, meta-tools included.
        core: Ids of the tools that are always shown: added meta-tools, then the core of the catalog.
        tiers: In the order in which the categories are declared, without empty ones.

    Args:
        catalog: All tools.
        ids: Of the tools to include; `None` for all.
        names: The wire names; by default those of the catalog, changed where a meta-tool needs the name.
    """

    catalog: Catalog
    meta: MetaTools
    names: Mapping[str, str]
    core: tuple[str, ...]
    tiers: tuple[Tier, ...]

    def __init__(
        self, catalog: Catalog, ids: Iterable[str] | None = None, names: Mapping[str, str] | None = None
    ) -> None:
        self.catalog = catalog
        self.meta = MetaTools.of(catalog)
        self.names = _wire_names(catalog, self.meta) if names is None else names
        self._tools = {tool.id: tool for tool in (*self.meta.extras.values(), *catalog.tools)}
        self._positions = {tool_id: position for position, tool_id in enumerate(self._tools)}
        self._categories = {
            tool.id: plugin.category_key or OTHER for plugin in catalog.plugins for tool in plugin.tools
        }
        self._set_universe(self._tools if ids is None else ids)

    def within(self, ids: Iterable[str], names: Mapping[str, str] | None = None) -> Self:
        """The tiers of only these tools, under these wire names if given.

        The time depends on their number, not on the size of the catalog.
        """
        narrowed = object.__new__(type(self))
        narrowed.__dict__.update(self.__dict__)
        narrowed.names = self.names if names is None else names
        narrowed._set_universe(ids)
        return narrowed

    def _set_universe(self, ids: Iterable[str]) -> None:
        universe = self._positions.keys() & set(ids) | {self.meta.browse.id, self.meta.load.id}
        extras = (tool.id for tool in self.meta.extras.values())
        self.core = (*extras, *(tool_id for tool_id in self.catalog.core if tool_id in universe))
        self._universe = universe
        members: dict[str, list[str]] = {}
        for tool_id in sorted(universe.difference(self.core), key=self._positions.__getitem__):
            members.setdefault(self._categories[tool_id], []).append(tool_id)
        self.tiers = tuple(self._make_tiers(members))
        self._by_key = {fold(tier.name): tier for tier in self.tiers}

    def _make_tiers(self, members: Mapping[str, Sequence[str]]) -> Iterator[Tier]:
        declared = {fold(name): (name, description) for name, description in self.catalog.categories.items()}
        for key in declared if OTHER in declared else (*declared, OTHER):
            if key in members:
                name, description = declared.get(key, (OTHER, ""))
                yield Tier(
                    name, description or describe_tools(self.names[each] for each in members[key]), tuple(members[key])
                )

    @property
    def categories(self) -> LoadedCategories:
        """Names of the tiers, in order."""
        return tuple(tier.name for tier in self.tiers)

    def tool_ids(self, loaded: Iterable[str] = ()) -> tuple[str, ...]:
        """Ids of the shown tools: the core, then each category in loading order (rule T3).

        Raises:
            NotFoundError: an unknown category.
        """
        ids = list(self.core)
        for tier in dict.fromkeys(map(self._get_tier, loaded)):
            ids += tier.tool_ids
        return tuple(ids)

    def tools(self, loaded: Iterable[str] = ()) -> tuple[Tool, ...]:
        """The shown tools; order and errors as in `tool_ids`."""
        return tuple(self._tools[tool_id] for tool_id in self.tool_ids(loaded))

    def browse(self) -> MetaToolAnswer:
        """The answer to `browse_tools` (rule T2)."""
        return {
            "categories": [
                {"name": tier.name, "description": tier.description, "tool_count": len(tier.tool_ids)}
                for tier in self.tiers
            ]
        }

    def load(self, category: str, loaded: Iterable[str] = ()) -> tuple[MetaToolAnswer, LoadedCategories]:
        """The answer to `load_tools` (rule T2), and the categories that are loaded from the next request on.

        Args:
            category: As the model wrote it; compared without case.
            loaded: The categories that are loaded so far.

        Returns:
            For a loaded category, `tools_added` is empty and the message states that it was loaded. For an unknown one,
            there is an `error`, and nothing changes.
        """
        loaded = tuple(loaded)
        tier = self._by_key.get(fold(category.strip()))
        if tier is None:
            return {"error": f"Unknown category: {category}. Available: {self._available}"}, loaded
        count = len(tier.tool_ids)
        tools = f"{count} {tier.name} {'tool' if count == 1 else 'tools'}"
        if fold(tier.name) in map(fold, loaded):
            was = "was loaded already and is" if count == 1 else "were loaded already and are"
            return {"loaded": tier.name, "tools_added": [], "message": f"{tools} {was} available."}, loaded
        message = f"{tools} {'is' if count == 1 else 'are'} now available."
        added = [self.names[tool_id] for tool_id in tier.tool_ids]
        return {"loaded": tier.name, "tools_added": added, "message": message}, (*loaded, tier.name)

    def call(
        self, role: TierMetaRole, arguments: Mapping[str, Any] | None, loaded: Iterable[str] = ()
    ) -> tuple[MetaToolAnswer, LoadedCategories]:
        """The answer to a model's call of a meta-tool, and the categories that are loaded from the next request on.

        Args:
            role: Of the meta-tool.
            arguments: As the model gave them; `None` if they were not a JSON object. `browse_tools` needs none.
            loaded: The categories that are loaded so far.
        """
        loaded = tuple(loaded)
        if role is TierMetaRole.BROWSE:
            return self.browse(), loaded
        category = None if arguments is None else arguments.get("category")
        if isinstance(category, str):
            return self.load(category, loaded)
        if arguments is None:
            problem = "The arguments are no JSON object."
        elif category is None:
            problem = "The argument 'category' is missing."
        else:
            problem = "The argument 'category' must be a string."
        usage = f'Call {self.names[self.meta.load.id]} with {{"category": NAME}}.'
        return {"error": f"{problem} {usage} Available: {self._available}"}, loaded

    @property
    def _available(self) -> str:
        return ", ".join(self.categories) or "none"

    def _get_tier(self, category: str) -> Tier:
        if (tier := self._by_key.get(fold(category))) is None:
            raise NotFoundError("category", category, self.categories)
        return tier


def _wire_names(catalog: Catalog, meta: MetaTools) -> Mapping[str, str]:
    names = assign_wire_names(catalog.tools, meta.extras.keys()) if meta.extras else catalog.wire_names
    return FrozenDict({**names, **{tool.id: name for name, tool in meta.extras.items()}})
