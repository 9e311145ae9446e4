"""What a user asks for, cut into the things asked for."""

from __future__ import annotations

import re

MOST_CLAUSES = 12
"""Clauses of one message that are looked at."""
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)")
_HARD = re.compile(
    r"(?<=[.!?;])\s{1,9}|(?<=[。！？；])|\n+|;\s*"
    r"|[,.]?\s{1,9}(?:and\s{1,9})?(?:then|also|additionally|afterwards?|after\s+that|next|finally|secondly|lastly|plus)\b,?\s+"
    r"|\s{1,9}as\s{1,9}well\s{1,9}as\s{1,9}",
    re.IGNORECASE,
)
_SOFT = re.compile(r",?\s{1,9}and\s{1,9}|,\s{1,9}|\s{1,9}&\s{1,9}|，|、", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:\(?\d{1,2}[.)]|[-*•])\s*")


def split_sentences(text: str) -> list[str]:
    """The sentences, list items and parts joined by `then`, `also` and their like; what is quoted stays whole."""
    return _split(_HARD, text)


def split_clauses(sentence: str) -> list[str]:
    """A sentence at its commas and `and`s; what is quoted stays whole."""
    return _split(_SOFT, sentence)


def _split(separator: re.Pattern[str], text: str) -> list[str]:
    hidden = _QUOTED.sub(lambda found: "\x00" * len(found[0]), text)
    parts: list[str] = []
    start = 0
    for cut in separator.finditer(hidden):
        parts.append(text[start : cut.start()])
        start = cut.end()
    parts.append(text[start:])
    kept = [stripped for part in parts if (stripped := _BULLET.sub("", part).strip())]
    return kept[:MOST_CLAUSES]
