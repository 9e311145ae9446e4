"""Blocks of data in a page: compressed, and unpacked by the browser when they are needed."""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

LONGEST_TEXT = 20_000
"""The most characters of one text in a page; a longer text is cut, with the number of characters left out."""
MOST_TRIALS = 50_000
"""The most trials of a page: of a larger run it has a sample of the cases, spread evenly, each with all its trials."""
_EXACT = 1 << 53
"""Greater whole numbers are not exact in a browser."""


def pack(data: Any) -> str:
    """Plain values as compressed JSON in base64, the same for the same values.

    Nothing in it can end the element it stands in, or be taken for markup. Half surrogate pairs stay what they are.

    Raises:
        ValueError: a number is not finite, which JSON does not know.
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")


def cut(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text that is not too long for a page, or its beginning and how much is left out."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n[… {len(text) - longest:,} more characters, which this page leaves out]"


def number(value: float | None) -> float | None:
    """A number that every browser reads exactly; `None` if it is not finite or too great to be exact."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)) or abs(value) > _EXACT:
        return None
    return round(value, 9)


class Numbered:
    """Strings by number, each kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a string, from 0 in the order of first use."""
        return self._numbers.setdefault(text, len(self._numbers))

    def __contains__(self, text: str) -> bool:
        return text in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def strings(self) -> list[str]:
        """All strings, in the order of their numbers."""
        return list(self._numbers)
