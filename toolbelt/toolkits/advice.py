"""The nearest names for what is written wrong, as long as there is little of it."""

from __future__ import annotations

from collections.abc import Iterable

from toolbelt.errors import suggestion

MOST = 50
"""Mistakes that are given advice; each costs a comparison with every name there is, and nobody reads so many."""


class Advice:
    """Says of the first mistakes of one reading what may have been meant, and nothing of those that follow."""

    def __init__(self) -> None:
        self._left = MOST

    def __call__(self, name: str, known: Iterable[str]) -> str:
        """What `suggestion` says, or empty text where there was enough."""
        if self._left == 0:
            return ""
        self._left -= 1
        return suggestion(name, known)
