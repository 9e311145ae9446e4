"""toolbelt's files."""
