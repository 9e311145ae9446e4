"""The one pattern language of loadouts (rule L4).

A trailing `*` makes a case-insensitive prefix, `*` alone matches all, anything else is case-insensitive
equality. A `*` elsewhere is a plain character.
"""

from __future__ import annotations


def fold(name: str) -> str:
    """The form in which names are compared."""
    return name.casefold()


def is_prefix_pattern(pattern: str) -> bool:
    """Whether `pattern` stands for more than one name."""
    return pattern.endswith("*")


def has_inner_star(pattern: str) -> bool:
    """Whether a `*` stands where it is a plain character, which is seldom meant."""
    return "*" in pattern[:-1]


def matches(pattern: str, name: str) -> bool:
    """Whether `name` matches `pattern` (rule L4)."""
    if pattern.endswith("*"):
        return fold(name).startswith(fold(pattern[:-1]))
    return fold(name) == fold(pattern)


def covers(wider: str, narrower: str) -> bool:
    """Whether everything that `narrower` can match is matched by `wider` too."""
    if not wider.endswith("*"):
        return fold(wider) == fold(narrower)
    return fold(narrower.removesuffix("*")).startswith(fold(wider[:-1]))
