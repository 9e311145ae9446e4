"""What a tool is: values, identity, formats, tokens."""

from toolbelt.catalog.catalog import Catalog
from toolbelt.catalog.categories import CATEGORY_DESCRIPTIONS, PLUGIN_CATEGORY_MAP, ToolCategory
from toolbelt.catalog.tool import Plugin, Tool

__all__ = ["CATEGORY_DESCRIPTIONS", "PLUGIN_CATEGORY_MAP", "Catalog", "Plugin", "Tool", "ToolCategory"]
