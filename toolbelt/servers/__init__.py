"""MCP servers as files describe them: values in, values out. Nothing here starts one; `toolbelt.mcp` does."""

from toolbelt.servers.spec import Approvable, PythonReference, ServerSpec, Transport

__all__ = ["Approvable", "PythonReference", "ServerSpec", "Transport"]
