"""Compares two arms over the same cases: the differences, their size, and how sure they are (rule E7)."""
