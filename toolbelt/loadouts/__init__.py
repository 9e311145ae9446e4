"""Which tools an agent sees, and why."""

from toolbelt.loadouts.builder import ToolLoadoutBuilder
from toolbelt.loadouts.decision import Decision, Reason, Rule, Step
from toolbelt.loadouts.loadout import ToolLoadout
from toolbelt.loadouts.registry import Lineage, ToolLoadoutRegistry
from toolbelt.loadouts.resolution import Resolution
from toolbelt.loadouts.selection import Status
from toolbelt.loadouts.well_known import BUILT_IN_LOADOUTS, WellKnownLoadouts

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
