"""Tools that a search for what they do cannot tell apart: the one definition for catalogs and datasets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolbelt.catalog.ranking.terms import join_fields
from toolbelt.catalog.ranking.text import (
    STOP_WORDS,
    find_stems,
    read_argument_names,
    split_as_written,
    split_name,
    split_words,
    stem_word,
)
from toolbelt.catalog.tool import Tool

TWINS_RULE = "twin-tools"
"""Of the findings."""
_MOST_NAMED = 6
_MOST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Twins:
    """Tools whose descriptions have no word by which a search could prefer one of them.

    Attributes:
        tools: Two or more, in the order of the catalog.
        own_words: Of each, the words of the names of it and its arguments that stand nowhere in the others, as written.
        silent: Those without a description that has a word.
    """

    tools: tuple[Tool, ...]
    own_words: tuple[tuple[str, ...], ...]
    silent: tuple[Tool, ...]


def find_twins(tools: Sequence[Tool]) -> Iterator[Twins]:
    """The twins among tools.

    Two tools are twins if every word of either description is also in the name or the description of the other: a text
    that finds the one by what it does finds the other, too. Words are compared by their stems; stop words count only
    where there are no others. Of a tool without a description, the name counts. Twins of one tool are twins.
    """
    described = [_described_words(tool) for tool in tools]
    known = [frozenset(_stems(f"{tool.name} {tool.description}")) for tool in tools]
    having: dict[str, set[int]] = {}
    for place, words in enumerate(known):
        for word in words:
            having.setdefault(word, set()).add(place)
    alike: dict[frozenset[str], list[int]] = {}
    for place, words in enumerate(described):
        if words:
            alike.setdefault(words, []).append(place)
    parents = list(range(len(tools)))
    for words, places in alike.items():
        for place in places:
            _join(parents, places[0], place)
        for other in _find_all(words, having).difference(places):
            if _root(parents, other) != _root(parents, places[0]) and any(described[other] <= known[p] for p in places):
                _join(parents, places[0], other)
    groups: dict[int, list[int]] = {}
    for place in range(len(tools)):
        groups.setdefault(_root(parents, place), []).append(place)
    for group in groups.values():
        if len(group) > 1:
            yield _describe([tools[place] for place in group])


def _root(parents: list[int], place: int) -> int:
    while (parent := parents[place]) != place:
        parents[place] = place = parents[parent]
    return place


def _join(parents: list[int], one: int, other: int) -> None:
    low, high = sorted((_root(parents, one), _root(parents, other)))
    parents[high] = low


def _find_all(words: frozenset[str], having: dict[str, set[int]]) -> set[int]:
    """The tools that have all of the words."""
    return set.intersection(*sorted((having[word] for word in words), key=len))


def _stems(text: str) -> list[str]:
    return [stem_word(word) for word in split_words(text)]


def _described_words(tool: Tool) -> frozenset[str]:
    return frozenset(find_stems(split_words(tool.description)) or _stems(tool.description) or _stems(tool.name))


def _describe(tools: list[Tool]) -> Twins:
    texts = (join_fields(tool.name, tool.description, tool.parameters) for tool in tools)
    counts = Counter(word for text in texts for word in set(_stems(text)))
    own = []
    for tool in tools:
        text = " ".join(map(split_name, (tool.name, *read_argument_names(tool.parameters))))
        written = ((each, stem_word(words[0])) for each, words in split_as_written(text) if words[0] not in STOP_WORDS)
        own.append(tuple(dict.fromkeys(each for each, stem in written if counts[stem] == 1)))
    return Twins(tuple(tools), tuple(own), tuple(tool for tool in tools if not _stems(tool.description)))


def describe_twins(twins: Twins) -> str:
    """Which tools they are, and what to change in their descriptions, in sentences."""
    names = _name([tool.id for tool in twins.tools])
    problem = f"Search cannot tell {len(twins.tools)} tools apart by what they do: {names}."
    if twins.silent:
        silent = _name([tool.id for tool in twins.silent])
        return f"{problem} {silent} {'has' if len(twins.silent) == 1 else 'have'} no description: write what each does."
    pairs = zip(twins.tools[:_MOST_NAMED], twins.own_words, strict=False)
    own = [f"{tool.id} alone has {' and '.join(map(repr, words[:_MOST_WORDS]))}" for tool, words in pairs if words]
    if not own:
        return f"{problem} None has a word of its own: write into each description what only that tool does."
    return (
        f"{problem} Their descriptions have the same words, and only names or arguments differ: {'; '.join(own)}. "
        "Write into each description what only that tool does."
    )


def _name(ids: Sequence[str]) -> str:
    more = len(ids) - _MOST_NAMED
    return ", ".join(ids[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
