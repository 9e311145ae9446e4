"""Connections to MCP servers: processes, HTTP, logins."""
