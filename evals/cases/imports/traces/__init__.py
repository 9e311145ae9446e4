"""What agents and tracers record, as conversations: a reader for each format."""
