"""Texts of a tool that are made to steer the model: invisible characters, and words that address it (rule M10).

A description is read by a model as if the user had written it, so a server can put orders there ("tool poisoning").
The patterns are few and precise: in 8,000 public tools they find nothing. A server that wants to hide an order can
word it differently; what is found is worth a look, what is not found is not proven harmless.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from toolbelt.text import INVISIBLE, visible

_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_JOINERS = "\u200c\u200d"
_BLACK_FLAG = "\U0001f3f4"
_MAX_SHOWN_CHARS = 80


class Steering(StrEnum):
    """How a text addresses the model; the value is for the message."""

    OVERRIDES = "asks it to disregard its instructions"
    CONCEALS = "asks it to keep something from the user"
    IMITATES = "imitates the markup of a prompt"
    REDIRECTS = "asks for something before other tools are used"
    READS_SECRETS = "names files with secrets"
    HIDES = "has a comment that a page would not show"


_PATTERNS: Mapping[Steering, re.Pattern[str]] = MappingProxyType(
    {
        kind: re.compile(pattern, re.IGNORECASE)
        for kind, pattern in {
            Steering.OVERRIDES: r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}"
            r"\b(?:previous|prior|earlier|above|preceding|other|all|any|your|system)\b[^.\n]{0,20}"
            r"\b(?:instructions?|prompts?|rules|guidelines|directions)\b",
            Steering.CONCEALS: r"\b(?:do not|don't|never|must not)\s+(?:ever\s+)?"
            r"(?:tell|mention|inform|reveal|disclose)\b[^.\n]{0,30}\b(?:the|to|your) users?\b",
            Steering.IMITATES: r"<\s*/?\s*(?:important|system|instructions?|secret|hidden|assistant|admin|critical)\s*>"
            r"|\[/?(?:INST|SYSTEM|IMPORTANT)\]|<\|[a-z_]{2,20}\|>",
            Steering.REDIRECTS: r"\b(?:before|whenever you|instead of)\s+(?:using|calling|use|call|invoking)\s+"
            r"(?:any|every|all|another)\s+(?:other\s+)?tools?\b",
            Steering.READS_SECRETS: r"\.ssh/(?:id_|config|authorized)|\bid_(?:rsa|ed25519)\b|\.aws/credentials"
            r"|\.cursor/mcp\.json|claude_desktop_config\.json|/etc/(?:passwd|shadow)\b",
            Steering.HIDES: r"<!--",
        }.items()
    }
)


def find_steering(texts: Sequence[str]) -> Iterator[tuple[Steering, str]]:
    """The ways in which texts address the model, each with the words that do, once."""
    for kind, pattern in _PATTERNS.items():
        for text in texts:
            if (match := pattern.search(text)) is not None:
                words = visible(match.group())
                yield kind, words if len(words) <= _MAX_SHOWN_CHARS else f"{words[:_MAX_SHOWN_CHARS]}…"
                break


def find_invisible(texts: Sequence[str]) -> dict[str, str]:
    """The invisible characters of texts, as `U+200B`, with their names.

    Joiners within scripts that need them, and the tags of flags, are no finding: they change what is seen.
    """
    found: dict[str, str] = {}
    for text in texts:
        for match in _INVISIBLE.finditer(text):
            character, position = match.group(), match.start()
            if not _is_needed(text, position):
                name = unicodedata.name(character, "").lower() or "without a name"
                found.setdefault(f"U+{ord(character):04X}", name)
    return found


def _is_needed(text: str, position: int) -> bool:
    character, before, after = text[position], text[position - 1 : position], text[position + 1 : position + 2]
    if character in _JOINERS:
        return not (before.isascii() or after.isascii())
    if "\U000e0020" <= character <= "\U000e007f":
        start = position
        while start > 0 and "\U000e0020" <= text[start] <= "\U000e007f":
            start -= 1
        return text[start] == _BLACK_FLAG and position - start <= 7
    return False
