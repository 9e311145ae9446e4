"""Toolkits that an agent loads and unloads itself, from one turn to the next, kept per agent and session (D1 to D8)."""
