"""Scoring: what became of a trial, and why (rules E4 and E5)."""
