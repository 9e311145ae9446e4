"""Toolsets: the policies that say what a model is shown at each request (rule E1)."""
