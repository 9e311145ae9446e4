"""Tools ranked by words: BM25 over their names, descriptions and parameters.

The index is our own and small, and `bm25s` the reference that the tests hold it against: an eval builds an index of
some ten tools for each of tens of thousands of cases, which this does in a tenth of the time that `bm25s` takes, and
without numpy, whose import alone is longer than the whole command takes to start. At 4,000 tools both answer a query
equally fast; beyond, `bm25s` is the quicker one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from toolbelt.catalog.tool import Tool

K1 = 1.5
"""How soon a word that stands again counts no more."""
B = 0.75
"""How far a long text is held against a word that stands in it, 0..1."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS = _set(
    "a about above after again all also am an and any are as at be because been before being below between both but by "
    "can cannot could did do does doing done down during each either else etc ever every few for from further get gets "
    "give given gives got had has have having he hello help helps her here hers hey hi him his how i if in into is it "
    "its itself just kindly least less let lets like ll may me might mine more most much must my myself need needs no "
    "nor not now of off ok okay on once only onto or other our ours out over own per please quite rather re really s "
    "same shall she should so some such sure t tell than thank thanks that the their theirs them then there these they "
    "this those through thus to too under until up upon us use used uses using various ve very via want wants was we "
    "were what when where whether which while who whom whose why will wish with within without would yes yet you your "
    "yours"
)
"""English words that say nothing about what is wanted."""

_CJK = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_CJK}]+|(?:[^\W_{_CJK}])+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ACCENT = re.compile(r"[\u0300-\u036f]")
_VOWEL = re.compile(r"[aeiouy]")


def search_words(text: str) -> list[str]:
    """The words that a text is found by, repeats kept.

    Case, accents, English stop words, plurals and the commonest verb endings are dropped; Chinese, Japanese and
    Korean, which set no blanks between words or glue endings to them, are cut into overlapping pairs of characters.
    """
    if text.isascii():
        return [_stem(word) for word in _RUN.findall(text.lower()) if word not in STOP_WORDS]
    words: list[str] = []
    plain = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))
    for run in _RUN.findall(unicodedata.normalize("NFKC", plain).casefold()):
        if run[0] >= "\u3040" and _is_cjk(run):
            words.extend(run[i : i + 2] for i in range(max(len(run) - 1, 1)))
        elif run not in STOP_WORDS:
            words.append(_stem(run))
    return words


def split_name(name: str) -> str:
    """`getHTTPStatus_code` as `get HTTP Status code`."""
    return _HUMP.sub(" ", name).replace("_", " ").replace("-", " ")


def tool_text(tool: Tool) -> str:
    """What a tool is found by: its name in words, twice, its description, its parameters' names and descriptions."""
    return describe(tool.name, tool.description, tool.parameters)


def describe(name: str, description: str, parameters: Mapping[str, Any]) -> str:
    """As `tool_text`, of a tool that is known by its definition alone, whatever the state of its schema."""
    words = split_name(name)
    parts = [words, words, description]  # what it is called says more than a word in passing
    properties = parameters.get("properties")
    for key, schema in properties.items() if isinstance(properties, Mapping) else ():
        parts.append(split_name(str(key)))
        if isinstance(schema, Mapping) and isinstance(schema.get("description"), str):
            parts.append(schema["description"])
    return "\n".join(parts)


class ToolIndex:
    """Texts ranked by how well they answer a query.

    The weights are those of BM25 as Lucene computes them: `log(1 + (N - n + 0.5) / (n + 0.5))` for a word that `n` of
    `N` texts have, times `f / (f + k1 * (1 - b + b * length / mean length))` for one that stands `f` times.

    Args:
        texts: One for each tool, as `tool_text` makes them; or how often each of its `search_words` stands in it, for
            who has counted them before.
    """

    def __init__(self, texts: Sequence[str | Mapping[str, int]]) -> None:
        counts = [Counter(search_words(text)) if isinstance(text, str) else text for text in texts]
        self._size = len(counts)
        lengths = [sum(words.values()) for words in counts]
        mean = sum(lengths) / self._size if self._size else 0.0
        by_word: dict[str, list[tuple[int, float]]] = {}
        for position, (words, length) in enumerate(zip(counts, lengths, strict=True)):
            damping = K1 * (1 - B + B * length / mean) if mean else K1
            for word, count in words.items():
                share = count / (count + damping)
                if (postings := by_word.get(word)) is None:
                    by_word[word] = [(position, share)]
                else:
                    postings.append((position, share))
        self._postings = by_word
        self._weights: dict[int, float] = {}

    def __len__(self) -> int:
        return self._size

    def count(self, word: str) -> int:
        """How many texts have a word."""
        return len(self._postings.get(word, ()))

    def weight(self, word: str) -> float:
        """How much a word of a query tells, at least 0; most for one that no text has."""
        count = len(self._postings.get(word, ()))
        if (weight := self._weights.get(count)) is None:
            weight = self._weights[count] = math.log(1 + (self._size - count + 0.5) / (count + 0.5))
        return weight

    def scores(self, query: str) -> list[float]:
        """One for each text, at least 0; 0 where no word of the query stands in it."""
        return self.scores_of(search_words(query))

    def scores_of(self, words: Iterable[str]) -> list[float]:
        """As `scores`, for words as `search_words` gives them; one that stands twice counts twice."""
        scores = [0.0] * self._size
        for word in words:
            if (postings := self._postings.get(word)) is not None:
                weight = self.weight(word)
                for position, share in postings:
                    scores[position] += weight * share
        return scores

    def rank(self, query: str, k: int) -> list[int]:
        """Positions of the `k` best texts, the best first, equals in their order; none that scores 0."""
        scores = self.scores(query)
        ranked = sorted((-score, position) for position, score in enumerate(scores) if score > 0)
        return [position for _, position in ranked[: max(k, 0)]]


def _is_cjk(run: str) -> bool:
    return re.fullmatch(f"[{_CJK}]+", run) is not None


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    """The word without what most often follows its stem; all its forms are to come out alike, word or not."""
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    word = _replaced(word, _PLURALS)
    stem = _replaced(word, _ENDINGS)
    if stem != word and len(stem) > _SHORTEST and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        stem = stem[:-1]  # running, planned
    return stem[:-1] if stem.endswith("e") and len(stem) > _SHORTEST else stem


_SHORTEST = 3
"""Letters that are left at the least."""
_PLURALS = (
    ("news", "news"),
    ("sses", "ss"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("xes", "x"),
    ("ies", "y"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
)
_ENDINGS = (
    ("ied", "y"),
    ("ying", "y"),
    ("ing", ""),
    ("ed", ""),
    ("ations", "at"),
    ("ation", "at"),
    ("ator", "at"),
    ("ction", "ct"),
    ("rtion", "rt"),
    ("etion", "et"),
    ("ersion", "ert"),
    ("ly", ""),
    ("ment", ""),
)


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    """With the first ending that it has replaced, if enough is left and that has a vowel."""
    for ending, instead in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + instead if len(rest + instead) >= _SHORTEST and _VOWEL.search(rest) else word
    return word
