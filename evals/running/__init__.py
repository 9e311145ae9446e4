"""Running: the plan, the trials, and the file in which nothing is lost (rule E8)."""
