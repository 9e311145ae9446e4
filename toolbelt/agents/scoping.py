"""A registry narrowed to the active tools of a loadout (rule L12)."""

from __future__ import annotations

from toolbelt.errors import InvalidDefinitionError
from toolbelt.loadouts import Resolution, ToolLoadoutRegistry
from toolbelt.loadouts.loadout import WHOLE_CATALOG, whole_catalog
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.text import show_value


def scoped_registry(
    registry: ToolRegistry, loadout_name: str | None, loadouts: ToolLoadoutRegistry | None = None
) -> ToolRegistry:
    """A new registry with only the active tools of a loadout; the given registry stays unchanged.

    Order, extensions, backends, reducers, audit sink and default time limit are those of `registry`, and so are the
    categories of the plugins, so a scoped registry can be scoped again, and never grows. Tools of the session
    (`of_session`: capability tools, meta-tools) stay with every loadout (rules L14, D2). `always_include` is only about
    allow-lists, and keeps no tool here.

    Args:
        registry: All tools.
        loadout_name: `None` for all tools. With an unknown name nothing is active, as in `loadouts` (rule L7), so that
            a mistake never gives more tools than intended; `loadouts.require_loadout(name)` and `AgentSession.scope`
            refuse it.
        loadouts: Contain the loadout; by default only the built-in ones.

    Raises:
        InvalidDefinitionError: a name that is not text, something else than a registry.
    """
    given: object = registry
    if not isinstance(given, ToolRegistry):
        raise InvalidDefinitionError(f"A ToolRegistry is narrowed to a loadout, not {show_value(given)}.")
    known: object = loadouts
    if known is not None and not isinstance(known, ToolLoadoutRegistry):
        raise InvalidDefinitionError(f"The loadouts must be a ToolLoadoutRegistry, not {show_value(known)}.")
    resolution = resolve_registry(registry, loadout_name, loadouts or ToolLoadoutRegistry())
    active = {tool.name for tool in resolution.active_tools}
    return registry.narrowed(tool.name for tool in registry.get_all() if tool.of_session or tool.name in active)


def resolve_registry(registry: ToolRegistry, loadout_name: str | None, loadouts: ToolLoadoutRegistry) -> Resolution:
    """The resolution of a loadout over all registered tools; without a loadout, all are active."""
    catalog = registry.catalog
    if loadout_name is None:
        return Resolution(WHOLE_CATALOG, (whole_catalog(catalog),), catalog)
    return loadouts.resolve(checked_name(loadout_name), catalog)


def checked_name(loadout_name: str) -> str:
    """The name, checked to be text.

    Raises:
        InvalidDefinitionError: it is not text.
    """
    name: object = loadout_name
    if not isinstance(name, str):
        message = f"The name of a loadout must be text, or None for all plugins, not {show_value(name)}."
        raise InvalidDefinitionError(message)
    return name
