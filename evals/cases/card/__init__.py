"""The card of a dataset: what it is, how it was made and read, and what it holds, for machines."""
