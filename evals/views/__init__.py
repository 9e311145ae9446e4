"""What a run came to, for people: tables, Markdown, CSV and pictures."""
