"""Suites: toolsets that answer a question together (rule E1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.catalog import Catalog
from toolbelt.errors import NotFoundError
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.loadouts.loadout import AUTO
from toolbelt.patterns import fold

COMPATIBILITY = "compatibility"
"""Which toolset each model bears."""


@dataclass(frozen=True)
class Suite:
    """The toolsets of a suite over one catalog.

    Attributes:
        name: As on the command line.
        toolsets: In order, each in its one spelling.
        notes: What is not among them though one might look for it, each in a sentence.
    """

    name: str
    toolsets: tuple[str, ...]
    notes: tuple[str, ...] = ()


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
    shown = {frozenset(tool.id for tool in catalog.tools): "full"}
    toolsets, notes = ["full", f"loadout:{AUTO}"], []
    for loadout in registry.get_all():
        tools = frozenset(tool.id for tool in registry.resolve(loadout.name, catalog).active_tools)
        toolset = f"loadout:{loadout.name}"
        if not tools:
            continue
        if (same := shown.setdefault(tools, toolset)) == toolset:
            toolsets.append(toolset)
        else:
            notes.append(f"left out: {toolset}, as it shows the same tools as {same}")
    return Suite(COMPATIBILITY, (*toolsets, "tiered"), tuple(notes))


SUITES: Mapping[str, Callable[[Catalog, ToolLoadoutRegistry], Suite]] = MappingProxyType(
    {COMPATIBILITY: _make_compatibility}
)
"""Every suite, by its name."""
