"""Putting an agent's tools together: built-in ones, those of MCP servers, those of sub-apps (rule K6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog import Plugin, Tool
from toolbelt.errors import InvalidDefinitionError, suggestion
from toolbelt.patterns import find_name_problem
from toolbelt.runtime.executable import ExecutableTool, as_executable
from toolbelt.runtime.gates import MCP_PREFIX
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.text import show_value
from toolbelt.toolkits.switches import ToolkitCatalog
from toolbelt.toolkits.switching import enabled_by_catalog, enabled_by_toolkits
from toolbelt.toolkits.toolkit import Toolkit, as_names, repeated

AnyTool = ExecutableTool | Callable[..., Any]
"""What can be registered: a tool, or a function that is made into one."""
_BUILT_IN = "the built-in tools"
_REGISTERED = "what is registered already"


@dataclass(frozen=True)
class SubApp:
    """A part of an application that brings tools into the agent while it is enabled.

    Attributes:
        name: Not blank.
        tool_names: Names of the sub-app tools that it binds.
        enabled: Whether it binds them.

    Raises:
        InvalidDefinitionError: a blank name, a tool named twice, or an `enabled` that is no boolean.
    """

    name: str
    tool_names: tuple[str, ...] = ()
    enabled: bool = True

    def __post_init__(self) -> None:
        _require_name("sub-app", self.name)
        if type(self.enabled) is not bool:  # "false" would be on
            raise InvalidDefinitionError(f"enabled of sub-app {self.name!r} must be a boolean, not {self.enabled!r}.")
        names = as_names(self.tool_names)
        object.__setattr__(self, "tool_names", names)
        if twice := repeated(names):
            raise InvalidDefinitionError(f"Sub-app {self.name!r} names these tools twice: {', '.join(twice)}.")


@dataclass(frozen=True)
class Placed:
    """A tool with the part that adds it.

    Attributes:
        tool: Under the name it is registered by, and with the plugin it then has: its server, or its sub-app where it
            had none.
        owner: `the built-in tools`, `MCP server NAME` or `sub-app NAME`.
        plugin_id: What it is registered under: the sub-app, which the allow-list does not speak about (rule R2).
    """

    tool: ExecutableTool
    owner: str
    plugin_id: str | None = None


def mcp_name(server: str, tool_name: str) -> str:
    """What a tool of an MCP server goes by: `mcp__<server>__<tool>`; a name that is so already stays."""
    prefix = f"{MCP_PREFIX}{server}__"
    return tool_name if tool_name.startswith(prefix) and tool_name != prefix else f"{prefix}{tool_name}"


def assemble(
    built_in: Iterable[AnyTool] = (),
    mcp: Mapping[str, Iterable[AnyTool]] | None = None,
    sub_app_tools: Iterable[AnyTool] = (),
    sub_apps: Iterable[SubApp] = (),
    *,
    toolkits: Iterable[Toolkit] | None = None,
    catalog: ToolkitCatalog | None = None,
    tools_config: Mapping[str, Any] | None = None,
    registry: ToolRegistry | None = None,
) -> ToolRegistry:
    """An agent's tools in a registry: built-in ones, then those of MCP servers, then those of enabled sub-apps.

    Names are compared with one another before anything is switched, so that throwing a switch cannot make two tools
    collide. Guards, policies and limits of the tools stay with them.

    Args:
        built_in: In order.
        mcp: Tools by the name of their server; they are registered as `mcp__<server>__<tool>`.
        sub_app_tools: Those that sub-apps may bind, by name.
        sub_apps: One that is not enabled binds nothing. Two may bind the same tool; it is there once.
        toolkits: Those that switch tools (rule K2), as a `toolbelt.yaml` has them: built-in tools, those of servers
            and those of sub-apps alike. What is on is what `toolbelt toolkit resolve` says; tools in no toolkit are on
            by default. `enabled_by_toolkits` says what entries and keys of the config may be.
        catalog: In their place, a catalog of switches made by hand; `enabled_by_catalog` says by which names it may
            know a tool. Built-in tools that it does not know are off, others are on. `None` for both: all are on.
        tools_config: The switches, by keys of toolkits and tools; `None` for a config that says nothing. Keys of
            nothing do nothing; `ExpandedToolkits.read_config` and `ToolkitCatalog.check_config` report them.
        registry: What they are added to, with its backends and audit sink; by default a new one. What is registered
            there already is not switched.

    Returns:
        The registry.

    Raises:
        InvalidDefinitionError: names that two tools have, each with both owners, and names that a sub-app binds and no
            tool has, all at once; nothing is registered then. A lone tool where several belong. Toolkits and a
            catalog, or a config without either, or that is no mapping; a catalog that knows none of the tools;
            toolkits of one key, or of a tool's.
    """
    placed, unbound = place(built_in, mcp, sub_app_tools, sub_apps)
    registry = ToolRegistry() if registry is None else registry
    there = tuple(Placed(tool, _REGISTERED) for tool in registry.get_all())
    if wrong := [*unbound, *_collisions((*there, *placed))]:
        raise InvalidDefinitionError(*wrong)
    for entry in switched(placed, toolkits, catalog, tools_config, registry.get_all()):
        registry.register(entry.tool, plugin_id=entry.plugin_id)
    return registry


def place(
    built_in: Iterable[AnyTool] = (),
    mcp: Mapping[str, Iterable[AnyTool]] | None = None,
    sub_app_tools: Iterable[AnyTool] = (),
    sub_apps: Iterable[SubApp] = (),
) -> tuple[tuple[Placed, ...], tuple[str, ...]]:
    """Every tool with its owner, in the order of assembly, and what is wrong with the sub-apps.

    Arguments as `assemble`.

    Raises:
        InvalidDefinitionError: something that can be no tool, or a blank name of a server.
    """
    placed = [Placed(_executable(tool), _BUILT_IN) for tool in _several("built_in", built_in)]
    if mcp is not None and not isinstance(mcp, Mapping):
        raise InvalidDefinitionError(f"`mcp` maps names of servers to their tools; this is {_shown(mcp)}.")
    for server, tools in (mcp or {}).items():
        _require_name("MCP server", server)
        brought = _several(f"mcp[{server!r}]", tools)
        placed += [Placed(_of_server(server, _executable(tool)), f"MCP server {server}") for tool in brought]
    pool: dict[str, list[ExecutableTool]] = {}
    for tool in map(_executable, _several("sub_app_tools", sub_app_tools)):
        pool.setdefault(tool.name, []).append(tool)
    wrong = [
        f"{len(tools)} sub-app tools are named {name!r}; rename all but one."
        for name, tools in pool.items()
        if len(tools) > 1
    ]
    bound: set[str] = set()
    seen: set[str] = set()
    for sub_app in _several("sub_apps", sub_apps, SubApp):
        if sub_app.name in seen:
            wrong.append(f"Two sub-apps are named {sub_app.name!r}; rename one.")
        seen.add(sub_app.name)
        for name in sub_app.tool_names if sub_app.enabled else ():
            if name not in pool:
                close = suggestion(name, pool)
                wrong.append(f"Sub-app {sub_app.name!r} binds {name!r}, which is no sub-app tool.{close}")
            elif name not in bound:
                bound.add(name)
                tool = _of_sub_app(sub_app.name, pool[name][0])
                placed.append(Placed(tool, f"sub-app {sub_app.name}", sub_app.name))
    return tuple(placed), tuple(wrong)


def switched(
    placed: Iterable[Placed],
    toolkits: Iterable[Toolkit] | None,
    catalog: ToolkitCatalog | None,
    tools_config: Mapping[str, Any] | None,
    there: Iterable[ExecutableTool] = (),
) -> tuple[Placed, ...]:
    """Those of the tools that are on; see `assemble`.

    Args:
        placed: No two of one name.
        toolkits: As `assemble`, like the next two.
        catalog: The catalog, in the same forms.
        tools_config: The switches, in the same forms.
        there: What is registered already: entries of toolkits may mean these as well.

    Raises:
        InvalidDefinitionError: as `assemble`, for the last three.
    """
    entries = tuple(placed)
    config = {} if tools_config is None else tools_config
    everything = ToolRegistry((*there, *(entry.tool for entry in entries)))
    if toolkits is not None and catalog is not None:
        raise InvalidDefinitionError("Tools are switched by toolkits or by a catalog of switches; give one of them.")
    if toolkits is not None:
        enabled = enabled_by_toolkits(_several("toolkits", toolkits, Toolkit), everything, config)
    elif catalog is not None:
        built_in = frozenset(entry.tool.name for entry in entries if entry.owner == _BUILT_IN)
        enabled = enabled_by_catalog(catalog, everything, config, built_in)
    elif tools_config is not None:
        raise InvalidDefinitionError("A tools_config switches tools by toolkits; give toolkits or a catalog as well.")
    else:
        return entries
    return tuple(entry for entry in entries if entry.tool.name in enabled)


def _collisions(placed: Iterable[Placed]) -> Iterator[str]:
    owners: dict[str, list[str]] = {}
    for entry in placed:
        owners.setdefault(entry.tool.name, []).append(entry.owner)
    for name, several in owners.items():
        if len(several) > 1:
            whose = " and ".join(f"of {owner}" for owner in dict.fromkeys(several))
            if len(set(several)) == 1:
                whose = f"all {whose}"
            yield f"{len(several)} tools are named {name!r}, {whose}; rename all but one."


def _of_server(server: str, tool: ExecutableTool) -> ExecutableTool:
    # The plugin says which server it is where the name leaves that open, as of the servers `a` and `a__b`.
    named = mcp_name(server, tool.name)
    return replace(tool, name=named, plugin=server, id=tool.id if tool.has_own_id else "")


def _of_sub_app(name: str, tool: ExecutableTool) -> ExecutableTool:
    # So that a loadout or a toolkit may name the sub-app, as it may any plugin.
    return tool if tool.plugin else replace(tool, plugin=name, id=tool.id if tool.has_own_id else "")


def _several(part: str, value: Any, kind: type | None = None) -> Iterable[Any]:
    """The given values as a list, each of `kind` if one is given; a single tool or a text is not a list."""
    if isinstance(value, str | Tool | Plugin | Mapping) or not isinstance(value, Iterable):
        raise InvalidDefinitionError(f"`{part}` takes a list; this is {_shown(value)}.")
    items = tuple(value)
    if kind is not None and (wrong := [item for item in items if not isinstance(item, kind)]):
        raise InvalidDefinitionError(f"`{part}` takes a list of {kind.__name__}; {_shown(wrong[0])} is in it.")
    return items


def _shown(value: object) -> str:
    name = value.name if isinstance(value, Tool | Plugin | SubApp) else getattr(value, "__name__", None)
    return f"{name!r}, one alone" if name is not None else f"something of type {type(value).__name__}"


def _executable(tool: AnyTool) -> ExecutableTool:
    if isinstance(tool, ExecutableTool):
        return tool
    if not (isinstance(tool, Tool) or callable(tool)):
        raise InvalidDefinitionError(f"A tool is a function or an ExecutableTool, not {show_value(tool)}.")
    return as_executable(tool)


def _require_name(what: str, name: object) -> None:
    if (problem := find_name_problem(name)) is not None:
        raise InvalidDefinitionError(f"The name of a {what} {problem}.")
