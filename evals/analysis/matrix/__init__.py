"""A run as a matrix of models × toolsets, and the recommended toolset of each model."""
