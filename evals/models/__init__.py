"""Models: what is asked to choose (rule E2)."""
