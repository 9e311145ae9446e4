"""The engine that spreads a run over the workers of a Dask cluster (rule X5)."""
