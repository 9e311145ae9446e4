"""toolbelt decides which tools an LLM agent sees, and proves with evals that the decision is right.

Names are loaded when first used, so that a command that needs none of them starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
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

_MODULES = {
    "toolbelt.catalog": ("PLUGIN_CATEGORY_MAP", "Catalog", "Plugin", "Tool", "ToolCategory"),
    "toolbelt.errors": ("ToolbeltError",),
    "toolbelt.loadouts": (
        "Decision",
        "Resolution",
        "ToolLoadout",
        "ToolLoadoutBuilder",
        "ToolLoadoutRegistry",
        "WellKnownLoadouts",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
