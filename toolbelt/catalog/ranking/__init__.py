"""Tools ranked for a text (rule S2): one protocol, by words, by a pattern, by vectors or by a function."""
