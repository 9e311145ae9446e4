"""Core tools that are always shown, and the rest behind two meta-tools, by category (rules T1 to T4)."""

from toolbelt.tiers.meta_tools import MetaTools, TierMetaRole, own_meta_tools
from toolbelt.tiers.tiers import OTHER, Tier, Tiers

__all__ = ["OTHER", "MetaTools", "Tier", "TierMetaRole", "Tiers", "own_meta_tools"]
