"""Where the right tool of each case is found in two versions of a catalog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from toolbelt.catalog import Catalog
from toolbelt.catalog.gate.catalog_gate import CatalogFault, GateRule
from toolbelt.catalog.ranking.spec import RankKind, RankSpec
from toolbelt.catalog.ranking.words import WordsRanker
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.retrieval.measures import find_places, recall_at, reciprocal_rank
from toolbelt.evals.retrieval.searches import CaseSearcher, find_exclusion
from toolbelt.evals.statistics.distributions import mcnemar_p
from toolbelt.reporter import Advance

K = 5
"""Tools among which the right one is wanted."""
_LEAST_LOST = 2
"""Cases that a tool must lose to be a fault: a single one may be worded by chance."""
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class CaseRanks:
    """Cases that need a tool which both versions have, by the `words` ranker over the whole catalog.

    Attributes:
        dataset: Its name.
        cases: How many.
        recall_at_5: Share of the right tools within the first five, before and now; `None` without cases.
        mrr: Mean reciprocal rank of the first right one, before and now.
        lost: Cases by the tool that is not within the first five any more.
        won: By the tool that is there now.
        p_value: Of as many lost and won cases, were each as likely.
    """

    dataset: str
    cases: int
    recall_at_5: tuple[float, float] | None
    mrr: tuple[float, float] | None
    lost: Mapping[str, tuple[str, ...]]
    won: Mapping[str, tuple[str, ...]]
    p_value: float

    @property
    def faults(self) -> tuple[CatalogFault, ...]:
        """Tools that lost several cases more than they won; all that lost one where there are too many for chance."""
        least = 1 if self.p_value < _SIGNIFICANT else _LEAST_LOST
        return tuple(
            CatalogFault(GateRule.CASES_LOST, tool, cases)
            for tool, cases in self.lost.items()
            if len(cases) - len(self.won.get(tool, ())) >= least
        )


def rank_cases(dataset: Dataset, old: Catalog, new: Catalog, advance: Advance | None = None) -> CaseRanks:
    """Search both versions for the right tools of cases.

    Args:
        dataset: Read over the old catalog. Cases whose right tool is gone or new are left out, as such tools are a
            fault of their own.
        old: Before.
        new: Now.
        advance: Called with the number of cases done so far.
    """
    spec, ranker = RankSpec(RankKind.WORDS), WordsRanker()
    searchers = [CaseSearcher(spec, ranker, catalog, whole_catalog=True) for catalog in (old, new)]
    known = {tool.id for tool in new.tools}
    lost: dict[str, list[str]] = {}
    won: dict[str, list[str]] = {}
    recalls: list[tuple[float, ...]] = []
    ranks: list[tuple[float, ...]] = []
    for number in range(len(dataset)):
        if advance is not None:
            advance(number)
        case = dataset.case(number)
        if find_exclusion(case) is not None or not case.query.strip() or not _tools(case) <= known:
            continue
        found = [searcher.find(case) for searcher in searchers]
        places = [find_places(case, ids) for ids in found]
        recalls.append(tuple(recall_at(each, K) for each in places))
        ranks.append(tuple(map(reciprocal_rank, places)))
        before, now = (_tools(case) & set(ids[:K]) for ids in found)
        for tools, into in ((before - now, lost), (now - before, won)):
            for tool in tools if recalls[-1][0] != recalls[-1][1] else ():
                into.setdefault(tool, []).append(case.id)
    changed = Counter(now > before for before, now in recalls if now != before)
    return CaseRanks(
        dataset.name,
        len(recalls),
        _means(recalls),
        _means(ranks),
        {tool: tuple(cases) for tool, cases in lost.items()},
        {tool: tuple(cases) for tool, cases in won.items()},
        mcnemar_p(changed[True], changed[False]),
    )


def _tools(case: Case) -> set[str]:
    return {tool for answer in case.answers for call in answer for tool in call.tools}


def _means(pairs: list[tuple[float, ...]]) -> tuple[float, float] | None:
    return (fmean(pair[0] for pair in pairs), fmean(pair[1] for pair in pairs)) if pairs else None
