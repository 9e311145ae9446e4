"""The measures of a run."""
