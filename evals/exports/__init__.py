"""A run in the forms that other programs read (rule E10)."""
