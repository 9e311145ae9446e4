"""Which tools a config leaves on: toolkits as they are written, or a catalog of switches, over tools (rules K2, K8)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog import Catalog, Tool
from toolbelt.errors import AmbiguousNameError, InvalidDefinitionError, NotFoundError
from toolbelt.findings import Severity
from toolbelt.runtime.gates import MCP_PREFIX
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.toolkits.expand import ExpandedToolkits, Unmatched, expand_toolkit, expand_toolkits, expander
from toolbelt.toolkits.switch_decisions import ConfigNote, SwitchRule
from toolbelt.toolkits.switches import ToolkitCatalog, require_mapping
from toolbelt.toolkits.toolkit import Toolkit

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """What the switches of an agent take away, and what they grant (rule K8).

    Attributes:
        toolkits: Keys of toolkits that cannot be loaded, initial or shown.
        tools: Keys of tools that the agent does not have, whatever names them: its own `tools`, a loaded toolkit.
        on_toolkits: Keys of toolkits that are on, by a switch or by default: the agent has what of them is not off.
        on_tools: Keys of tools that their own switch alone turns on.
        notes: What of the config does not do what it seems to.
        unmatched: Members that match no tool, with how bad that is under the config.
    """

    toolkits: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    on_toolkits: tuple[str, ...] = ()
    on_tools: tuple[str, ...] = ()
    notes: tuple[ConfigNote, ...] = ()
    unmatched: tuple[tuple[Unmatched, Severity], ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes in sentences that name what they are about."""
        return tuple(f"tools_config: {note.message}" for note in self.notes)

    def refuse_errors(self) -> None:
        """Raise where a switch would fail to switch a tool off; log what is doubtful (rule K2).

        Raises:
            InvalidDefinitionError: all such members at once.
        """
        _refuse_errors(self.unmatched, self.notes)


def find_switched_off(
    toolkits: Iterable[Toolkit], over: Catalog | ToolRegistry, config: Mapping[str, Any]
) -> SwitchedOff:
    """What an agent's `tools_config` switches off, of the tools and toolkits that it would have otherwise, and on.

    What is on by rule K2 is granted, by a `true` of the config or by a `default_on` where it says nothing. Only the
    config itself takes anything away: what is off by default, the agent may have among its own `tools`, or load. A
    toolkit is switched off by its own `false`, or, where the config does not have it, if every tool of it is switched
    off.

    Args:
        toolkits: All of the project, as written: also one that the agent may not load switches its members.
        over: The tools there are now; a catalog's go by their ids, a registry's by the names they are registered under.
            Ask again when tools were added: a switch applies to what its toolkit's members match then.
        config: The agent's switches; empty for none.

    Raises:
        InvalidDefinitionError: two toolkits of one key, or one whose key is a tool's; a config that is no mapping.
    """
    toolkits, is_empty = tuple(toolkits), not require_mapping(config)
    if is_empty and not any(toolkit.default_on for toolkit in toolkits):
        return SwitchedOff()
    if isinstance(over, ToolRegistry):
        expanded, config = _expand_over_registry(toolkits, over, config)
        key_by_id = {tool.id: tool.name for tool in over.catalog.tools}
    else:
        expanded = expand_toolkits(toolkits, over)
        key_by_id = {tool.id: tool.id for tool in over.tools}
    switches, notes = expanded.read_config(config)
    decisions = expanded.catalog.decisions(switches)
    tools = frozenset(each.tool for each in decisions if each.rule is not SwitchRule.DEFAULT and not each.enabled)
    on_tools = (each.tool for each in decisions if each.rule is SwitchRule.OWN and each.enabled)

    def is_off(toolkit: Toolkit) -> bool:
        own = switches.get(toolkit.key)
        return not own if own is not None else bool(toolkit.member_tools) and tools.issuperset(toolkit.member_tools)

    listed = expanded.catalog.toolkits
    off = frozenset(toolkit.key for toolkit in listed if is_off(toolkit))
    return SwitchedOff(
        off,
        frozenset(key_by_id[tool_id] for tool_id in tools),
        tuple(kit.key for kit in listed if kit.key not in off and switches.get(kit.key, kit.default_on)),
        tuple(key_by_id[tool_id] for tool_id in on_tools),
        notes,
        () if is_empty else expanded.check_members(switches),
    )


def _refuse_errors(unmatched: Iterable[tuple[Unmatched, Severity]], notes: Iterable[ConfigNote]) -> None:
    errors = []
    for each, severity in unmatched:
        message = f"Toolkit {each.toolkit!r}: {each.message}"
        if severity is Severity.ERROR:
            errors.append(f"{message} Its switch would miss that tool.")
        else:
            _log.warning("%s", message)
    for note in notes:
        _log.warning("tools_config: %s", note.message)
    if errors:
        raise InvalidDefinitionError(*errors)


def enabled_by_toolkits(
    toolkits: Iterable[Toolkit], registry: ToolRegistry, config: Mapping[str, Any]
) -> frozenset[str]:
    """Names of the tools of a registry that toolkits, as a `toolbelt.yaml` has them, leave on under a config.

    It is what `toolbelt toolkit resolve` says over the registry's catalog, and over one in which the tools of a server
    go by the names that they have there. So an entry of a toolkit, and a key of the config, may be a plugin's (for an
    entry) or a toolkit's (for a key), a tool's id, `plugin/name`, or a bare name that one tool has; of a tool of an
    MCP server, the name is either the server's own, or `mcp__<server>__<tool>`. Tools in no toolkit are on by default.

    Raises:
        InvalidDefinitionError: two toolkits of one key, or one whose key is a tool's id; a config that is no mapping;
            a member that matches no tool, where the switch would so fail to switch it off (rule K2). A plugin that is
            not there is logged as a warning, and so are keys of the config that do nothing.
    """
    expanded, config = _expand_over_registry(toolkits, registry, config)
    switches, notes = expanded.read_config(config)
    _refuse_errors(expanded.check_members(switches), notes)
    enabled = frozenset(expanded.catalog.enabled_tools(switches))
    return frozenset(tool.name for tool in registry.catalog.tools if tool.id in enabled)


def _expand_over_registry(
    toolkits: Iterable[Toolkit], registry: ToolRegistry, config: Mapping[str, Any]
) -> tuple[ExpandedToolkits, dict[str, Any]]:
    """Toolkits over the ids of a registry's tools, and a config by keys that they know."""
    registered, written = registry.catalog, tuple(toolkits)
    source = _as_servers_have_them(registry)
    ids, registered_ids = expander(source), expander(registered)

    def plain(entry: str) -> tuple[str, ...]:
        return (entry,) if ids(entry) else registered_ids(entry) or (entry,)

    def of_config(key: str) -> str:
        if any(key == toolkit.key for toolkit in written) or _find_id(key, source) is not None:
            return key
        return _find_id(key, registered) or key

    expanded = expand_toolkits((expand_toolkit(toolkit, plain) for toolkit in written), source)
    return expanded, _by_other_keys(config, of_config)


def enabled_by_catalog(
    catalog: ToolkitCatalog, registry: ToolRegistry, config: Mapping[str, Any], built_in: Collection[str]
) -> frozenset[str]:
    """Names of the tools of a registry that are on in a catalog of switches under a config.

    The catalog knows a tool by the name it is registered under, its id or `plugin/name`, or, for one of an MCP server,
    its own name there, alone or as `server/name`; the config may use each of them, too. A tool that it knows under
    several is on if all of them are. Of those that it does not know, built-in ones are off, and others are on unless
    the config says `false` to one of their names.

    Raises:
        InvalidDefinitionError: the catalog knows none of the tools, so that it is about others; a config that is no
            mapping.
    """
    require_mapping(config)
    names = _names_of(registry)
    known = {name: [key for key in keys if catalog.find_tool(key) is not None] for name, keys in names.items()}
    if known and not any(known.values()):
        about = f"tools like {catalog.tools[0].key!r}" if catalog.tools else "no tools"
        raise InvalidDefinitionError(
            f"The catalog of switches knows none of the {len(known)} tools: they are called like "
            f"{next(iter(known))!r}, and it has {about}. Key it by the names of the tools, or give toolkits=... "
            "for those of a toolbelt.yaml."
        )
    own = {key: of[0] for name, of in known.items() if of for key in names[name]}
    switches = _by_other_keys(config, lambda key: key if _is_key(catalog, key) else own.get(key, key))
    enabled = frozenset(catalog.enabled_tools(switches))
    spelled = {key for keys in names.values() for key in keys}
    _refuse_errors((), (note for note in catalog.check_config(switches) if note.key not in spelled))

    def is_on(name: str) -> bool:
        if known[name]:
            return enabled.issuperset(known[name])
        return name not in built_in and not any(config.get(key) is False for key in names[name])

    return frozenset(name for name in names if is_on(name))


def _names_of(registry: ToolRegistry) -> dict[str, tuple[str, ...]]:
    """What each tool may be called, by the name it is registered under, which comes first."""
    names_by_tool: dict[str, tuple[str, ...]] = {}
    tools = registry.get_all()
    listed = {tool.name: tool for tool in registry.catalog.tools}
    for tool in tools:
        own = _name_at_server(tool)
        names = [tool.name, tool.id, listed[tool.name].id, listed[tool.name].path, f"{listed[tool.name].plugin}/{own}"]
        if own not in listed:
            names.append(own)
        names_by_tool[tool.name] = tuple(dict.fromkeys(names))
    return names_by_tool


def _as_servers_have_them(registry: ToolRegistry) -> Catalog:
    """The registry's catalog with the same ids, but tools of servers by the names they have there."""
    own = {tool.name: _name_at_server(tool) for tool in registry.get_all()}
    plugins = (
        replace(plugin, tools=tuple(replace(tool, name=own[tool.name], id=tool.id) for tool in plugin.tools))
        for plugin in registry.catalog.plugins
    )
    return replace(registry.catalog, plugins=tuple(plugins))


def _name_at_server(tool: Tool) -> str:
    prefix = f"{MCP_PREFIX}{tool.plugin}__"
    return tool.name if tool.plugin is None or tool.name == prefix else tool.name.removeprefix(prefix)


def _find_id(key: object, catalog: Catalog) -> str | None:
    try:
        return catalog.get_tool(key).id if isinstance(key, str) else None
    except (AmbiguousNameError, NotFoundError):
        return None


def _is_key(catalog: ToolkitCatalog, key: str) -> bool:
    return catalog.find_tool(key) is not None or catalog.find_toolkit(key) is not None


def _by_other_keys(config: Mapping[str, Any], of: Callable[[str], str]) -> dict[str, Any]:
    """A config by the keys that `of` makes; where two become one, `false` stands, as the careful half."""
    renamed: dict[str, Any] = {}
    for name, value in require_mapping(config).items():
        key = of(name) if isinstance(name, str) else name
        if type(renamed.get(key)) is not bool or value is False:
            renamed[key] = value
    return renamed
