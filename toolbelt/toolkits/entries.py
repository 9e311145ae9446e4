"""Entries that mean several tools each, and which of them is heard about a tool (rules D1, D6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

Said = TypeVar("Said")


def widest_first(entries: Iterable[str], matched: Mapping[str, Sequence[str]]) -> list[str]:
    """Entries in the order in which each overrules those before it: the fewer tools it means, the later.

    `git` for the whole plugin, and `git/push` for what is special about that one. Of those that mean as many, the last
    is heard.

    Args:
        entries: As written, in order.
        matched: By entry, the keys of the tools that it means.
    """
    return sorted(entries, key=lambda entry: -len(matched[entry]))


def heard(said: Mapping[str, Said], matched: Mapping[str, Sequence[str]]) -> dict[str, Said]:
    """By key of a tool, what the entry that is heard says of it; see `widest_first`.

    Args:
        said: By entry, in order.
        matched: By entry, the keys of the tools that it means.
    """
    return {key: said[entry] for entry in widest_first(said, matched) for key in matched[entry]}
