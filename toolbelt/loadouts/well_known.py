"""The five loadouts everybody has (rule L5)."""

from __future__ import annotations

from enum import StrEnum

from toolbelt.catalog import ToolCategory
from toolbelt.loadouts.loadout import ToolLoadout


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
"""The five, exactly (rule L5)."""
