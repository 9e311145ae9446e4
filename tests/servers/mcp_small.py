"""A small MCP server over stdio, whose misbehaviour its tools cause."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, ListToolsResult, PaginatedRequestParams, TextContent, Tool
from mcp.types import CallToolResult as Result

_NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
DEFINITIONS: list[dict[str, Any]] = [
    {"name": "add", "description": "Add two numbers.", "inputSchema": _NUMBERS, "annotations": {"readOnlyHint": True}},
    {"name": "wait", "description": "Wait.", "inputSchema": {"type": "object"}, "_meta": {"group": "time"}},
    {"name": "exit", "description": "End the server.", "inputSchema": {"type": "object"}},
]
"""Its tools; `DESCRIPTION` in the environment is the description of the first."""


def _tools() -> list[Tool]:
    tools = [Tool.model_validate(definition) for definition in DEFINITIONS]
    tools[0].description = os.environ.get("DESCRIPTION", tools[0].description)
    return tools


async def _list(_context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
    """A tool a page."""
    page = int(params.cursor) if params is not None and params.cursor else 0
    tools = _tools()
    return ListToolsResult(tools=[tools[page]], next_cursor=str(page + 1) if page + 1 < len(tools) else None)


async def _call(_context: Any, params: CallToolRequestParams) -> Result:
    arguments = params.arguments or {}
    if params.name == "add":
        return Result(content=[TextContent(text=str(arguments["a"] + arguments["b"]), type="text")])
    if params.name == "exit":
        os._exit(3)
    await asyncio.sleep(arguments.get("seconds", 60))
    return Result(content=[])


async def _main() -> None:
    server: Server[Any] = Server("small", version="1.0", on_list_tools=_list, on_call_tool=_call)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


if __name__ == "__main__":
    if "--hang" in sys.argv:
        sys.stdin.read()
    asyncio.run(_main())
