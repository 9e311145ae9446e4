"""What caching saves and what changing the tools offered costs (rule E6)."""
