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

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.servers.entries import CLIENT_KEYS, EntryOrigin, read_entry
from toolbelt.servers.spec import ServerSpec
from toolbelt.sources import Document, Key, blank_comments, parse_json, read_text
from toolbelt.sources.section import Section
from toolbelt.stores.files import shown_path


class ClientForm(StrEnum):
    """How a file holds its servers."""

    MCP_SERVERS = "mcpServers"
    SERVERS = "servers"
    """VS Code's."""
    BARE = "bare"
    """The file is the mapping of servers itself."""
    NONE = "none"
    """No servers."""


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
    """

    path: Path
    servers: tuple[ServerSpec, ...] = ()
    findings: tuple[Finding, ...] = ()
    mistakes: Mapping[str, tuple[Finding, ...]] = FrozenDict()
    form: ClientForm = ClientForm.NONE
    gateways: tuple[str, ...] = ()

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


def read_client_config(path: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> ClientConfig:
    """The servers of a client's file: JSON, with comments and commas at the end of lists.

    Args:
        path: Of the file.
        folder: The project that `${workspaceFolder}` stands for, and of which `~/.claude.json` may have an entry. By
            default the folder that the file belongs to, or the working directory where it belongs to the user.

    Raises:
        NotFoundError: no such file.
        StorageError: it may not be read.
    """
    file = Path(path)
    absolute = file.absolute()
    source = shown_path(absolute)
    workspace = Path(folder).absolute() if folder is not None else _workspace_of(absolute)
    try:
        document = parse_json(blank_comments(read_text(file)) or "{}", source)
    except InvalidFileError as error:
        return ClientConfig(file, findings=tuple(_with_file(error.findings, source)))
    section = Section.of(document)
    if section.read_mapping() is None:
        return ClientConfig(file, findings=tuple(section.findings))
    form, places = find_server_places(document, workspace)
    if form is ClientForm.NONE and not _may_have_none(document):
        section.add_error(
            "no-servers", "This file has no servers: neither `mcpServers` nor `servers`, nor entries with a `command`."
        )
    origin = EntryOrigin(source, (str(absolute),), str(workspace), _read_inputs(document))
    servers: dict[str, ServerSpec] = {}
    gateways: list[str] = []
    mistakes: dict[str, tuple[Finding, ...]] = {}
    switched_off = _find_switched_off(document, workspace)
    for place in places:
        for name, entry in section.at(place).read_members("server"):
            before = len(section.findings)
            if isinstance(entry.value, dict) and _is_gateway(entry.value):
                gateways.append(name)
            elif (spec := read_entry(entry, name, origin, CLIENT_KEYS)) is not None:
                servers[name] = replace(spec, disabled=True) if name in switched_off else spec
            if new := section.findings[before:]:
                mistakes[name] = tuple(new)
    return ClientConfig(
        file,
        tuple(servers.values()),
        sorted_findings(section.findings),
        FrozenDict(mistakes),
        form,
        tuple(gateways),
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
    desktop = Path("Claude", "claude_desktop_config.json")
    places = [
        ("Claude Code", base / ".mcp.json", True),
        ("Cursor", base / ".cursor" / "mcp.json", True),
        ("VS Code", base / ".vscode" / "mcp.json", True),
        ("Claude Code", claude / ".claude.json", False),
        ("Claude Desktop", config / desktop, False),
        ("Cursor", at_home / ".cursor" / "mcp.json", False),
        ("Windsurf", at_home / ".codeium" / "windsurf" / "mcp_config.json", False),
        ("VS Code", config / "Code" / "User" / "mcp.json", False),
        ("VS Code Insiders", config / "Code - Insiders" / "User" / "mcp.json", False),
    ]
    if platform == "win32":  # what the Microsoft Store installs has its files in a place of its own
        places.insert(5, ("Claude Desktop", local / _STORE_FOLDER / desktop, False))
    return tuple(FoundConfig(*place) for place in dict.fromkeys(places))


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
    if file.parent.name in (".vscode", ".cursor"):
        return Path(file.parent.parent)
    return Path(file.parent) if file.name == ".mcp.json" else Path.cwd()


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
    if any(isinstance(entry, dict) and {"command", "url", "serverUrl"} & entry.keys() for entry in data.values()):
        return ClientForm.BARE, [()]
    return ClientForm.NONE, []


def _may_have_none(document: Document) -> bool:
    """Whether a file of a client that has further settings is right without servers."""
    return not document.data or bool({"projects", "inputs", "preferences", "globalShortcut"} & document.data.keys())


def _find_switched_off(document: Document, workspace: Path) -> frozenset[str]:
    """Names that Claude Code's entry of the project switches off, be they the project's servers or the user's."""
    projects = document.data.get("projects")
    off: set[str] = set()
    for name, project in projects.items() if isinstance(projects, dict) else ():
        names = project.get("disabledMcpServers") if isinstance(project, dict) and Path(name) == workspace else None
        if isinstance(names, list):
            off.update(each for each in names if isinstance(each, str))
    return frozenset(off)


def _read_inputs(document: Document) -> FrozenDict:
    """The questions of VS Code's `inputs`, by id."""
    inputs = document.data.get("inputs")
    described = (entry for entry in inputs if isinstance(entry, dict)) if isinstance(inputs, list) else ()
    return FrozenDict({str(entry["id"]): str(entry.get("description", "")) for entry in described if "id" in entry})


def _with_file(findings: Sequence[Finding], source: str) -> Iterator[Finding]:
    return (replace(finding, file=source) for finding in findings)
