"""What a process of `mcp_everything` remembers: its tools as they are now, and a journal of what happened."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.servers.everything_definitions import Json


class State:
    """One process.

    Attributes:
        tools: Definitions by name, in the order listed.
        bus: Announces changes to clients of 2026-07-28.
    """

    def __init__(self, tools: tuple[Json, ...], patch: Mapping[str, Any], journal: Path | None) -> None:
        self.tools: dict[str, Json] = {tool["name"]: tool for tool in tools}
        self.bus = InMemorySubscriptionBus()
        self._journal = journal
        self._stdout = os.dup(1)
        """Standard output, before the SDK points descriptor 1 elsewhere."""
        self._patch(patch)

    def write(self, event: str, **data: Any) -> None:
        """Append an event to the journal, in one write, so that several processes may share the file."""
        if self._journal is not None:
            line = json.dumps({"event": event, "pid": os.getpid(), "at": time.time(), **data})
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def print_raw(self, line: str) -> None:
        """Write to standard output, past the protocol."""
        os.write(self._stdout, (line + "\n").encode())

    async def change(self, patch: Mapping[str, Any], ctx: ServerRequestContext[Any]) -> None:
        """Change definitions and announce it: a mapping of fields by tool name; `None` removes field or tool."""
        self._patch(patch)
        await self.bus.publish(ToolsListChanged())
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await ctx.session.send_tool_list_changed()

    async def update(self, uri: str, ctx: ServerRequestContext[Any]) -> None:
        """Announce that a resource changed."""
        await self.bus.publish(ResourceUpdated(uri))
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            await ctx.session.send_resource_updated(uri)

    def _patch(self, patch: Mapping[str, Any]) -> None:
        for name, fields in patch.items():
            if fields is None:
                self.tools.pop(name, None)
                continue
            merged = self.tools.get(name, {"name": name, "inputSchema": {"type": "object"}}) | fields
            self.tools[name] = {key: value for key, value in merged.items() if value is not None}
