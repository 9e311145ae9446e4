"""Tools granted together, by one switch: who has them, what the prompt says, what a request is narrowed to."""
