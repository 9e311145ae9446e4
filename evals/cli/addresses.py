"""Addresses that are kept, and shown to others."""

from __future__ import annotations


def without_secrets(address: str | None) -> str | None:
    """An address without user, password, query and fragment, which may hold a key."""
    if address is None:
        return None
    head, slashes, rest = address.partition("?")[0].partition("#")[0].rpartition("//")
    host, slash, path = rest.partition("/")
    return f"{head}{slashes}{host.rpartition('@')[2]}{slash}{path}"
