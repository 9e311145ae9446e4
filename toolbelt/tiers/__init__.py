"""Core tools that are always shown, and the rest behind two meta-tools, by category (rules T1 to T4)."""

from toolbelt.tiers.meta_tools import MetaRole, MetaTools, own_meta_tools
from toolbelt.tiers.tiers import OTHER, Tier, Tiers

__all__ = ["OTHER", "MetaRole", "MetaTools", "Tier", "Tiers", "own_meta_tools"]
