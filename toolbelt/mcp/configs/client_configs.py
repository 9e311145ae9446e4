"""The files in which MCP clients keep their servers: where they are, and what they hold (rule M1)."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.mcp.configs.client_switches import ClientSwitches, find_client_switches, parse_client_file
from toolbelt.servers.entries import CLIENT_KEYS, GOOSE_SERVERS, SERVER_KEYS, EntryOrigin, in_common_form, read_entry
from toolbelt.servers.spec import ServerSpec
from toolbelt.sources import Document, Key, read_text
from toolbelt.sources.section import Section
from toolbelt.stores.files import portable_path, shown_path


class ClientForm(StrEnum):
    """How a file holds its servers; the value is the key that has them."""

    MCP_SERVERS = "mcpServers"
    SERVERS = "servers"
    """VS Code's."""
    CONTEXT_SERVERS = "context_servers"
    """Zed's."""
    CODEX = "mcp_servers"
    AMP = "amp.mcpServers"
    OPENCODE = "mcp"
    """Crush's, too."""
    GOOSE = "extensions"
    BARE = "bare"
    """The file is the mapping of servers itself."""
    NONE = "none"
    """No servers."""


COMPLETING_FORMS = (ClientForm.CODEX, ClientForm.OPENCODE)
"""Of clients that join the entries of one name in the files of project and user."""


@dataclass(frozen=True)
class ClientConfig:
    """A client's file, read.

    Attributes:
        path: As given.
        servers: Those without a mistake, in the order of the file.
        findings: Everything wrong with the file.
        mistakes: Those of them that are about one entry, by its name.
        form: How the file holds them.
        gateways: Names of entries that start `toolbelt serve`, which are no servers to read.
        around: What the client switches off elsewhere than in entries; `None` where the file cannot be read.
    """

    path: Path
    servers: tuple[ServerSpec, ...] = ()
    findings: tuple[Finding, ...] = ()
    mistakes: Mapping[str, tuple[Finding, ...]] = FrozenDict()
    form: ClientForm = ClientForm.NONE
    gateways: tuple[str, ...] = ()
    around: ClientSwitches | None = None

    @property
    def left_out(self) -> tuple[Finding, ...]:
        """Everything that is wrong, as warnings: an entry with a mistake does not refuse the others (rule V6)."""
        return tuple(replace(finding, severity=Severity.WARNING) for finding in self.findings)

    def refuse(self) -> None:
        """Raise everything that is wrong, if no entry can be read.

        Raises:
            InvalidFileError: the file is wrong, or each of its entries.
        """
        if self.findings and not self.servers:
            raise InvalidFileError(self.findings)


@dataclass(frozen=True)
class FoundConfig:
    """A client's file.

    Attributes:
        client: Name of the client, as its users know it.
        path: Absolute.
        is_project: Whether it belongs to the folder, not to the user.
    """

    client: str
    path: Path
    is_project: bool


def read_client_config(
    path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None, *, may_have_none: bool = False
) -> ClientConfig:
    """The servers of a client's file: JSON, with comments and commas at the end of lists, TOML or YAML.

    Args:
        path: Of the file, whose ending says which it is.
        folder: The project that `${workspaceFolder}` stands for, and of which `~/.claude.json` may have an entry. By
            default the folder that the file belongs to, or the working directory where it belongs to the user.
        may_have_none: Whether a file without servers is right.

    Raises:
        NotFoundError: no such file.
        StorageError: it may not be read.
    """
    file = Path(path)
    absolute = file.absolute()
    source = shown_path(absolute)
    workspace = Path(folder).absolute() if folder is not None else _workspace_of(absolute)
    try:
        document = parse_client_file(read_text(file), source)
    except InvalidFileError as error:
        return ClientConfig(file, findings=tuple(_with_file(error.findings, source)))
    section = Section.of(document)
    if section.read_mapping() is None:
        return ClientConfig(file, findings=tuple(section.findings))
    form, places = find_server_places(document, workspace)
    if form is ClientForm.NONE and not (may_have_none or _may_have_none(document)):
        keys = ", ".join(f"`{form.value}`" for form in ClientForm if form not in (ClientForm.BARE, ClientForm.NONE))
        section.add_error("no-servers", f"This file has no servers: none of {keys}, nor entries with a `command`.")
    inputs, portable = _read_inputs(document), portable_path(absolute, workspace)
    origin = EntryOrigin(source, (str(absolute),), str(workspace), inputs, portable)
    servers: dict[str, ServerSpec] = {}
    gateways: list[str] = []
    mistakes: dict[str, tuple[Finding, ...]] = {}
    around = find_client_switches(absolute, workspace, document.data)
    for place in places:
        _name_items(document.data, place)
        for name, entry in section.at(place).read_members("server"):
            before = len(section.findings)
            if isinstance(entry.value, dict):
                if form is ClientForm.GOOSE and entry.value.get("type") not in GOOSE_SERVERS:
                    continue  # a part of Goose itself
                if form in COMPLETING_FORMS and not SERVER_KEYS & entry.value.keys():
                    continue  # it completes the entry of another file, where its switches are read, too
                entry.value = in_common_form(entry.value, has_bare_variables=absolute.parent.name == ".gemini")
            if isinstance(entry.value, dict) and _is_gateway(entry.value):
                gateways.append(name)
            elif (spec := read_entry(entry, name, origin, CLIENT_KEYS)) is not None:
                servers[name] = replace(spec, switches=(*spec.switches, *around.of(spec)))
            if new := section.findings[before:]:
                mistakes[name] = tuple(new)
    return ClientConfig(
        file,
        tuple(servers.values()),
        sorted_findings(section.findings),
        FrozenDict(mistakes),
        form,
        tuple(gateways),
        around,
    )


def find_client_configs(
    folder: str | os.PathLike[str],
    home: str | os.PathLike[str] | None = None,
    platform: str = sys.platform,
    environment: Mapping[str, str] = FrozenDict(),
) -> tuple[FoundConfig, ...]:
    """The clients' files of a project folder, then of the user.

    Args:
        folder: The project.
        home: The user's folder; that of whoever runs this by default.
        platform: As `sys.platform` has it.
        environment: Its `XDG_CONFIG_HOME`, `APPDATA`, `LOCALAPPDATA`, `CLAUDE_CONFIG_DIR` move a user's files.
    """
    places = list_client_places(folder, home, platform, environment)
    return tuple(place for place in places if place.path.is_file())


def list_client_places(
    folder: str | os.PathLike[str],
    home: str | os.PathLike[str] | None = None,
    platform: str = sys.platform,
    environment: Mapping[str, str] = FrozenDict(),
) -> tuple[FoundConfig, ...]:
    """Where the files of `find_client_configs` would be; arguments as there."""
    base = Path(folder).absolute()
    at_home = Path.home() if home is None else Path(home).absolute()
    config = _config_folder(at_home, platform, environment)
    claude = Path(environment["CLAUDE_CONFIG_DIR"]) if environment.get("CLAUDE_CONFIG_DIR") else at_home
    local = Path(environment["LOCALAPPDATA"]) if environment.get("LOCALAPPDATA") else at_home / "AppData" / "Local"
    bases = {
        "project": base,
        "home": at_home,
        "claude": claude,
        "config": config,
        "xdg": Path(environment.get("XDG_CONFIG_HOME") or at_home / ".config"),
        "code": config / "Code" / "User",
        "store": local / _STORE_FOLDER,
    }
    rows = (row for row in CLIENT_PLACES if row[1] != "store" or platform == "win32")
    places = (FoundConfig(client, bases[root] / name, root == "project") for client, root, name in rows)
    return tuple({place.path: place for place in places}.values())


_EXTENSIONS = "globalStorage"
CLIENT_PLACES = (
    ("Claude Code", "project", ".mcp.json"),
    ("Cursor", "project", ".cursor/mcp.json"),
    ("VS Code", "project", ".vscode/mcp.json"),
    ("Gemini CLI", "project", ".gemini/settings.json"),
    ("Codex", "project", ".codex/config.toml"),
    ("Zed", "project", ".zed/settings.json"),
    ("OpenCode", "project", "opencode.json"),
    ("OpenCode", "project", "opencode.jsonc"),
    ("Kiro", "project", ".kiro/settings/mcp.json"),
    ("Roo Code", "project", ".roo/mcp.json"),
    ("Junie", "project", ".junie/mcp/mcp.json"),
    ("Claude Code", "claude", ".claude.json"),
    ("Claude Desktop", "store", "Claude/claude_desktop_config.json"),  # what the Microsoft Store installs
    ("Claude Desktop", "config", "Claude/claude_desktop_config.json"),
    ("Cursor", "home", ".cursor/mcp.json"),
    ("Windsurf", "home", ".codeium/windsurf/mcp_config.json"),
    ("VS Code", "code", "mcp.json"),
    ("VS Code Insiders", "config", "Code - Insiders/User/mcp.json"),
    ("Gemini CLI", "home", ".gemini/settings.json"),
    ("Codex", "home", ".codex/config.toml"),
    ("Zed", "xdg", "zed/settings.json"),
    ("OpenCode", "xdg", "opencode/opencode.json"),
    ("OpenCode", "xdg", "opencode/opencode.jsonc"),
    ("Goose", "xdg", "goose/config.yaml"),
    ("Amp", "xdg", "amp/settings.json"),
    ("GitHub Copilot CLI", "home", ".copilot/mcp-config.json"),
    ("LM Studio", "home", ".lmstudio/mcp.json"),
    ("Junie", "home", ".junie/mcp/mcp.json"),
    ("Continue", "home", ".continue/config.yaml"),
    ("Kiro", "home", ".kiro/settings/mcp.json"),
    ("Cline", "code", f"{_EXTENSIONS}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
    ("Roo Code", "code", f"{_EXTENSIONS}/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
)
"""Client, folder and file, by the clients' documentation in November 2026; of a project first."""


def starts_gateway(command: str, args: Sequence[str]) -> bool:
    """Whether a command starts `toolbelt serve`: by any path, as a module, through `uvx`, `env` or a shell."""
    words = [command, *args]
    if len(words) == 1 and " " in command:  # a whole command line, as some files have it
        words = _split(command)
    for index, word in enumerate(words):
        is_script = " " in word and index > 0 and _program(words[0]) in _SHELLS
        if is_script and starts_gateway(words[0], _split(word)):
            return True
        follows = words[index + 1 : index + 2]
        names_us = _is_toolbelt(word) or word == "-mtoolbelt" or (word == "-m" and follows == ["toolbelt"])
        if names_us and (index == 0 or word.startswith("-m") or _program(words[0]) in _LAUNCHERS):
            after = words[index + (2 if word == "-m" else 1) :]
            if next((arg for arg in after if not arg.startswith("-")), "") == "serve":
                return True
    return False


_STORE_FOLDER = Path("Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming")
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "cmd", "powershell", "pwsh"})
_LAUNCHERS = _SHELLS | {
    "conda", "env", "hatch", "mise", "nice", "nohup", "pdm", "pipx", "poetry", "py", "python", "rye", "stdbuf", "sudo",
    "timeout", "uv", "uvx", "wsl",
}  # fmt: skip
_OWN_NAMES = frozenset({"toolbelt", "agent-toolbelt"})


def _program(word: str) -> str:
    """The name of a program without its folder, `.exe` and version: `python` for `/usr/bin/python3.12`."""
    name = PureWindowsPath(PurePosixPath(word).name).name.casefold()
    name = re.sub(r"\.(exe|cmd|bat)$", "", name)
    return re.sub(r"[\d.]+$", "", name) if name.startswith(("python", "py")) else name


def _is_toolbelt(word: str) -> bool:
    # A package may have extras and a version: `agent-toolbelt[dask]==1.2`, `toolbelt@latest`.
    return re.split(r"[\[@=<>~! ]", _program(word), maxsplit=1)[0] in _OWN_NAMES


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is left open
        return text.split()


def _is_gateway(entry: Mapping[str, object]) -> bool:
    command, args = entry.get("command"), entry.get("args")
    words = [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
    return isinstance(command, str) and starts_gateway(command, words)


def _config_folder(home: Path, platform: str, environment: Mapping[str, str]) -> Path:
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform.startswith(("win", "cygwin")):
        return Path(environment["APPDATA"]) if environment.get("APPDATA") else home / "AppData" / "Roaming"
    return Path(environment["XDG_CONFIG_HOME"]) if environment.get("XDG_CONFIG_HOME") else home / ".config"


def _workspace_of(file: PurePath) -> Path:
    """The project that a file belongs to; the working directory for a user's file."""
    if file.parent.name in (".vscode", ".cursor", ".gemini", ".codex", ".zed", ".roo"):
        return Path(file.parent.parent)
    return Path(file.parent) if file.name in (".mcp.json", "opencode.json", "opencode.jsonc") else Path.cwd()


def find_server_places(document: Document, workspace: Path) -> tuple[ClientForm, list[tuple[Key, ...]]]:
    """The form of a client's file, and where in it mappings of servers are; a later one takes precedence."""
    data = document.data
    of_project: list[tuple[Key, ...]] = []
    if isinstance(projects := data.get("projects"), dict):
        names = (name for name in projects if isinstance(projects[name], dict) and "mcpServers" in projects[name])
        of_project = [("projects", name, "mcpServers") for name in names if Path(name) == workspace]
    if "mcpServers" in data or of_project:
        return ClientForm.MCP_SERVERS, [*([("mcpServers",)] if "mcpServers" in data else []), *of_project]
    if isinstance(data.get("servers"), dict):
        return ClientForm.SERVERS, [("servers",)]
    if isinstance(data.get("mcp"), dict) and "servers" in data["mcp"]:  # VS Code's settings.json
        return ClientForm.SERVERS, [("mcp", "servers")]
    for form in (ClientForm.CONTEXT_SERVERS, ClientForm.CODEX, ClientForm.AMP):
        if isinstance(data.get(form.value), dict):
            return form, [(form.value,)]
    for form in (ClientForm.OPENCODE, ClientForm.GOOSE):  # keys that other programs have for other things
        if _has_entries(data.get(form.value)):
            return form, [(form.value,)]
    if _has_entries(data, SERVER_KEYS - {"cmd", "uri"}):
        return ClientForm.BARE, [()]
    return ClientForm.NONE, []


def _name_items(data: Any, place: Sequence[Key]) -> None:
    """Turn Continue's list of entries with a `name` into a mapping."""
    for key in place[:-1]:
        data = data[key]
    items = data.get(place[-1]) if place else None
    if isinstance(items, list) and items and all(isinstance(item, dict) and "name" in item for item in items):
        data[place[-1]] = {str(item["name"]): item for item in items}


def _has_entries(value: object, keys: frozenset[str] = SERVER_KEYS) -> bool:
    entries = value.values() if isinstance(value, dict) else ()
    return any(isinstance(entry, dict) and bool(keys & entry.keys()) for entry in entries)


def _may_have_none(document: Document) -> bool:
    """Whether a file of a client that has further settings is right without servers."""
    return not document.data or bool({"projects", "inputs", "preferences", "globalShortcut"} & document.data.keys())


def _read_inputs(document: Document) -> FrozenDict:
    """The questions of VS Code's `inputs`, by id."""
    inputs = document.data.get("inputs")
    described = (entry for entry in inputs if isinstance(entry, dict)) if isinstance(inputs, list) else ()
    return FrozenDict({str(entry["id"]): str(entry.get("description", "")) for entry in described if "id" in entry})


def _with_file(findings: Sequence[Finding], source: str) -> Iterator[Finding]:
    return (replace(finding, file=source) for finding in findings)
