"""The files of MCP clients, and the servers that they and `toolbelt.yaml` define."""
