"""Descriptions that lost their words, and tools that became look-alikes, measured in several ways."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from toolbelt.catalog.ranking.text import find_stems, read_argument_names, split_name, split_words, stem_word
from toolbelt.catalog.ranking.words import WordsIndex
from toolbelt.catalog.tool import Tool

KEPT = 0.34
"""Share of the words beyond its name that a description keeps at the least, or has in new ones."""
ENOUGH = 6
"""Words from which on a description may be shorter than it was."""
SPECIFIC = 0.2
"""Share of a catalog's descriptions; a word of more of them does not say what one tool is about."""
ALIKE = 0.8
"""Cosine of the words of two descriptions, weighted by how few tools have them."""
RIVAL = 0.9
"""Score of another tool by that of the tool whose description is searched for."""
HALF = 0.5
"""Share of its words that a description keeps to be about the same tool, whatever its words."""
CONTAINED, DESCRIPTION = "contained", "description"
"""The measures that find no word of its own in a description, and the same words in two."""
_FEW = 2


class Words(NamedTuple):
    """The stems that a tool is known by.

    Attributes:
        described: Of its description.
        named: Of its name and its arguments' names.
        weak: Of its description, stems of words that seldom say what is wanted, such as `get`.
    """

    described: frozenset[str]
    named: frozenset[str]
    weak: frozenset[str]

    def is_in(self, other: Words) -> bool:
        """Whether every word of the description is one of another tool's."""
        return self.described | self.weak <= other.described | other.named | other.weak


def read_words(tool: Tool) -> Words:
    """The stems of a tool."""
    words = split_words(tool.description)
    described = frozenset(find_stems(words))
    named = split_words(split_name(" ".join((tool.name, *read_argument_names(tool.parameters)))))
    return Words(described, frozenset(map(stem_word, named)), frozenset(map(stem_word, words)) - described)


class LookAlike(NamedTuple):
    """Two tools that became hard to tell apart.

    Attributes:
        tool: The one that changed, or is new.
        other: The one that it is like now.
        measures: Which found it: `description` (the same words), `contained` (no word of its own), `words-ranker`.
    """

    tool: Tool
    other: Tool
    measures: tuple[str, ...]


class Wording:
    """The descriptions of a catalog's tools, by which they are distinguished.

    Args:
        tools: All of them.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = {tool.id: tool for tool in tools}
        self.words = {tool.id: read_words(tool) for tool in tools}
        self._counts = Counter(stem for words in self.words.values() for stem in words.described)
        self._weights = {stem: math.log(1 + len(tools) / count) for stem, count in self._counts.items()}
        self._rare = math.log(2 + len(tools))
        self._scores: dict[str, Mapping[str, float]] = {}

    @cached_property
    def _index(self) -> WordsIndex:
        return WordsIndex(tuple(self.tools.values()))

    def has_lost_words(self, tool_id: str, now: Tool) -> bool:
        """Whether a tool's description says little more than its name now, or nothing of what it was about."""
        before, after = self.words[tool_id], read_words(now)
        if not after.described:
            return bool(before.described)
        own_before, own_after = before.described - before.named, after.described - after.named
        is_short = len(after.described) < ENOUGH and len(own_after) < KEPT * len(own_before)
        if is_short and len(own_before) >= _FEW:
            return True
        if len(after.described & before.described) >= HALF * len(before.described):
            return False
        most = max(SPECIFIC * len(self.tools), 1)
        return not any(self._counts[stem] <= most for stem in after.described & (before.described | before.named))

    def cosine(self, described: frozenset[str], other: frozenset[str]) -> float:
        """How alike two descriptions are, 0..1."""
        norm = self._norm(described) * self._norm(other)
        return self._square(described & other) / norm if norm else 0.0

    def _square(self, stems: frozenset[str]) -> float:
        return sum(self._weights.get(stem, self._rare) ** 2 for stem in stems)

    def _norm(self, stems: frozenset[str]) -> float:
        return math.sqrt(self._square(stems))

    def find_alike(self, tool_id: str) -> Mapping[str, tuple[str, ...]]:
        """The tools from which a tool can hardly be distinguished, each with the measures that find so.

        One of the two descriptions has no word that the other tool has nowhere, and another measure agrees.
        """
        words = self.words[tool_id]
        found: dict[str, tuple[str, ...]] = {}
        for other, theirs in self.words.items():
            if other == tool_id or not (words.described and theirs.described):
                continue
            if not (words.is_in(theirs) or theirs.is_in(words)):
                continue
            if self.cosine(words.described, theirs.described) >= ALIKE:
                found[other] = (CONTAINED, DESCRIPTION)
            elif self._is_rival(tool_id, other) or self._is_rival(other, tool_id):
                found[other] = (CONTAINED, "words-ranker")
        return found

    def _is_rival(self, other: str, tool_id: str) -> bool:
        """Whether a search for what a tool says finds another one nearly as well."""
        if tool_id not in self._scores:
            hits = self._index.search(self.tools[tool_id].description, len(self.tools))
            self._scores[tool_id] = {hit.tool.id: hit.score for hit in hits}
        scores = self._scores[tool_id]
        return scores.get(other, 0.0) >= RIVAL * scores.get(tool_id, math.inf)


def find_look_alikes(old: Wording, new: Wording, changed: Mapping[str, str]) -> Iterator[LookAlike]:
    """The tools that changed, or are new, and became like another one.

    Args:
        old: Before.
        new: Now.
        changed: Ids now by ids before, of tools whose description changed; those that are new by an empty text.
    """
    for tool_id, was in changed.items():
        before = old.find_alike(was) if was else {}
        for other, measures in new.find_alike(tool_id).items():
            # New tools often belong to a family, with words of their own beside those of the family.
            if other not in before and (was or DESCRIPTION in measures):
                yield LookAlike(new.tools[tool_id], new.tools[other], measures)
        if was and (taken := _find_taken(old, was, new.words[tool_id].described)) is not None:
            yield LookAlike(new.tools[tool_id], old.tools[taken], (DESCRIPTION,))


def _find_taken(old: Wording, tool_id: str, described: frozenset[str]) -> str | None:
    """The other tool that a new description was of before."""
    own = old.cosine(described, old.words[tool_id].described)
    alike = [(old.cosine(described, words.described), other) for other, words in old.words.items() if other != tool_id]
    best, other = max(alike, default=(0.0, ""))
    return other if best >= ALIKE and best > own else None
