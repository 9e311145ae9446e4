"""Pictures of a run, drawn with matplotlib."""
