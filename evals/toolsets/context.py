"""What every toolset of an arm is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolbelt.catalog import Catalog, Tool
from toolbelt.evals.offers import ToolRenderer
from toolbelt.loadouts import Resolution, ToolLoadoutRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.toolkits.toolkit import Toolkit

RendererMaker = Callable[[Mapping[str, Tool]], ToolRenderer]
"""Gives the shelf that holds the catalog and further tools, by the wire name each must have; kept by the maker."""


@dataclass(frozen=True, eq=False)
class ToolsetContext:
    """What every toolset of an arm is made from.

    Attributes:
        catalog: Every tool there is.
        registry: Every loadout there is.
        shelf: Makes the shelves, counted as the arm's model counts.
        roles: The roles that cases have, for `loadout`.
        seed: Of everything that is drawn.
        resolve_auto: What `loadout:auto` is for the arm's model; raises `ToolbeltError` where nothing can be chosen.
        agents: Of the project, for `dynamic:AGENT`.
        toolkits: Of the project.
    """

    catalog: Catalog
    registry: ToolLoadoutRegistry
    renderer: RendererMaker
    roles: frozenset[str] = frozenset()
    seed: int = 0
    resolve_auto: Callable[[], Resolution] | None = None
    agents: tuple[AgentSpec, ...] = ()
    toolkits: tuple[Toolkit, ...] = ()
