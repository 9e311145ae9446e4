"""Writing what `mcp_listing` is to list, and the entries of clients' files that start it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("mcp_listing.py")


def listed_tool(name: str, description: str = "Does it.", **fields: Any) -> dict[str, Any]:
    """A tool as a server lists it."""
    return {"name": name, "description": description, "inputSchema": {"type": "object", "properties": {}}, **fields}


def write_script(folder: Path, name: str, *tools: str | dict[str, Any], **behaviour: Any) -> dict[str, Any]:
    """What a server lists, on one page, or as `behaviour` says.

    Returns:
        The entry of a client's file that starts it.
    """
    entries = [listed_tool(tool) if isinstance(tool, str) else tool for tool in tools]
    path = folder / f"{name}.server.json"
    path.write_text(json.dumps({"pages": [entries], **behaviour}), encoding="utf-8")
    return {"command": sys.executable, "args": ["-S", "-E", str(SCRIPT), str(path)]}


def write_config(path: Path, **servers: Any) -> Path:
    """A client's file with these entries."""
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return path
