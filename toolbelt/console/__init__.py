"""The terminal: safe text, tables, pictures."""
