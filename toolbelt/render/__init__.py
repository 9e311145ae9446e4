"""Views (values) as terminal text, Markdown and HTML."""
