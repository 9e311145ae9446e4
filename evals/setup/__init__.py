"""Everything that comes before a run: inputs are opened, the plan is made, its arms are prepared."""
