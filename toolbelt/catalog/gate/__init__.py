"""What is different between two versions of a catalog, and what of it makes tools worse."""
