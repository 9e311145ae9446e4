"""The keys of mappings that people write: what may stand under each, and how else people spell it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What may stand under a key, in the words of a message."""

    TEXT = "text that is not blank"
    PROSE = "text"
    SWITCH = "true or false"
    NAMES = "a list of names"
    ENTRIES = "a list of tools, each a name or a name with overrides"
    POLICY = "a text, or a mapping of text, tools and unavailable"
    LINES = "a mapping from members to lines"
    DIRECTIVE = "a list of rules"
    PHRASES = "words, one or several"
    COUNT = "a whole number above 0"
    PRICE = "a number, 0 or more"
    PRICES = "a mapping of prices"
    RATE = "a mapping of a token rate"
    TOKENIZER = "o200k_base, cl100k_base or estimate"
    TOOLSET = "the name of a toolset"
    ARGUMENTS = "a list of texts"
    VALUES = "a mapping from names to texts"
    FIELDS = "a mapping of plain values"
    API = "chat, messages or responses"
    SPLIT = "a mapping that names how the tools are grouped"
    SWITCHES = "a mapping from toolkits and tools to true or false, or the name of a file with one"


class KeySpec(NamedTuple):
    """A key of a mapping that people write.

    Attributes:
        kind: What may stand under it.
        description: For the JSON Schema.
        other_spellings: How Python or another product spells it, which people may well try here.
    """

    kind: Kind
    description: str
    other_spellings: tuple[str, ...] = ()


Keys = Collection[str] | Mapping[str, KeySpec | None]
"""Keys that may stand in a mapping, in the order to suggest them; those with a `KeySpec` have other spellings, too."""


def find_spelling(key: str, known: Keys) -> str | None:
    """The key of a table that is spelled `key` elsewhere."""
    specs = known.items() if isinstance(known, Mapping) else ()
    return next((spelling for spelling, spec in specs if spec and key in spec.other_spellings), None)
