"""Records what the search of pydantic-ai and of FastMCP finds, for `projects.json` beside this file.

`make search-projects` installs both in an environment of their own and runs this there. Of toolbelt it
imports nothing: it reads tools and queries from standard input, and writes names to standard output.

    {"tools": [{"name", "description", "parameters"}], "queries": […]}  ->  {"pydantic-ai": […], "fastmcp": […], …}
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any


def search_pydantic_ai(tools: list[dict[str, Any]], queries: list[str]) -> list[list[str]]:
    """The names that pydantic-ai's local `search_tools` finds for each query."""
    from pydantic_ai.exceptions import ModelRetry
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import FunctionToolset
    from pydantic_ai.toolsets._tool_search import ToolSearchToolset

    corpus = [ToolDefinition(name=tool["name"], description=tool["description"]) for tool in tools]
    search_tool: Any = SimpleNamespace(corpus=corpus, discovered_tool_names=set())
    toolset: Any = ToolSearchToolset(FunctionToolset())

    def find(query: str) -> list[str]:
        try:
            found = asyncio.run(toolset._search_tools({"queries": [query]}, None, search_tool))
        except ModelRetry:
            return []
        return [match["name"] for match in found["discovered_tools"]]

    return [find(query) for query in queries]


def search_fastmcp(tools: list[dict[str, Any]], queries: list[str]) -> list[list[str]]:
    """The names that FastMCP's BM25 search transform finds for each query."""
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools.base import Tool

    served = [Tool(name=tool["name"], description=tool["description"], parameters=tool["parameters"]) for tool in tools]
    transform = BM25SearchTransform()

    async def find_all() -> list[list[str]]:
        return [[tool.name for tool in await transform._search(served, query)] for query in queries]

    return asyncio.run(find_all())


def main() -> None:
    """Read, search, write."""
    given = json.load(sys.stdin)
    found = {
        "pydantic-ai": search_pydantic_ai(given["tools"], given["queries"]),
        "fastmcp": search_fastmcp(given["tools"], given["queries"]),
        "versions": {name: version(name) for name in ("pydantic-ai-slim", "fastmcp")},
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
