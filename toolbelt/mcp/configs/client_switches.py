"""What clients switch off elsewhere than in the entry of a server: under other keys, or in other files (rule V7)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Any

from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.findings import Finding, Severity
from toolbelt.servers.spec import ServerSpec, Transport
from toolbelt.servers.switches import Switch, read_switches
from toolbelt.sources import Document, blank_comments, parse_json, parse_yaml, read_text
from toolbelt.sources.section import Section
from toolbelt.stores.files import portable_path


class Means(StrEnum):
    """How the value of a key switches something off."""

    SERVERS_OFF = "the servers that it lists are off"
    SERVERS_ON = "the servers that it does not list are off"
    ENTRIES = "the entry of the server's name completes the one that is read"
    ENABLEMENT = "the servers whose `enabled` is false are off"
    TOOLS_OFF = "the tools whose names, with the server's, match one that it lists are off"
    TOOLS_MAPPED = "the tools that match a key are off where its value is false or `deny`, unless a longer one is on"
    PROFILE = "the tools of a server that the chosen profile switches off, or does not switch on, are off"
    MATCHED_OFF = "the servers that match an entry by name, command or URL are off"
    MATCHED_ON = "the servers that match no entry by name, command or URL are off"


@dataclass(frozen=True)
class SwitchRow:
    """A key by which a client switches servers or tools off; read in the client's documentation in November 2026.

    Attributes:
        client: Its name.
        place: Keys from the top of the document; `*` stands for the project's folder.
        means: What its value does.
        prefix: Before the name of a tool in that value; `{server}` is the name of the server.
        only: The name of the files whose servers it is about; empty for any.
        source: Where this was read.
    """

    client: str
    place: tuple[str, ...]
    means: Means
    prefix: str = ""
    only: str = ""
    source: str = ""


_CODE_SETTINGS = "Claude Code's pages of settings, permissions and managed MCP"
_GEMINI = "Gemini CLI, docs/tools/mcp-server.md and docs/get-started/configuration.md"
SWITCH_ROWS = (
    SwitchRow("Claude Code", ("disabledMcpjsonServers",), Means.SERVERS_OFF, only=".mcp.json", source=_CODE_SETTINGS),
    SwitchRow(
        "Claude Code",
        ("projects", "*", "disabledMcpjsonServers"),
        Means.SERVERS_OFF,
        only=".mcp.json",
        source="anthropics/claude-code #3106, #24657",
    ),
    SwitchRow(
        "Claude Code",
        ("projects", "*", "disabledMcpServers"),
        Means.SERVERS_OFF,
        source="anthropics/claude-code #44845",
    ),
    SwitchRow("Claude Code", ("permissions", "deny"), Means.TOOLS_OFF, "mcp__{server}__", source=_CODE_SETTINGS),
    SwitchRow("Claude Code", ("deniedMcpServers",), Means.MATCHED_OFF, source=_CODE_SETTINGS),
    SwitchRow("Claude Code", ("allowedMcpServers",), Means.MATCHED_ON, source=_CODE_SETTINGS),
    SwitchRow("Gemini CLI", ("mcp", "excluded"), Means.SERVERS_OFF, source=_GEMINI),
    SwitchRow("Gemini CLI", ("mcp", "allowed"), Means.SERVERS_ON, source=_GEMINI),
    SwitchRow("Gemini CLI", ("excludeMCPServers",), Means.SERVERS_OFF, source=_GEMINI),
    SwitchRow("Gemini CLI", ("allowMCPServers",), Means.SERVERS_ON, source=_GEMINI),
    SwitchRow("Gemini CLI", (), Means.ENABLEMENT, only="settings.json", source="google-gemini/gemini-cli #29445"),
    SwitchRow("Codex", ("mcp_servers",), Means.ENTRIES, only="config.toml", source="openai/codex #13075"),
    SwitchRow("OpenCode", ("mcp",), Means.ENTRIES, only="opencode.json", source="opencode.ai/docs/mcp-servers"),
    SwitchRow("OpenCode", ("mcp",), Means.ENTRIES, only="opencode.jsonc", source="opencode.ai/docs/mcp-servers"),
    SwitchRow("OpenCode", ("tools",), Means.TOOLS_MAPPED, "{server}_", source="opencode.ai/docs/mcp-servers"),
    SwitchRow("OpenCode", ("permission",), Means.TOOLS_MAPPED, "{server}_", source="opencode.ai/docs/permissions"),
    SwitchRow("Zed", ("agent",), Means.PROFILE, source="zed.dev/docs/ai/agent-profiles"),
    SwitchRow("Amp", ("amp.tools.disable",), Means.TOOLS_OFF, "mcp__{server}__", source="ampcode.com/manual"),
    SwitchRow("Amp", ("tools.disable",), Means.TOOLS_OFF, "mcp__{server}__", source="ampcode.com/manual"),
)
"""Claude Code joins the lists of all its files, and a rejected server stays so whatever else approves it: no row is
about `enabledMcpjsonServers` and `enableAllProjectMcpServers`. Cursor, VS Code and Claude Desktop keep what is switched
off in databases of their own."""
_MAPPED = (Means.TOOLS_MAPPED, Means.ENABLEMENT, Means.PROFILE, Means.ENTRIES)
_ENABLEMENT_FILE = "mcp-server-enablement.json"


@dataclass(frozen=True)
class ClientSwitches:
    """What the files of a client switch off.

    Attributes:
        file: Name of the file of its servers.
        workspace: The project.
        documents: Their values, with each file as a `Switch` has it.
        unreadable: Files that could not be read, as switches that cannot be honoured.
    """

    file: str
    workspace: Path
    documents: tuple[tuple[Mapping[str, Any], str], ...]
    unreadable: tuple[Switch, ...] = ()

    def of(self, spec: ServerSpec) -> tuple[Switch, ...]:
        """What they switch off of a server."""
        found = (
            switch
            for data, source in self.documents
            for row in SWITCH_ROWS
            if row.only in ("", self.file) and (row.place or source.endswith(_ENABLEMENT_FILE))
            for value in self._values(data, row.place)
            for switch in _read_row(row, value, spec, source)
        )
        return (*found, *self.unreadable)

    def _values(self, data: Any, place: Sequence[str]) -> Iterator[Any]:
        for number, key in enumerate(place):
            if not isinstance(data, dict):
                return
            if key == "*":
                folders = {str(self.workspace), os.path.realpath(self.workspace)}
                for name in (name for name in data if str(Path(name)) in folders):
                    yield from self._values(data[name], place[number + 1 :])
                return
            data = data.get(key)
        if data is not None:
            yield data


def find_client_switches(file: Path, workspace: Path, data: object = None) -> ClientSwitches:
    """The switches around a client's file.

    Args:
        file: Of its servers; it need not be there.
        workspace: The project.
        data: What is in the file.
    """
    documents = [(data, portable_path(file, workspace))] if isinstance(data, dict) else []
    unreadable = []
    for path in _settings_of(file, workspace):
        source = portable_path(path, workspace)
        try:
            if path.is_file() and path != file.absolute():
                read = parse_client_file(read_text(path), source).data
                documents += [(read, source)] if isinstance(read, dict) else []
        except (ToolbeltError, OSError) as error:
            unreadable.append(Switch("", source, (), problem=f"{source} cannot be read: {error}"))
    return ClientSwitches(file.name, workspace, tuple(documents), tuple(unreadable))


def _settings_of(file: Path, workspace: Path) -> tuple[Path, ...]:
    """Other files of the client whose file it is."""
    if file.name in (".mcp.json", ".claude.json"):
        moved = os.environ.get("CLAUDE_CONFIG_DIR")
        user = Path(moved) if moved else Path.home() / ".claude"
        managed = {"darwin": "/Library/Application Support/ClaudeCode", "win32": r"C:\Program Files\ClaudeCode"}
        return (
            (user if moved else Path.home()) / ".claude.json",
            Path(managed.get(sys.platform, "/etc/claude-code"), "managed-settings.json"),
            workspace / ".claude" / "settings.local.json",
            workspace / ".claude" / "settings.json",
            user / "settings.json",
        )
    if file.parent.name == ".gemini":
        user = Path(os.environ.get("GEMINI_CLI_HOME") or Path.home()) / ".gemini"
        return (user / "settings.json", workspace / ".gemini" / "settings.json", user / _ENABLEMENT_FILE)
    if file.name == "config.toml":
        return (workspace / ".codex" / "config.toml", Path.home() / ".codex" / "config.toml")
    if file.stem == "opencode":
        user = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "opencode"
        return tuple(folder / f"opencode{end}" for folder in (workspace, user) for end in (".json", ".jsonc"))
    return ()


def parse_client_file(text: str, source: str) -> Document:
    """A client's file by its ending: TOML, YAML, else JSON with comments.

    Raises:
        InvalidFileError: it cannot be read.
    """
    if source.lower().endswith((".yaml", ".yml")):
        document = parse_yaml(text, source, merges=True)
        return replace(document, data={}) if document.data is None else document
    if not source.lower().endswith(".toml"):
        return parse_json(blank_comments(text) or "{}", source)
    import tomllib  # one client alone writes it

    try:
        return Document(tomllib.loads(text), source)
    except tomllib.TOMLDecodeError as error:
        raise InvalidFileError([Finding("syntax", Severity.ERROR, f"Not TOML: {error}.", source)]) from None


def _read_row(row: SwitchRow, value: Any, spec: ServerSpec, source: str) -> Iterator[Switch]:
    key = ".".join(part for part in row.place if part != "*").removeprefix("projects.") or "enabled"
    if type(value) is not (dict if row.means in _MAPPED else list):
        return  # of another meaning: `tools` and `permission` may be other settings
    match row.means:
        case Means.TOOLS_OFF:
            for written in (each for each in value if isinstance(each, str)):
                yield from _read_tool(row, written, spec, key, source)
        case Means.TOOLS_MAPPED:
            on = [each for each in value if value[each] in (True, "allow", "ask")]
            for written in (each for each in value if value[each] in (False, "deny")):
                longer = [each for each in on if len(each) > len(written)]
                patterns = tuple(pattern for each in longer for pattern in _tool_patterns(row, each, spec.name))
                for switch in _read_tool(row, written, spec, key, source):
                    yield replace(switch, exceptions=patterns)
        case Means.ENTRIES:
            section = Section.of(Document(value, source), spec.name)
            yield from read_switches(section, source) if isinstance(section.value, dict) else ()
        case Means.PROFILE:
            yield from _read_profile(value, spec.name, source)
        case _ if _is_server_off(row.means, value, spec):
            yield Switch(key, source)


def _is_server_off(means: Means, value: Any, spec: ServerSpec) -> bool:
    if means in (Means.SERVERS_OFF, Means.SERVERS_ON):
        listed = {_as_in_a_name(each) for each in value if isinstance(each, str)}
        return (_as_in_a_name(spec.name) in listed) is (means is Means.SERVERS_OFF)
    if means is Means.ENABLEMENT:
        states = {str(each).strip().casefold(): state for each, state in value.items()}
        state = states.get(spec.name.strip().casefold())
        return isinstance(state, dict) and state.get("enabled") is False
    entries = [each for each in value if isinstance(each, dict)]
    is_listed = _matches_any(spec, entries, all_kinds=means is Means.MATCHED_ON)
    return is_listed is (means is Means.MATCHED_OFF)


def _read_tool(row: SwitchRow, written: str, spec: ServerSpec, key: str, source: str) -> Iterator[Switch]:
    """A name or pattern with the server's in front."""
    name, has_condition, _ = written.partition("(")
    for pattern in _tool_patterns(row, name, spec.name):
        if has_condition:
            yield Switch(key, source, (), problem=f"{written!r} has a condition, by which no tool is off")
        else:
            yield Switch(key, source, (pattern,))


def _tool_patterns(row: SwitchRow, name: str, server: str) -> tuple[str, ...]:
    """What of a server a name or pattern with the server's in front means; nothing if it is of another server."""
    for spelling in dict.fromkeys((server, _as_in_a_name(server))):
        prefix = row.prefix.format(server=spelling)
        is_server = row.means is Means.TOOLS_OFF and name == prefix.removesuffix("__")
        if is_server or (name.endswith("*") and prefix.startswith(name.rstrip("*"))):
            return ("*",)
        if name.startswith(prefix):
            return (escape(name.removeprefix(prefix)).replace("[*]", "*"),)
    return ()


def _read_profile(agent: Any, server: str, source: str) -> Iterator[Switch]:
    """Zed's: a profile has tools by server, and whether those of other servers are on."""
    name, profiles = agent.get("default_profile", "write"), agent.get("profiles")
    profile = profiles.get(name) if isinstance(profiles, dict) and isinstance(name, str) else None
    if not isinstance(profile, dict):
        return
    servers = profile.get("context_servers")
    preset = servers.get(server) if isinstance(servers, dict) else None
    tools = preset.get("tools") if isinstance(preset, dict) else None
    states = tools if isinstance(tools, dict) else {}
    key = f"agent.profiles.{name}"
    if profile.get("enable_all_context_servers") is False:
        yield Switch(key, source, tuple(escape(tool) for tool, state in states.items() if state is True), only=True)
    elif off := tuple(escape(tool) for tool, state in states.items() if state is False):
        yield Switch(key, source, off)


def _as_in_a_name(server: str) -> str:
    """A server as clients write it in the names of tools."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", server)


def _matches_any(spec: ServerSpec, entries: Sequence[Mapping[str, Any]], *, all_kinds: bool) -> bool:
    """Whether a server is one of Claude Code's `{serverName}`, `{serverCommand}` or `{serverUrl}`.

    Args:
        spec: The server.
        entries: The list.
        all_kinds: Whether a command or URL must be listed where any is, whatever names are.
    """
    kind = "serverCommand" if spec.transport is Transport.STDIO else "serverUrl"
    by_kind = [each[kind] for each in entries if kind in each]
    if spec.transport is Transport.STDIO:
        is_listed = [spec.command, *spec.args] in by_kind
    else:
        is_listed = any(isinstance(each, str) and fnmatchcase(spec.url, each) for each in by_kind)
    is_named = any(each.get("serverName") == spec.name for each in entries)
    return is_listed or (is_named and not (all_kinds and by_kind))
