"""Cases searched by a ranker, one after the other."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.ranking.ranker import QueryError, Ranker, SearchIndex
from toolbelt.catalog.ranking.regex import make_pattern
from toolbelt.catalog.ranking.spec import RankKind, RankSpec
from toolbelt.evals.cases.case import Case
from toolbelt.evals.retrieval.measures import DEPTH, find_places, ndcg_at, recall_at, reciprocal_rank
from toolbelt.reporter import Advance
from toolbelt.tiers import own_meta_tools

KS = tuple(range(1, 21))
"""The `k` of the curve of recall."""
EMPTY_QUERY = "empty_query"
"""Why a case is unscored whose last user message has no text; further reasons are those of a `QueryError`."""
NO_ANSWER = "ranker_failed"
"""Why all cases of a ranker are unscored whose model cannot be asked."""
_INDEXES_KEPT = 256


class Measure(StrEnum):
    """How well the right tools are found."""

    RECALL_AT_1 = "recall_at_1"
    RECALL_AT_5 = "recall_at_5"
    RECALL_AT_10 = "recall_at_10"
    MRR = "mrr"
    NDCG_AT_10 = "ndcg_at_10"

    @property
    def k(self) -> int | None:
        """Of recall."""
        return int(self.rpartition("_")[2]) if self.startswith("recall") else None


class Exclusion(StrEnum):
    """Why nothing is to be found in a case."""

    NO_TOOL = "no_tool_needed"
    ANY_TOOL = "any_tool_is_right"


def find_exclusion(case: Case) -> Exclusion | None:
    """Why a case is not searched; `None` if it needs a tool."""
    if case.expected is None:
        return Exclusion.ANY_TOOL
    return Exclusion.NO_TOOL if not all(case.answers) else None


@dataclass(frozen=True, slots=True)
class Scores:
    """How well one ranker found the tools of cases.

    Attributes:
        numbers: Of the cases that were scored, in order: the their positions among those searched.
        recall: For each of `KS`, the recall of each scored case.
        mrr: The reciprocal rank of each.
        ndcg_at_10: The nDCG of each.
        unscored: How many cases could not be searched, by reason.
    """

    numbers: array[int] = field(default_factory=lambda: array("I"))
    recall: tuple[array[float], ...] = field(default_factory=lambda: tuple(array("d") for _ in KS))
    mrr: array[float] = field(default_factory=lambda: array("d"))
    ndcg_at_10: array[float] = field(default_factory=lambda: array("d"))
    unscored: Counter[str] = field(default_factory=Counter)

    def values(self, measure: Measure) -> array[float]:
        """The values of a measure, one for each scored case."""
        match measure:
            case Measure.MRR:
                return self.mrr
            case Measure.NDCG_AT_10:
                return self.ndcg_at_10
            case _:
                return self.recall[KS.index(measure.k or 0)]


class CaseSearcher:
    """Searches the tools of each case.

    Args:
        spec: Names the ranker.
        ranker: That one.
        catalog: All tools. Its own meta-tools, which load others, are not searched.
        whole_catalog: Whether every case is searched over all of these, not over the tools that it offers.
    """

    def __init__(self, spec: RankSpec, ranker: Ranker, catalog: Catalog, *, whole_catalog: bool) -> None:
        self._spec = spec
        self._whole_catalog = whole_catalog
        self._whole = ranker.index(searched_tools(catalog))
        self._cut: Callable[[tuple[str, ...]], SearchIndex] = lru_cache(_INDEXES_KEPT)(self._whole.within)

    def find(self, case: Case) -> tuple[str, ...]:
        """Ids of the first `DEPTH` tools for the last user message, the best first.

        Raises:
            QueryError: the ranker cannot search for it.
            ToolbeltError: the ranker fails.
        """
        is_whole = self._whole_catalog or case.offered is None
        index = self._whole if is_whole else self._cut(case.offered or ())
        return tuple(hit.tool.id for hit in index.search(make_query(self._spec, case.query), DEPTH))


def searched_tools(catalog: Catalog) -> Sequence[Tool]:
    """The tools of a catalog that can be found."""
    own = own_meta_tools(catalog)
    return [tool for tool in catalog.tools if tool.id not in own]


def make_query(spec: RankSpec, text: str) -> str:
    """What a ranker is to search for: the user's text; of `regex`, a pattern that any of its words matches."""
    return make_pattern(text) if spec.kind is RankKind.REGEX else text


def search_cases(searcher: CaseSearcher, cases: Iterable[Case], advance: Advance | None) -> Scores:
    """Search the tools of cases that need one.

    Args:
        searcher: Of one ranker.
        cases: Read one at a time.
        advance: Called with the number of cases done so far.

    Raises:
        ToolbeltError: the ranker fails.
    """
    scores = Scores()
    for number, case in enumerate(cases):
        if advance is not None:
            advance(number)
        if not case.query.strip():
            scores.unscored[EMPTY_QUERY] += 1
            continue
        try:
            places = find_places(case, searcher.find(case))
        except QueryError as error:
            scores.unscored[error.problem.value] += 1
            continue
        scores.numbers.append(number)
        for k, column in zip(KS, scores.recall, strict=True):
            column.append(recall_at(places, k))
        scores.mrr.append(reciprocal_rank(places))
        scores.ndcg_at_10.append(ndcg_at(places, 10))
    return scores
