"""MCP: client configurations, servers to ask, and the gateway; `mcp` itself is imported where it is first needed."""
