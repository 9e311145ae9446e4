"""Cases, and the datasets they come in."""
