"""Which toolset each model bears: a run laid out as models × toolsets, and what follows from it."""
