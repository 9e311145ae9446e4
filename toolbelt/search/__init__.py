"""Tools that are found by a search and shown then, as several projects do it (rule S1)."""
