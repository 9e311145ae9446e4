"""Reducers, which shorten results before they are cut (rule R5)."""
