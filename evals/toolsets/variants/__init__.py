"""Toolsets with one thing about them changed: order, length, names, descriptions, company."""
