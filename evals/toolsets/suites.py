"""Suites: toolsets that answer a question together (rule E1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.catalog import Catalog
from toolbelt.errors import NotFoundError
from toolbelt.evals.toolsets.spec import BY_WINDOW, FULL, TIERED, ToolsetKind, ToolsetSpec
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.patterns import fold

COMPATIBILITY = "compatibility"
"""The suite that finds which toolsets each model supports."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A toolset that shows the same tools as another one, and would be paid for twice.

    Attributes:
        toolset: Which.
        same_as: The other one, which comes first.
    """

    toolset: ToolsetSpec
    same_as: ToolsetSpec


@dataclass(frozen=True)
class Suite:
    """The toolsets of a suite over one catalog.

    Attributes:
        name: As on the command line.
        toolsets: In order.
        repeats: Loadouts that are not among them, as another toolset shows the same.
    """

    name: str
    toolsets: tuple[ToolsetSpec, ...]
    repeats: tuple[Repeat, ...] = ()


def spell_suite(name: str) -> str:
    """The one spelling of a suite's name.

    Raises:
        NotFoundError: no such suite.
    """
    spelled = fold(name.strip())
    if spelled not in SUITES:
        raise NotFoundError("suite", name, SUITES)
    return spelled


def make_suite(name: str, catalog: Catalog, registry: ToolLoadoutRegistry) -> Suite:
    """The suite of that name.

    Args:
        name: As on the command line.
        catalog: Over which its toolsets will be used.
        registry: Every loadout there is.

    Raises:
        NotFoundError: no such suite.
    """
    return SUITES[spell_suite(name)](catalog, registry)


def _make_compatibility(catalog: Catalog, registry: ToolLoadoutRegistry) -> Suite:
    """`full`, `loadout:auto`, every loadout that shows something of the catalog, `tiered`.

    A loadout that shows the same tools as another toolset before it would be paid for twice, and is left out. So is
    none for `loadout:auto`, which shows something else to each model.
    """
    shown = {frozenset(tool.id for tool in catalog.tools): FULL}
    toolsets, repeats = [FULL, BY_WINDOW], []
    for loadout in registry.get_all():
        tools = frozenset(tool.id for tool in registry.resolve(loadout.name, catalog).active_tools)
        toolset = ToolsetSpec(ToolsetKind.LOADOUT, loadout.name)
        if not tools:
            continue
        if (same := shown.setdefault(tools, toolset)) == toolset:
            toolsets.append(toolset)
        else:
            repeats.append(Repeat(toolset, same))
    return Suite(COMPATIBILITY, (*toolsets, TIERED), tuple(repeats))


SUITES: Mapping[str, Callable[[Catalog, ToolLoadoutRegistry], Suite]] = MappingProxyType(
    {COMPATIBILITY: _make_compatibility}
)
"""Every suite, by its name."""
