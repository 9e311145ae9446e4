"""The gateway: what a client is shown, and how its calls reach servers."""
