"""What a run comes to: summaries, comparisons, gates, matrices, costs."""
