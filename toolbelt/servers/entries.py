"""Reading one entry that describes a server, in a client's file or in `toolbelt.yaml` (rules M1, M3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.errors import suggestion
from toolbelt.servers.spec import ServerSpec, Transport
from toolbelt.servers.switches import read_switches
from toolbelt.sources.keys import Kind
from toolbelt.sources.section import Section

TRANSPORT_NAMES: Mapping[str, Transport] = MappingProxyType(
    {
        "stdio": Transport.STDIO,
        "http": Transport.HTTP,
        "streamable-http": Transport.HTTP,
        "streamable_http": Transport.HTTP,
        "streamablehttp": Transport.HTTP,
        "sse": Transport.SSE,
    }
)
"""How files name transports, ignoring case."""


@dataclass(frozen=True)
class EntryKeys:
    """How one kind of file spells the keys that differ between files.

    Attributes:
        transport: Which of them names the transport.
        url: Which of them has the URL.
        env_file: The file of further variables.
        allow_numbers: Whether the value of a variable may be a whole number, or null for no variable.
    """

    transport: tuple[str, ...]
    url: tuple[str, ...]
    env_file: str
    allow_numbers: bool


CLIENT_KEYS = EntryKeys(("type", "transport"), ("url", "serverUrl"), "envFile", allow_numbers=True)
"""Of MCP clients; `serverUrl` is Windsurf's."""
SERVER_KEYS = frozenset({"command", "cmd", "url", "serverUrl", "httpUrl", "uri"})
"""Keys of which an entry of a client has one."""
GOOSE_SERVERS = ("stdio", "sse", "streamable_http")
"""Types of Goose's extensions that are MCP servers."""
_RENAMED = {
    "cmd": "command",
    "uri": "url",
    "httpUrl": "url",
    "environment": "env",
    "envs": "env",
    "http_headers": "headers",
}
"""Keys of Goose (`cmd`, `uri`, `envs`), Gemini CLI (`httpUrl`), OpenCode (`environment`) and Codex (`http_headers`)."""
_TYPES = {"local": "stdio", "remote": "http"}
"""Of OpenCode and GitHub Copilot CLI."""
_BARE_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
_OPENCODE_VARIABLE = re.compile(r"(?<!\$)\{env:([A-Za-z_]\w*)\}")
PROJECT_KEYS = EntryKeys(("transport",), ("url",), "env_file", allow_numbers=False)
"""Of `toolbelt.yaml`."""


@dataclass(frozen=True)
class EntryOrigin:
    """Where entries are from.

    Attributes:
        source: The file, as the user would write it.
        files: Absolute paths of the files that define them.
        folder: Absolute; what relative paths are relative to.
        inputs: The questions of the file's `${input:ID}`.
        portable: The file as any user of the project would write it; empty for `source`.
    """

    source: str
    files: tuple[str, ...]
    folder: str
    inputs: Mapping[str, str] = FrozenDict()
    portable: str = ""


def in_common_form(entry: Mapping[str, Any], *, has_bare_variables: bool = False) -> dict[str, Any]:
    """An entry of any client under the keys that most of them have.

    Args:
        entry: As it is written.
        has_bare_variables: Whether the client replaces `$NAME` within a value; a value that is `$NAME` alone is
            a variable in any file.
    """
    common = {key: value for key, value in entry.items() if key not in _RENAMED}
    for key, usual in _RENAMED.items():
        if key in entry:
            common.setdefault(usual, entry[key])
    if "httpUrl" in entry:
        common.setdefault("type", "http")
    if isinstance(command := common.get("command"), list) and command:  # OpenCode
        common |= {"command": command[0], "args": [*command[1:], *(common.get("args") or ())]}
    elif isinstance(command, dict):  # Zed
        common |= {"command": command.get("path"), **{key: command[key] for key in ("args", "env") if key in command}}
    if isinstance(common.get("type"), str):
        common["type"] = _TYPES.get(common["type"].casefold(), common["type"])
    common |= _values_by_name(entry, common)
    for key in ("env", "headers", "args", "url"):
        if key in common:
            is_secret = key in ("env", "headers")  # elsewhere, `$match` may be what a program wants
            common[key] = _with_usual_variables(common[key], within=has_bare_variables, whole=is_secret)
    return common


def _values_by_name(entry: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Headers and variables of an entry with those of which it has the names: Codex's, and Goose's `env_keys`."""
    headers, env = ({**value} if isinstance(value := common.get(key), dict) else {} for key in ("headers", "env"))
    if isinstance(name := entry.get("bearer_token_env_var"), str):
        headers.setdefault("Authorization", f"Bearer ${{{name}}}")
    if isinstance(variables := entry.get("env_http_headers"), dict):
        headers |= {header: f"${{{name}}}" for header, name in variables.items()}
    for key, default in (("env_vars", ":-"), ("env_keys", "")):
        names = entry.get(key)
        for name in (name for name in names if isinstance(name, str)) if isinstance(names, list) else ():
            env.setdefault(name, f"${{{name}{default}}}")
    return {key: value for key, value in (("headers", headers), ("env", env)) if value}


def _with_usual_variables(value: Any, *, within: bool, whole: bool) -> Any:
    """`{env:NAME}` as `${NAME}`, and `$NAME` within a value or where it is the whole value."""
    if isinstance(value, dict):
        return {key: _with_usual_variables(each, within=within, whole=whole) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_usual_variables(each, within=within, whole=whole) for each in value]
    if not isinstance(value, str):
        return value
    if within or (whole and _BARE_VARIABLE.fullmatch(value)):
        value = _BARE_VARIABLE.sub(r"${\1}", value)
    return _OPENCODE_VARIABLE.sub(r"${\1}", value)


def read_entry(section: Section, name: str, origin: EntryOrigin, keys: EntryKeys) -> ServerSpec | None:
    """The server of an entry; `None` where it is wrong, with the findings in the section.

    Keys that no rule knows are not looked at: clients have many of their own.
    """
    before = len(section.findings)
    if section.read_mapping() is None:
        return None
    url_key = _first(section, keys.url)
    command, url = section.read_text("command"), section.read_text(url_key)
    if len(section.findings) > before:
        return None
    transport = _read_transport(section, command, url, keys)
    args = _read_arguments(section)
    env = _read_values(section, "env", keys)
    headers = _read_values(section, "headers", keys)
    cwd, env_file = section.read_text("cwd"), section.read_text(keys.env_file)
    switches = read_switches(section, origin.portable or origin.source) if keys is CLIENT_KEYS else ()
    for text in (command, *args, *env, *env.values(), cwd, env_file, url, *headers, *headers.values()):
        if text is not None and "\0" in text:
            section.add_error("bad-character", f"{section.label}: no program can be given a NUL character.")
            break
    if transport is None or len(section.findings) > before:
        return None
    return ServerSpec(
        name,
        transport,
        command=command or "",
        args=args,
        cwd=cwd or "",
        env=env,
        env_file=env_file or "",
        url=url or "",
        headers=headers,
        source=origin.source,
        files=origin.files,
        folder=origin.folder,
        switches=switches,
        inputs=origin.inputs,
    )


def _first(section: Section, keys: tuple[str, ...]) -> str:
    return next((key for key in keys if section.child(key).value is not None), keys[0])


def _read_transport(section: Section, command: str | None, url: str | None, keys: EntryKeys) -> Transport | None:
    key = _first(section, keys.transport)
    written = section.read_text(key)
    named = None
    if written is not None and (named := TRANSPORT_NAMES.get(written.casefold())) is None:
        hint = suggestion(written, ("stdio", "http", "sse"))
        section.child(key).add_error("unknown-transport", f"{section.label}: no transport is named {written!r}.{hint}")
        return None
    if command is not None and url is not None:
        section.add_error("contradiction", f"{section.label} has a `command` and a `{keys.url[0]}`; keep one of them.")
        return None
    needed = "command" if named is Transport.STDIO else keys.url[0]
    if command is None and url is None:
        what = f"a `{needed}`" if named else f"a `command` or a `{keys.url[0]}`"
        section.add_error("missing-key", f"{section.label} needs {what}.")
        return None
    if named is not None and (named is Transport.STDIO) != (command is not None):
        section.add_error("missing-key", f"{section.label} needs a `{needed}`, for its transport is {written!r}.")
        return None
    if named is not None or command is not None:
        return named or Transport.STDIO
    return Transport.SSE if _path_of(url or "").rstrip("/").endswith("/sse") else Transport.HTTP


def _path_of(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:  # such as a bracket that is left open; whoever connects will refuse it
        return ""


def _read_arguments(section: Section) -> tuple[str, ...]:
    items = section.read_items("args", Kind.ARGUMENTS.value)
    return tuple(text for item in items if (text := _read_argument(item)) is not None)


def _read_argument(item: Section) -> str | None:
    if item.value is None:
        item.add_wrong_type("text")
    return item.read_text(blank=True)  # an argument may be empty


def _read_values(section: Section, key: str, keys: EntryKeys) -> FrozenDict:
    values: dict[str, str] = {}
    for name in section.read_mapping(key, Kind.VALUES.value) or ():
        member = section.child(key).child(name)
        if keys.allow_numbers and (member.value is None or type(member.value) is int):
            if member.value is not None:
                values[name] = str(member.value)
            continue
        if member.value is None:
            member.add_wrong_type("text")
        elif member.is_name(name) and (text := member.read_text(blank=True)) is not None:
            values[name] = text
    return FrozenDict(values)
