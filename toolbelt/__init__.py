"""toolbelt decides which tools an LLM agent sees, and proves with evals that the decision is right."""

from toolbelt.catalog import PLUGIN_CATEGORY_MAP, Catalog, Plugin, Tool, ToolCategory
from toolbelt.errors import ToolbeltError
from toolbelt.loadouts import (
    Decision,
    Resolution,
    ToolLoadout,
    ToolLoadoutBuilder,
    ToolLoadoutRegistry,
    WellKnownLoadouts,
)

__version__ = "0.1.0"

__all__ = [
    "PLUGIN_CATEGORY_MAP",
    "Catalog",
    "Decision",
    "Plugin",
    "Resolution",
    "Tool",
    "ToolCategory",
    "ToolLoadout",
    "ToolLoadoutBuilder",
    "ToolLoadoutRegistry",
    "ToolbeltError",
    "WellKnownLoadouts",
]
