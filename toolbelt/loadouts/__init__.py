"""Which tools an agent sees, and why."""

from toolbelt.loadouts.loadout import ToolLoadout, ToolLoadoutBuilder
from toolbelt.loadouts.registry import BUILT_IN_LOADOUTS, Lineage, ToolLoadoutRegistry, WellKnownLoadouts
from toolbelt.loadouts.resolution import Decision, Reason, Resolution, Rule, Step
from toolbelt.loadouts.selection import Status

__all__ = [
    "BUILT_IN_LOADOUTS",
    "Decision",
    "Lineage",
    "Reason",
    "Resolution",
    "Rule",
    "Status",
    "Step",
    "ToolLoadout",
    "ToolLoadoutBuilder",
    "ToolLoadoutRegistry",
    "WellKnownLoadouts",
]
