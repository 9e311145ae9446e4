"""How well rankers find the right tools: cases are searched, and no model is asked (rule S3)."""
