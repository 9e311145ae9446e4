"""Whether a query gives away the tool that is to be found."""

from __future__ import annotations

import re

_COMPOUND = re.compile(r"[a-z0-9][A-Z]|[^A-Za-z]")
"""In names that nobody would write by chance: `git_push`, `getWeather`; unlike `search`."""


def names_tool(query: str, name: str) -> bool:
    """Whether a tool's name stands in a query as a word of its own, case aside; not for names that are plain words."""
    if not _COMPOUND.search(name):
        return False
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", query.casefold()) is not None
