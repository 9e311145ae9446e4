"""The rankers that need nothing but the tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from toolbelt.catalog.ranking.ranker import Ranker
from toolbelt.catalog.ranking.regex import RegexRanker
from toolbelt.catalog.ranking.spec import RankKind
from toolbelt.catalog.ranking.words import WordsRanker

RANKERS: Mapping[RankKind, Callable[[], Ranker]] = MappingProxyType(
    {RankKind.WORDS: WordsRanker, RankKind.REGEX: RegexRanker}
)
"""By kind; `toolbelt.project.rankers` opens these and the others."""
