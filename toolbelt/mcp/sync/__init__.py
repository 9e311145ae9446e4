"""Servers asked for their tools, and a catalog made of the answers."""
