"""A registry cut down to what a loadout makes active (rule L12)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from toolbelt.agents.capability_tools import CapabilityTool
from toolbelt.catalog import Plugin
from toolbelt.loadouts import Resolution, ToolLoadoutRegistry
from toolbelt.loadouts.loadout import WHOLE_CATALOG, whole_catalog
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry


def scoped_registry(
    registry: ToolRegistry, loadout_name: str | None, loadouts: ToolLoadoutRegistry | None = None
) -> ToolRegistry:
    """A new registry with only the tools that a loadout makes active; the one given stays as it is.

    Order, extensions, backends, reducers, audit sink and default time limit are those of `registry`, and so are the
    categories of the plugins: what was scoped may be scoped again, and never grows by it. Capability tools belong to
    a session, not to a plugin, so they stay whatever the loadout (rule L14); `always_include` is about allow-lists
    and saves no tool here.

    Args:
        registry: Every tool there is.
        loadout_name: `None` for all tools. Under an unknown name nothing is active, as in the `loadouts` themselves
            (rule L7), so that a mistake never gives more than was meant; `loadouts.require_loadout(name)` and
            `AgentSession.scope` refuse it.
        loadouts: Where the loadout is; by default the built-in ones alone.
    """
    resolution = resolve_registry(registry, loadout_name, loadouts or ToolLoadoutRegistry())
    active = {tool.name for tool in resolution.active_tools}
    plugins = resolution.catalog.plugins
    return narrowed(registry, lambda tool: tool.name in active or isinstance(tool, CapabilityTool), plugins)


def resolve_registry(registry: ToolRegistry, loadout_name: str | None, loadouts: ToolLoadoutRegistry) -> Resolution:
    """What a loadout makes of everything that is registered; without one, all is active."""
    catalog = registry.catalog
    if loadout_name is None:
        return Resolution(WHOLE_CATALOG, (whole_catalog(catalog),), catalog)
    return loadouts.resolve(loadout_name, catalog)


def narrowed(
    registry: ToolRegistry,
    keep: Callable[[ExecutableTool], bool],
    plugins: Iterable[Plugin],
    first: Iterable[ExecutableTool] = (),
    reserved: Iterable[str] = (),
) -> ToolRegistry:
    """A new registry with `first` and, in order, the tools of `registry` that are to be kept.

    Args:
        registry: Stays as it is.
        keep: Says of a tool whether it is kept.
        plugins: Of the registry's catalog. What is known of them comes along for all, so that tools which are added
            later have a category.
        first: Tools that come before all others.
        reserved: As of a `ToolRegistry`.
    """
    made = ToolRegistry(
        first,
        backends=registry.backends,
        reducers=registry.reducers,
        audit=registry.audit,
        default_timeout_seconds=registry.default_timeout_seconds,
        reserved=reserved,
    )
    for plugin in plugins:
        if plugin.category is not None or plugin.description:
            made.register_all(Plugin(plugin.name, (), plugin.category, plugin.description))
    register(made, registry, (tool for tool in registry.get_all() if keep(tool)))
    return made


def register(registry: ToolRegistry, source: ToolRegistry, tools: Iterable[ExecutableTool]) -> None:
    """Add tools of another registry, in order, each as of the extension that brought it there."""
    for plugin_id, of_one in groupby(tools, lambda tool: source.get_plugin_id(tool.name)):
        registry.register_all(of_one, plugin_id)
