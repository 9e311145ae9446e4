"""How much the queries of a dataset resemble what people type to agents, trait by trait, beside reference ranges.

A query is the last message of the user. Words are set apart by blanks; of scripts without blanks (Chinese, Japanese,
Thai, ...), each character counts as half a word. The restricting words are English, as most names of tools are: a
dataset in other languages has fewer of both. No trait is a part of a card's `content` or of a digest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from toolbelt.catalog import Tool
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.catalog.ranking.text import split_name
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.words import count_words


class Trait(StrEnum):
    """What is measured; the values are keys of `--json`."""

    WORDS_10 = "words_10"
    """Words that the shortest tenth of the queries has at most."""
    WORDS_50 = "words_50"
    WORDS_90 = "words_90"
    SHORT = "short"
    """Share of queries with at most `SHORT_WORDS` words."""
    SENTENCES = "several_sentences"
    RESTRICTED = "restricted"
    """Share of queries with one of `RESTRICTING`."""
    QUESTIONS = "questions"
    TOOL_WORD = "tool_word"
    """Share of the queries with an expected call in which a word of an expected tool's name occurs."""


@dataclass(frozen=True)
class Reference:
    """What other sets have.

    Attributes:
        low: Of the sets of real prompts, the least value.
        high: The greatest one.
        bfcl_live: The value of BFCL's live part.
    """

    low: float
    high: float
    bfcl_live: float


SOURCES: Mapping[str, str] = FrozenDict(
    {
        "real": "four sets of prompts that engineers wrote for MCP servers and users for agents; not part of toolbelt",
        "bfcl_live": "Berkeley Function Calling Leaderboard v4, the part that users contributed (live_*), Apache-2.0",
    }
)
"""Where the references are from; measured in 2026 by the definitions of this module, to within three points."""
REFERENCES: Mapping[Trait, Reference] = MappingProxyType(
    {
        Trait.WORDS_10: Reference(4, 10, bfcl_live=4),
        Trait.WORDS_50: Reference(10, 21, bfcl_live=14),
        Trait.WORDS_90: Reference(19, 47, bfcl_live=31),
        Trait.SHORT: Reference(0.02, 0.21, bfcl_live=0.20),
        Trait.SENTENCES: Reference(0.00, 0.42, bfcl_live=0.27),
        Trait.RESTRICTED: Reference(0.00, 0.04, bfcl_live=0.05),
        Trait.QUESTIONS: Reference(0.06, 0.54, bfcl_live=0.42),
        Trait.TOOL_WORD: Reference(0.43, 0.78, bfcl_live=0.70),
    }
)
SHORT_WORDS = 6
RESTRICTING = ("not", "only", "without", "but", "except", "never", "instead")
TOLERANCE = 0.5
"""Of the width of a range: a value further outside than that is far outside."""

_PERCENTILES = ((Trait.WORDS_10, 0.1), (Trait.WORDS_50, 0.5), (Trait.WORDS_90, 0.9))
_RESTRICTING = re.compile(rf"\b(?:{'|'.join(RESTRICTING)})\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)]*\s+(?=\S)|[。！？]+(?=\s*\S)")
_TOOL_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Measure:
    """One trait of a dataset.

    Attributes:
        value: Words or a share; `None` where there is no query to measure.
        of: Number of queries measured.
        reference: What other sets have.
        is_far: Whether the value is outside the range of real sets by more than `TOLERANCE` of its width.
    """

    value: float | None
    of: int
    reference: Reference
    is_far: bool


@dataclass(frozen=True)
class Likeness:
    """The traits of a dataset.

    Attributes:
        queries: Number of cases with a query.
        traits: Every trait, in the order of `Trait`.
        sources: Of the references.
    """

    queries: int
    traits: Mapping[Trait, Measure]
    sources: Mapping[str, str] = SOURCES

    def __post_init__(self) -> None:
        object.__setattr__(self, "traits", MappingProxyType(dict(self.traits)))

    @property
    def far(self) -> Iterator[tuple[Trait, Measure]]:
        """The traits that are far outside the range of real sets."""
        return ((trait, measure) for trait, measure in self.traits.items() if measure.is_far)


class LikenessCounter:
    """Counts the traits of cases, one at a time.

    Args:
        tools: Those of the catalog, by id.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._lengths: Counter[int] = Counter()
        self._with: Counter[Trait] = Counter()
        self._with_call = 0

    def add(self, case: Case) -> None:
        """Add a case; one without a query counts for nothing."""
        if not (query := case.query.strip()):
            return
        words = count_words(query)
        self._lengths[words] += 1
        self._with[Trait.SHORT] += words <= SHORT_WORDS
        self._with[Trait.SENTENCES] += _SENTENCE_END.search(query) is not None
        self._with[Trait.RESTRICTED] += _RESTRICTING.search(query) is not None
        self._with[Trait.QUESTIONS] += query.endswith(("?", "？"))
        if names := {self._tools[tool_id].name for call in case.expected or () for tool_id in call.tools}:
            self._with_call += 1
            self._with[Trait.TOOL_WORD] += not _words(query).isdisjoint(_name_words(frozenset(names)))

    def likeness(self) -> Likeness:
        """The traits of all cases so far."""
        queries = self._lengths.total()
        lengths = sorted(self._lengths.elements())
        values: dict[Trait, tuple[float | None, int]] = {}
        for trait, share in _PERCENTILES:
            values[trait] = (lengths[int(share * queries)] if queries else None, queries)
        for trait in (Trait.SHORT, Trait.SENTENCES, Trait.RESTRICTED, Trait.QUESTIONS, Trait.TOOL_WORD):
            of = self._with_call if trait is Trait.TOOL_WORD else queries
            values[trait] = (self._with[trait] / of if of else None, of)
        return Likeness(queries, {trait: _measure(trait, *measured) for trait, measured in values.items()})


def measure_likeness(dataset: Dataset, progress: Callable[[int], None] | None = None) -> Likeness:
    """The traits of a dataset; reads every case.

    Args:
        dataset: Its cases are read once.
        progress: Called with the number of cases read so far.

    Raises:
        InvalidFileError: the file was changed since it was opened.
    """
    counter = LikenessCounter({tool.id: tool for tool in dataset.catalog_file.catalog.tools})
    for index in range(len(dataset)):
        counter.add(dataset.case(index))
        if progress is not None:
            progress(index)
    return counter.likeness()


@lru_cache(maxsize=10_000)
def _name_words(names: frozenset[str]) -> frozenset[str]:
    return _words(" ".join(names))


def _words(text: str) -> frozenset[str]:
    return frozenset(_TOOL_WORD.findall(split_name(text).casefold()))


def _measure(trait: Trait, value: float | None, of: int) -> Measure:
    reference = REFERENCES[trait]
    slack = TOLERANCE * (reference.high - reference.low)
    is_near = value is None or reference.low - slack <= value <= reference.high + slack
    return Measure(value, of, reference, not is_near)
