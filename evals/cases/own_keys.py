"""Keys of toolbelt's own layout that stray into imported cases, where they would be overlooked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from toolbelt.evals.cases.reader import CALL_KEYS, CASE_KEYS

IMPORTED_KEYS = frozenset({"expected_args", "expected_ids", "expected_any_of"})
"""Keys that only the imported layout has."""
_SHARED_KEYS = frozenset(
    ("id", "query", "messages", "system", "expected", "offered", "role", "kind", "tags", "cluster", "note")
)
"""Keys that mean the same in both layouts."""
OWN_KEYS = (frozenset(CASE_KEYS) - _SHARED_KEYS) | (frozenset(CALL_KEYS) - {"tool"})
"""Keys that only toolbelt's own layout has, of a case or of a call; each changes what is right."""
_COMPARED = tuple(key for key in (*CASE_KEYS, *sorted(OWN_KEYS - set(CASE_KEYS))) if key not in ("id", "note", "args"))
"""Those that another key may be a slip of; the rest are too short to tell, or change nothing."""
_ALIKE = 0.8
_NO_LETTER = re.compile(r"[^a-z]")


def stray_keys(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys of an imported line that are toolbelt's own, or nearly so, each with the key that it is or may mean.

    `steps` is left alone where it is text: public sets tell there how people went about it.
    """
    for key in data:
        if key == "steps" and isinstance(data[key], str):
            continue
        if (meant := _meant(key)) is not None:
            yield key, meant


def has_foreign_key(data: Mapping[str, Any]) -> bool:
    """Whether any key is a source's own: neither of toolbelt's layout nor a slip of a key of it."""
    return any(key not in _SHARED_KEYS and _meant(key) is None for key in data)


@lru_cache(maxsize=4096)
def _meant(key: str) -> str | None:
    """The key of toolbelt's own that a key is or may be a slip of; `None` for one that is a source's own."""
    if key in OWN_KEYS:
        return key
    if key in _SHARED_KEYS or key in IMPORTED_KEYS:
        return None
    spelled = _letters(key)
    return next((known for known in _COMPARED if _is_slip(spelled, _letters(known))), None)


def _is_slip(spelled: str, known: str) -> bool:
    """A letter more, less, changed or swapped."""
    return abs(len(spelled) - len(known)) <= 1 and SequenceMatcher(None, spelled, known).ratio() >= _ALIKE


def _letters(key: str) -> str:
    return _NO_LETTER.sub("", key.casefold())
