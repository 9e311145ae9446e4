"""Drafting cases with a model, for somebody to review."""
