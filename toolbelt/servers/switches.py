"""What a client's file, or `toolbelt.yaml`, switches off of a server: the whole of it, or some of its tools (rule V7).

What is switched off is not in a catalog, so that nothing can list, offer or call it. The catalog keeps its name, and
the key and file that switch it off, in the facts of its server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from glob import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from toolbelt.catalog.catalog import WHOLE_SERVER
from toolbelt.sources.section import Section

if TYPE_CHECKING:
    from toolbelt.catalog import Catalog


@dataclass(frozen=True)
class Switch:
    """One key of one file that switches something of a server off.

    Attributes:
        key: As it is written: `disabledTools`, `permissions.deny`.
        source: The file: relative to the project, or from the user's folder (`~/…`).
        patterns: Shell patterns of names of tools; `("*",)` is the whole server.
        only: Whether these tools are the only ones that are on; else they are off.
        problem: Why it cannot be honoured, in words; empty where it can.
        exceptions: Shell patterns of tools that it leaves on.
    """

    key: str
    source: str
    patterns: tuple[str, ...] = (WHOLE_SERVER,)
    only: bool = False
    problem: str = ""
    exceptions: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it switches the whole server off."""
        return not self.only and WHOLE_SERVER in self.patterns and not self.exceptions

    def covers(self, tool: str) -> bool:
        """Whether it switches a tool off."""
        is_listed = any(fnmatchcase(tool, pattern) for pattern in self.patterns)
        return is_listed is not self.only and not any(fnmatchcase(tool, pattern) for pattern in self.exceptions)

    def find_idle(self, tools: Iterable[str]) -> list[str]:
        """The patterns that no tool of a server matches."""
        names = [*tools]
        return [each for each in self.patterns if not any(fnmatchcase(name, each) for name in names)]

    def facts(self) -> dict[str, str]:
        """Key and file, for a catalog and for `--json`."""
        return {"key": self.key, "file": self.source}

    def __str__(self) -> str:
        return f"`{self.key}` in {self.source}"


@dataclass(frozen=True)
class ToolFilter:
    """A key of an entry that lists names of tools.

    Attributes:
        only: Whether the tools listed are the only ones that are on.
        clients: Whose it is, and where this was read in November 2026.
        has_patterns: Whether names are shell patterns.
        empty_is_all: Whether an empty list switches nothing off.
    """

    only: bool
    clients: str
    has_patterns: bool = False
    empty_is_all: bool = False


TOOL_FILTERS: Mapping[str, ToolFilter] = MappingProxyType(
    {
        "disabledTools": ToolFilter(
            False, "Windsurf, Cascade's page of MCP; Roo Code, McpHub.ts; Kiro, its page of MCP"
        ),
        "excludeTools": ToolFilter(False, "Gemini CLI, docs/tools/mcp-server.md; Qwen Code"),
        "disabled_tools": ToolFilter(False, "Codex, config.toml; Crush, schema.json"),
        "includeTools": ToolFilter(True, "Gemini CLI, docs/tools/mcp-server.md; Amp, its manual", has_patterns=True),
        "enabled_tools": ToolFilter(True, "Codex, config.toml"),
        "available_tools": ToolFilter(True, "Goose, config.yaml", empty_is_all=True),
        "tools": ToolFilter(True, "GitHub Copilot CLI, mcp-config.json", has_patterns=True),
    }
)
"""Keys of a client's entry by which it offers some of the tools of a server. An entry has no other known filter:
`alwaysAllow`, `autoApprove` and `trust` decide what is run without a question."""


_MAY_FILTER = re.compile(
    r"(allow|allowed|block|blocked|den(y|ied)|disable|disallow(ed)?|enable|enabled|excluded?|hid(e|den)|included?|only"
    r"|active|visible)[_-]?tools?|tools?[_-]?(filters?|allow(list|ed)?|block(list|ed)?|den(y|ied)|exclude|include)",
    re.IGNORECASE,
)
"""Keys that look like a filter of tools."""


def read_switches(section: Section, source: str) -> tuple[Switch, ...]:
    """What an entry of a client's file switches off; a wrong value adds a finding, which refuses the entry.

    Args:
        section: The entry.
        source: The file, as `Switch` has it.
    """
    switches = []
    if section.read_bool("disabled"):
        switches.append(Switch("disabled", source))
    if section.read_bool("enabled") is False:
        switches.append(Switch("enabled", source))
    for key, kind in TOOL_FILTERS.items():
        if key == "tools" and not isinstance(section.child(key).value, list):
            continue  # of other clients, it has settings of tools
        if section.child(key).value is None:
            continue
        # Gemini CLI takes `name(…)` for `name`.
        names = [name.partition("(")[0] for name in section.read_texts(key, "a list of names")]
        if names or not kind.empty_is_all:
            patterns = tuple(name if kind.has_patterns else escape(name) for name in names)
            if patterns or kind.only:
                switches.append(Switch(key, source, patterns, kind.only))
    for key in (key for key in section.value if isinstance(key, str) and key not in TOOL_FILTERS):
        if _MAY_FILTER.fullmatch(key) and section.value[key]:
            problem = "the key is of no client that is known; if it filters tools, they are served all the same"
            switches.append(Switch(key, source, (), problem=problem))
    return tuple(switches)


def find_switch(switches: Iterable[Switch], tool: str) -> Switch | None:
    """The first that switches a tool off."""
    return next((switch for switch in switches if switch.covers(tool)), None)


def leave_out(catalog: Catalog, switches: Mapping[str, Sequence[Switch]]) -> Catalog:
    """The catalog without the tools that are switched off, which are named in the facts of their servers.

    Args:
        catalog: With the tools of servers.
        switches: By the name of the server.
    """
    off: dict[str, dict[str, Any]] = {}
    for server, of_server in switches.items():
        if (whole := next((switch for switch in of_server if switch.is_whole), None)) is not None:
            off[server] = {WHOLE_SERVER: whole.facts()}
    plugins = []
    for plugin in catalog.plugins:
        of_server = switches.get(plugin.server, ()) if plugin.server else ()
        kept = tuple(tool for tool in plugin.tools if find_switch(of_server, tool.name) is None)
        for tool in plugin.tools if plugin.server not in off else ():
            if (switch := find_switch(of_server, tool.name)) is not None:
                off.setdefault(plugin.server, {})[tool.name] = switch.facts()
        if kept or not plugin.tools:
            plugins.append(plugin if len(kept) == len(plugin.tools) else replace(plugin, tools=kept))
    if not off:
        return catalog
    ids = {tool.id for plugin in plugins for tool in plugin.tools}
    facts = dict(catalog.servers)
    for server, names in off.items():
        before = facts.get(server, {})
        is_whole = WHOLE_SERVER in names
        facts[server] = {**before, "off": names if is_whole else {**before.get("off", {}), **names}}
    core = tuple(reference for reference in catalog.core if reference in ids)
    return replace(catalog, plugins=tuple(plugins), core=core, servers=facts)
