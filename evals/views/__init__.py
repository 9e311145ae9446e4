"""Shows a run's results to people: tables, Markdown, CSV and pictures."""
