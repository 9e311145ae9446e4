"""The file of a project with the entries that left its clients' files, for whoever has the project (rule M9)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolbelt.errors import ToolbeltError
from toolbelt.mcp.configs.servers import is_secret_name
from toolbelt.sources import parse_json, read_text
from toolbelt.stores.files import replacing
from toolbelt.text import json_text

SHARED = "toolbelt.servers.json"
"""Beside `toolbelt.yaml`; a client's file by its form."""


def share_entries(file: Path, moved: Mapping[str, Any]) -> None:
    """Add entries to the file of the project, in place of those of the same names."""
    known = _read(file)
    entries = {name: _without_secrets(name, entry) for name, entry in moved["mcpServers"].items()}
    inputs = moved.get("inputs") or []
    inputs = [*inputs, *(each for each in known.get("inputs", []) if each not in inputs)]
    known = {**known, "mcpServers": {**known["mcpServers"], **entries}, **({"inputs": inputs} if inputs else {})}
    with replacing(file, "w") as handle:
        handle.write(json_text(known) + "\n")


def unshare_entries(file: Path, names: Sequence[str]) -> None:
    """Take entries out of the file of the project, which goes where none is left."""
    known = _read(file)
    known["mcpServers"] = {name: entry for name, entry in known["mcpServers"].items() if name not in names}
    if not known["mcpServers"]:
        file.unlink(missing_ok=True)
        return
    with replacing(file, "w") as handle:
        handle.write(json_text(known) + "\n")


def _read(file: Path) -> dict[str, Any]:
    data = parse_json(read_text(file), str(file)).data if file.exists() else {}
    if not isinstance(data, dict) or not isinstance(data.setdefault("mcpServers", {}), dict):
        raise ToolbeltError(f"{str(file)!r} is no file of `mcpServers`; correct or delete it.")
    return data


def _without_secrets(name: str, entry: Any) -> Any:
    """An entry with `${NAME}` for each value of `env` that is a secret by its name, and for each header."""
    if not isinstance(entry, dict):
        return entry
    made = dict(entry)
    for key in ("env", "headers", "http_headers"):
        if isinstance(values := entry.get(key), dict):
            made[key] = {each: _hide(name, each, value, key != "env") for each, value in values.items()}
    return made


def _hide(server: str, name: str, value: Any, is_header: bool) -> Any:
    if not isinstance(value, str) or not value or "$" in value or "{env:" in value:
        return value
    if not is_header:
        return f"${{{name}}}" if is_secret_name(name) else value
    scheme = next((word for word in ("Bearer ", "Basic ", "token ") if value.startswith(word)), "")
    return f"{scheme}${{{re.sub(r'[^A-Z0-9]+', '_', f'{server}_{name}'.upper())}}}"
