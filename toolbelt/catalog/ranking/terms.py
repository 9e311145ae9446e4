"""The tokens that tools are ranked by: words as they are written, their stems, and parts of words.

The weights were chosen on MetaTool, BFCL and Seal-Tools by `tests/benchmarks/tune_words.py`, whose docstring has the
figures, and on no set that is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from toolbelt.catalog.ranking.ranker import Field
from toolbelt.catalog.ranking.text import (
    STOP_WORDS,
    read_argument_descriptions,
    read_argument_names,
    split_as_written,
    split_words,
    stem_word,
)
from toolbelt.catalog.tool import Tool

NAME_WEIGHT = 2.0
DESCRIPTION_WEIGHT = 1.0
ARGUMENT_NAME_WEIGHT = 0.75
ARGUMENT_DESCRIPTION_WEIGHT = 0.5
FORM_WEIGHT = 0.5
"""Of a word as it is written, beside its stem, which weighs 1."""
PART_WEIGHT = 0.15
"""Of each part of a word of `PART_CHARS` characters, its two ends counted as characters."""
WEAK_WEIGHT = 0.5
"""Of a word that seldom says what is wanted, such as `get`; it has no parts."""
PART_CHARS = 4
_LONGEST = 64
"""Characters of a word that are cut into parts: longer ones are data."""
_STEM = "~"
_PART = "#"


class Document(NamedTuple):
    """What a tool is found by.

    Attributes:
        counts: Of each token, weighted by the field.
        length: Of all words, weighted by the field.
    """

    counts: Mapping[str, float]
    length: float


@lru_cache(maxsize=1024)
def read_query(text: str) -> Mapping[str, float]:
    """The tokens of a query with their weights, in its order; a word that stands twice counts once."""
    return weigh_words(split_words(text))


def weigh_words(words: Iterable[str]) -> dict[str, float]:
    """As `read_query`, for words as `split_words` gives them."""
    weights: dict[str, float] = {}
    for word in dict.fromkeys(words):
        form, stem, *parts = _tokens(word)
        strength = WEAK_WEIGHT if word in STOP_WORDS else 1.0
        weights[form] = FORM_WEIGHT * strength
        weights[stem] = max(strength, weights.get(stem, 0.0))
        weights.update(dict.fromkeys(parts, PART_WEIGHT))
    return weights


def weigh_tool(tool: Tool) -> dict[str, float]:
    """The tokens of a query that has all words of a tool."""
    return weigh_words(split_words(join_fields(tool.name, tool.description, tool.parameters)))


def join_fields(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """Everything that a tool is found by, as one text."""
    arguments = (*read_argument_names(parameters), *read_argument_descriptions(parameters))
    return "\n".join((name, description, *arguments))


@lru_cache(maxsize=1024)
def read_tool(tool: Tool, with_plugin: bool = False) -> Document:
    """What a tool is found by; kept, as an eval offers the same tools again and again.

    Args:
        tool: The tool.
        with_plugin: Whether the plugin's name is a part of the tool's.
    """
    name = f"{tool.plugin or ''} {tool.name}" if with_plugin else tool.name
    return read_fields(name, tool.description, tool.parameters)


def read_fields(name: str, description: str, parameters: Mapping[str, Any]) -> Document:
    """As `read_tool`, of what is known by its definition alone, whatever the state of its schema."""
    words: dict[str, float] = {}
    length = 0.0
    for text, weight in (
        (name, NAME_WEIGHT),
        (description, DESCRIPTION_WEIGHT),
        ("\n".join(read_argument_names(parameters)), ARGUMENT_NAME_WEIGHT),
        ("\n".join(read_argument_descriptions(parameters)), ARGUMENT_DESCRIPTION_WEIGHT),
    ):
        for word, repeats in Counter(split_words(text)).items():
            words[word] = words.get(word, 0.0) + weight * repeats
            length += weight * repeats
    counts: dict[str, float] = {}
    for word, count in words.items():
        for token in _tokens(word):
            counts[token] = counts.get(token, 0.0) + count
    return Document(counts, length)


def stem_token(stem: str) -> str:
    """The token of a stem."""
    return _STEM + stem


@lru_cache(maxsize=100_000)
def _tokens(word: str) -> tuple[str, ...]:
    """The word, its stem, and its parts unless it is weak."""
    return (word, _STEM + stem_word(word), *(() if word in STOP_WORDS else _parts(word)))


def _parts(word: str) -> Iterator[str]:
    ended = f"<{word[:_LONGEST]}>"
    for start in range(max(len(ended) - PART_CHARS + 1, 1)):
        yield _PART + ended[start : start + PART_CHARS]


def find_matches(tool: Tool, query: str) -> Mapping[Field, tuple[str, ...]]:
    """The words of a query, as they are written there, that each field of a tool has; empty if only parts match."""
    asked = _read_written(query)
    matched: dict[Field, tuple[str, ...]] = {}
    for field, known in _read_stems(tool).items():
        found = (written for written, whole, parts in asked if whole in known or (parts and parts <= known))
        if shared := tuple(dict.fromkeys(found)):
            matched[field] = shared
    return MappingProxyType(matched)


@lru_cache(maxsize=64)
def _read_written(query: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Each word of a query as it is written, its stem, and the stems of its parts."""
    return tuple(
        (written, stem_word(words[0]), frozenset(map(stem_word, words[1:])))
        for written, words in split_as_written(query)
        if words[0] not in STOP_WORDS
    )


@lru_cache(maxsize=1024)
def _read_stems(tool: Tool) -> Mapping[Field, frozenset[str]]:
    """The stems of the words of each field."""
    arguments = (*read_argument_names(tool.parameters), *read_argument_descriptions(tool.parameters))
    texts = {Field.NAME: tool.name, Field.DESCRIPTION: tool.description, Field.ARGUMENTS: "\n".join(arguments)}
    return {field: frozenset(map(stem_word, split_words(text))) for field, text in texts.items()}
