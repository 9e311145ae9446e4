"""A registry cut down to what a loadout makes active (rule L12)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from toolbelt.errors import InvalidDefinitionError
from toolbelt.loadouts import Resolution, ToolLoadoutRegistry
from toolbelt.loadouts.loadout import WHOLE_CATALOG, whole_catalog
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry


def scoped_registry(
    registry: ToolRegistry, loadout_name: str | None, loadouts: ToolLoadoutRegistry | None = None
) -> ToolRegistry:
    """A new registry with only the tools that a loadout makes active; the one given stays as it is.

    Order, extensions, backends, reducers, audit sink and default time limit are those of `registry`, and so are the
    categories of the plugins: what was scoped may be scoped again, and never grows by it. Tools that belong to the
    session and not to a plugin (`of_session`: capability tools, meta-tools) stay whatever the loadout (rules L14, D2);
    `always_include` is about allow-lists and saves no tool here.

    Args:
        registry: Every tool there is.
        loadout_name: `None` for all tools. Under an unknown name nothing is active, as in the `loadouts` themselves
            (rule L7), so that a mistake never gives more than was meant; `loadouts.require_loadout(name)` and
            `AgentSession.scope` refuse it.
        loadouts: Where the loadout is; by default the built-in ones alone.

    Raises:
        InvalidDefinitionError: a name that is no text.
    """
    resolution = resolve_registry(registry, loadout_name, loadouts or ToolLoadoutRegistry())
    active = {tool.name for tool in resolution.active_tools}
    return registry.narrowed(tool.name for tool in registry.get_all() if tool.of_session or tool.name in active)


def resolve_registry(registry: ToolRegistry, loadout_name: str | None, loadouts: ToolLoadoutRegistry) -> Resolution:
    """What a loadout makes of everything that is registered; without one, all is active."""
    catalog = registry.catalog
    if loadout_name is None:
        return Resolution(WHOLE_CATALOG, (whole_catalog(catalog),), catalog)
    return loadouts.resolve(checked_name(loadout_name), catalog)


def checked_name(loadout_name: str) -> str:
    """The name, if it can be that of a loadout.

    Raises:
        InvalidDefinitionError: it is no text.
    """
    name: object = loadout_name
    if not isinstance(name, str):
        raise InvalidDefinitionError(f"The name of a loadout must be text, or None for all plugins, not {name!r}.")
    return name


def register(registry: ToolRegistry, source: ToolRegistry, tools: Iterable[ExecutableTool]) -> None:
    """Add tools of another registry, in order, each as of the extension that brought it there."""
    for plugin_id, of_one in groupby(tools, lambda tool: source.get_plugin_id(tool.name)):
        registry.register_all(of_one, plugin_id)
