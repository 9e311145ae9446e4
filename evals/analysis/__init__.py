"""Analyses runs: summaries, comparisons, gates, matrices, costs."""
