"""MCP servers as files describe them: values in, values out. Nothing here starts one; `toolbelt.mcp` does."""

from toolbelt.servers.spec import ServerSpec, Transport

__all__ = ["ServerSpec", "Transport"]
