"""Dynamic toolkits: an agent loads and unloads them itself, per agent and session (rules D1 to D8)."""
