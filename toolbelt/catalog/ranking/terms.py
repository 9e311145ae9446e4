"""The tokens that tools are ranked by: words as they are written, their stems, and parts of words.

The weights were chosen on MetaTool, BFCL and Seal-Tools by `tests/benchmarks/tune_words.py`, whose docstring has the
figures, and on no set that is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from toolbelt.catalog.ranking.ranker import Field
from toolbelt.catalog.ranking.text import (
    STOP_WORDS,
    find_names,
    join_name,
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
WHOLE_NAME_WEIGHT = 4.0
"""Of a tool's whole name in a query: who writes `get_commit` means no `list_commits`."""
_LONGEST = 64
"""Characters of a word that are cut into parts: longer ones are data."""
_SHORT_QUERY = 6
"""Words of a query that may be a name written with blanks."""
_STEM = "~"
_PART = "#"
_WHOLE = "="


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
    words = split_words(text)
    weights = weigh_words(words)
    names = find_names(text)
    if 0 < len(words) <= _SHORT_QUERY:
        names.append(join_name(text))
    weights.update(dict.fromkeys((_WHOLE + name for name in names), WHOLE_NAME_WEIGHT))
    return weights


def weigh_words(words: Iterable[str]) -> dict[str, float]:
    """As `read_query`, for words as `split_words` gives them."""
    weights: dict[str, float] = {}
    for word in dict.fromkeys(words):
        own = _weigh_word(word)
        if word not in STOP_WORDS:
            weights.update(own)
            continue
        for token, weight in own.items():  # whose stem another word may have
            if weights.get(token, 0.0) < weight:
                weights[token] = weight
    return weights


def weigh_tool(tool: Tool) -> dict[str, float]:
    """The tokens of a query that has all words of a tool."""
    return weigh_words(split_words(join_fields(tool.name, tool.description, tool.parameters)))


def join_fields(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """Everything that a tool is found by, as one text."""
    arguments = (*read_argument_names(parameters), *read_argument_descriptions(parameters))
    return "\n".join((name, description, *arguments))


@lru_cache(maxsize=4096)
def read_tool(tool: Tool, with_plugin: bool = False) -> Document:
    """What a tool is found by; kept, as an eval offers the same tools again and again.

    Args:
        tool: The tool.
        with_plugin: Whether the plugin's name is a part of the tool's.
    """
    return read_fields(tool.name, tool.description, tool.parameters, _plugin(tool, with_plugin))


def read_fields(name: str, description: str, parameters: Mapping[str, Any], plugin: str = "") -> Document:
    """As `read_tool`, of what is known by its definition alone, whatever the state of its schema."""
    words, length = _count_words(name, description, parameters, plugin)
    counts: dict[str, float] = {}
    for word, count in words.items():
        for token in find_tokens(word):
            counts[token] = counts.get(token, 0.0) + count
    return Document(counts, length)


def read_words(tool: Tool, with_plugin: bool) -> Document:
    """As `read_tool`, before `find_tokens` makes tokens of each word."""
    return Document(*_count_words(tool.name, tool.description, tool.parameters, _plugin(tool, with_plugin)))


def find_tokens(word: str) -> tuple[str, ...]:
    """The tokens of a word of `read_words`; one that the word has twice is there twice."""
    return (word,) if word.startswith(_WHOLE) else _tokens(word)


def _plugin(tool: Tool, with_plugin: bool) -> str:
    return (tool.plugin or "") if with_plugin else ""


def _count_words(
    name: str, description: str, parameters: Mapping[str, Any], plugin: str
) -> tuple[dict[str, float], float]:
    full_name = f"{plugin} {name}"
    words: dict[str, float] = {}
    length = 0.0
    for text, weight in (
        (full_name, NAME_WEIGHT),
        (description, DESCRIPTION_WEIGHT),
        ("\n".join(read_argument_names(parameters)), ARGUMENT_NAME_WEIGHT),
        ("\n".join(read_argument_descriptions(parameters)), ARGUMENT_DESCRIPTION_WEIGHT),
    ):
        text_words = split_words(text)
        length += weight * len(text_words)
        for word in text_words:
            words[word] = words.get(word, 0.0) + weight
    for whole in (name, full_name):
        words[_WHOLE + join_name(whole)] = NAME_WEIGHT  # beside its words, which are its length
    return words, length


def stem_token(stem: str) -> str:
    """The token of a stem."""
    return _STEM + stem


@lru_cache(maxsize=100_000)
def _tokens(word: str) -> tuple[str, ...]:
    """The word, its stem, and its parts unless it is weak."""
    return (word, _STEM + stem_word(word), *(() if word in STOP_WORDS else _parts(word)))


@lru_cache(maxsize=20_000)
def _weigh_word(word: str) -> Mapping[str, float]:
    form, stem, *parts = _tokens(word)
    strength = WEAK_WEIGHT if word in STOP_WORDS else 1.0
    return {form: FORM_WEIGHT * strength, stem: strength, **dict.fromkeys(parts, PART_WEIGHT)}


def _parts(word: str) -> list[str]:
    ended = f"<{word[:_LONGEST]}>"
    return [_PART + ended[start : start + PART_CHARS] for start in range(max(len(ended) - PART_CHARS + 1, 1))]


class Matches(Mapping[Field, tuple[str, ...]]):
    """What `find_matches` finds, looked for when it is first read: most searches want the tools alone."""

    def __init__(self, tool: Tool, query: str) -> None:
        self._tool = tool
        self._query = query

    @cached_property
    def _found(self) -> Mapping[Field, tuple[str, ...]]:
        return find_matches(self._tool, self._query)

    def __getitem__(self, field: Field) -> tuple[str, ...]:
        return self._found[field]

    def __iter__(self) -> Iterator[Field]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def find_matches(tool: Tool, query: str) -> Mapping[Field, tuple[str, ...]]:
    """The words of a query, as they are written there, that each field of a tool has.

    If there is none: the words that seldom say what is wanted, and the parts of words, such as `kubern…`, that it has.
    """
    query_words = _read_written(query)
    matched: dict[Field, tuple[str, ...]] = {}
    for field, known in _read_stems(tool).items():
        matches = (written for written, whole, parts in query_words if whole in known or (parts and parts <= known))
        if shared := tuple(dict.fromkeys(matches)):
            matched[field] = shared
    return MappingProxyType(matched or dict(_find_faint_matches(tool, query)))


def _find_faint_matches(tool: Tool, query: str) -> Iterator[tuple[Field, tuple[str, ...]]]:
    weak, parted = _read_faint(query)
    for field, (words, parts) in _read_parts(tool).items():
        matched = [written for written, word in weak if word in words]
        matched += [_cut(word, [part in parts for part in own]) for word, own in parted if not parts.isdisjoint(own)]
        if matched:
            yield field, tuple(dict.fromkeys(matched))


def _cut(word: str, shared: list[bool]) -> str:
    """The longest run of a word whose parts are shared, with `…` where it goes on."""
    start, length = 0, 0
    for is_shared, run in groupby(enumerate(shared), key=itemgetter(1)):
        places = [place for place, _ in run]
        if is_shared and len(places) > length:
            start, length = places[0], len(places)
    cut = f"<{word}>"[start : start + length + PART_CHARS - 1]
    return f"{'' if cut[0] == '<' else '…'}{cut.strip('<>')}{'' if cut[-1] == '>' else '…'}"


@lru_cache(maxsize=64)
def _read_faint(query: str) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """The weak words of a query, as written and as compared; its other words, each with its parts."""
    words = [(written, each[0]) for written, each in split_as_written(query)]
    weak = tuple((written, word) for written, word in words if word in STOP_WORDS)
    return weak, tuple((word, tuple(_parts(word))) for _, word in words if word not in STOP_WORDS)


@lru_cache(maxsize=1024)
def _read_parts(tool: Tool) -> Mapping[Field, tuple[frozenset[str], frozenset[str]]]:
    """The words of each field, and the parts of those."""
    return {
        field: (
            words := frozenset(split_words(text)),
            frozenset(part for word in words - STOP_WORDS for part in _parts(word)),
        )
        for field, text in _read_texts(tool).items()
    }


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
    return {field: frozenset(map(stem_word, split_words(text))) for field, text in _read_texts(tool).items()}


def _read_texts(tool: Tool) -> Mapping[Field, str]:
    arguments = (*read_argument_names(tool.parameters), *read_argument_descriptions(tool.parameters))
    return {Field.NAME: tool.name, Field.DESCRIPTION: tool.description, Field.ARGUMENTS: "\n".join(arguments)}
