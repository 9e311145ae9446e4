"""Rankers over the cases of a dataset, from the cases to what they come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import median
from types import MappingProxyType

from toolbelt.catalog.ranking.ranker import Ranker, prepare_texts
from toolbelt.catalog.ranking.spec import RankSpec
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.languages import find_languages
from toolbelt.evals.retrieval.compute import compare_rankers, measure_ranker
from toolbelt.evals.retrieval.retrieval import RankerContrast, RankerMeasures, Retrieval, SearchedDataset
from toolbelt.evals.retrieval.searches import (
    NO_ANSWER,
    CaseSearcher,
    Exclusion,
    Scores,
    find_exclusion,
    make_query,
    search_cases,
    searched_tools,
)
from toolbelt.evals.running.plan import CaseFilter
from toolbelt.evals.statistics.verdict import holm
from toolbelt.reporter import SILENT, Reporter

_INCOMPLETE = 3
"""The exit code of errors that are not the user's: a model that cannot be asked."""


class Grouping(StrEnum):
    """What cases are grouped by."""

    LANGUAGE = "language"
    KIND = "kind"
    TAG = "tag"


_GROUPS: Mapping[Grouping, Callable[[Case], tuple[str, ...]]] = MappingProxyType(
    {
        Grouping.LANGUAGE: find_languages,
        Grouping.KIND: lambda case: (case.kind,),
        Grouping.TAG: lambda case: case.tags,
    }
)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is searched, and how.

    Attributes:
        filter: Which cases.
        seed: Of the draw of cases, and of the bootstrap.
        whole_catalog: Whether every case is searched over the whole catalog, whatever it offers.
        grouping: What measures are broken down by; by default the languages, if any case is tagged with one.
    """

    filter: CaseFilter = field(default_factory=CaseFilter)
    seed: int = 0
    whole_catalog: bool = False
    grouping: Grouping | None = None


def evaluate_rankers(
    datasets: Sequence[Dataset],
    rankers: Sequence[tuple[RankSpec, Ranker]],
    request: SearchRequest,
    reporter: Reporter = SILENT,
) -> Retrieval:
    """What rankers find in the cases of datasets that need a tool.

    Args:
        datasets: One or more.
        rankers: One or more, each with what names it; the others are compared with the first.
        request: What is searched.
        reporter: Gets the progress of each ranker over each dataset.

    Raises:
        NotFoundError: a filter names something that a dataset does not have.
        ToolbeltError: no case of a dataset needs a tool, or a ranker fails.
    """
    named = Counter(dataset.name for dataset in datasets)
    parts = [_Part(each, each.name if named[each.name] == 1 else each.source, request) for each in datasets]
    grouping = request.grouping
    if grouping is None and any(any(part.groups(Grouping.LANGUAGE)) for part in parts):
        grouping = Grouping.LANGUAGE
    measures: list[RankerMeasures] = []
    contrasts: list[RankerContrast] = []
    for part in parts:
        ranked = [(str(spec), part.search(spec, ranker, reporter)) for spec, ranker in rankers]
        groups = part.groups(grouping)
        measures += [measure_ranker(part.name, name, scores, part.clusters, groups) for name, scores in ranked]
        if len(ranked) > 1:
            with reporter.progress("comparing rankers", None) as advance:
                for contrast in compare_rankers(part.name, ranked, part.clusters, request.seed):
                    contrasts.append(contrast)
                    advance(len(contrasts))
    adjusted = holm([contrast.p_value for contrast in contrasts])
    return Retrieval(
        datasets=tuple(part.describe() for part in parts),
        rankers=tuple(measures),
        contrasts=tuple(replace(each, adjusted_p=p) for each, p in zip(contrasts, adjusted, strict=True)),
        grouped_by=None if grouping is None else grouping.value,
    )


class _Part:
    """The cases of one dataset."""

    def __init__(self, dataset: Dataset, name: str, request: SearchRequest) -> None:
        self.dataset = dataset
        self.name = name
        self._request = request
        chosen = request.filter
        self._chosen = dataset.select(
            kinds=chosen.kinds, tags=chosen.tags, ids=chosen.ids, limit=chosen.limit, seed=request.seed
        )
        self._excluded: Counter[Exclusion] = Counter()
        self._needed: list[int] = []
        self._offered: list[int] = []
        for index in self._chosen:
            case = dataset.case(index)
            if (exclusion := find_exclusion(case)) is not None:
                self._excluded[exclusion] += 1
                continue
            self._needed.append(index)
            if case.offered is not None and not request.whole_catalog:
                self._offered.append(len(case.offered))
        if not self._needed:
            raise ToolbeltError(f"No case of {dataset.name!r} that passes the filters needs a tool.")
        self.clusters = [dataset.cluster_key(index) for index in self._needed]

    def groups(self, grouping: Grouping | None) -> list[tuple[str, ...]]:
        """Of each case that needs a tool; nothing where none is wanted."""
        if grouping is None:
            return []
        return [_GROUPS[grouping](self.dataset.case(index)) for index in self._needed]

    def search(self, spec: RankSpec, ranker: Ranker, reporter: Reporter) -> Scores:
        """Search the cases by one ranker; where it cannot be asked, none is scored."""
        try:
            return self._search(spec, ranker, reporter)
        except ToolbeltError as error:
            if error.exit_code != _INCOMPLETE:
                raise
            reporter.warn(f"{spec}: {error}")
            return Scores(unscored=Counter({NO_ANSWER: len(self._needed)}))

    def _search(self, spec: RankSpec, ranker: Ranker, reporter: Reporter) -> Scores:
        catalog = self.dataset.catalog_file.catalog
        searcher = CaseSearcher(spec, ranker, catalog, whole_catalog=self._request.whole_catalog)
        queries = (make_query(spec, self.dataset.case(index).query) for index in self._needed)
        prepare_texts(ranker, queries)
        with reporter.progress(f"{self.name}: searching by {spec}", len(self._needed)) as advance:
            return search_cases(searcher, map(self.dataset.case, self._needed), advance)

    def describe(self) -> SearchedDataset:
        """What is searched."""
        catalog = self.dataset.catalog_file.catalog
        return SearchedDataset(
            name=self.name,
            digest=self.dataset.digest,
            catalog=catalog.name,
            tools=len(searched_tools(catalog)),
            whole_catalog=self._request.whole_catalog,
            offered=len(self._offered),
            offered_median=median(self._offered) if self._offered else None,
            cases=len(self._chosen),
            needed=len(self._needed),
            drafts=sum(map(self.dataset.is_draft, self._needed)) if self.dataset.drafts else 0,
            excluded=dict(self._excluded),
        )
