"""Recorded responses: a model's answers, kept in a file and reused for the same request (rule X3)."""
