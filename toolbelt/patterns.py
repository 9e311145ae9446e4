"""What may be a name, how names are compared (rule L3), the one pattern language of loadouts (rule L4), names of code.

A trailing `*` makes a case-insensitive prefix, `*` alone matches all, anything else is case-insensitive
equality. A `*` elsewhere is a plain character.
"""

from __future__ import annotations

import os
import re
import unicodedata

from toolbelt.text import show_value


def fold(name: str) -> str:
    """The form in which names are compared: without case, and composed (`é` is one character however it is typed)."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def find_name_problem(name: object) -> str | None:
    """What is wrong with a name, to follow what it is the name of; `None` if nothing is.

    A name is text that is not blank. A control character or an invisible one (Unicode categories Cc and Cf) would make
    two names that look alike differ, so that an entry which disables the one misses the other.
    """
    if not isinstance(name, str) or not name.strip():
        return f"must be text that is not blank, not {show_value(name)}"
    if name.isprintable():
        return None
    hidden = [character for character in name if unicodedata.category(character) in ("Cc", "Cf")]
    if not hidden:
        return None
    shown = ", ".join(dict.fromkeys(map(_escaped, hidden)))
    spelled = "".join(_escaped(character) if character in hidden else character for character in name)
    return f"may not hold {shown}, which cannot be seen: '{spelled}'; write it without"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


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


_ATTRIBUTE = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
PYTHON_FORM = re.compile(
    rf"(?P<file>.+\.py)(?::(?P<of_file>{_ATTRIBUTE}))?"
    rf"|(?P<folder>(?:.*/)?)(?P<module>[A-Za-z_][\w.]*):(?P<attribute>{_ATTRIBUTE})"
)
"""Code to import: `module:attribute`, `file.py` or `file.py:attribute`."""


def is_python_reference(text: str) -> bool:
    """Whether a text has the form of code to import, which a file of that very name does not have."""
    return PYTHON_FORM.fullmatch(text) is not None and (text.endswith(".py") or not os.path.isfile(text))  # noqa: PTH113
