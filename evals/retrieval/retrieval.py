"""The measures of rankers over a dataset, and their differences (rule S3), as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.evals.retrieval.searches import NO_ANSWER, Exclusion, Measure
from toolbelt.views.json_values import Count, PositiveCount, Share, described, to_json

SCHEMA = "toolbelt.search/1"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over cases with its interval."""

    value: Share | None = field(default=None, metadata=described("over the scored cases; null where there are none"))
    cases: Count = field(default=0, metadata=described("how many cases it covers"))
    low: Share | None = field(default=None, metadata=described("lower bound of the 95% interval"))
    high: Share | None = field(default=None, metadata=described("upper bound of the 95% interval"))


@dataclass(frozen=True, slots=True)
class PointAtK:
    """A point of the curve of recall."""

    k: PositiveCount = field(metadata=described("tools that are looked at"))
    recall: Mean = field(metadata=described("recall at k"))


@dataclass(frozen=True, slots=True)
class GroupMeasures:
    """What one ranker finds in cases of one language, kind or tag."""

    name: str = field(metadata=described("of the group; empty for cases without one"))
    recall_at_1: Mean = field(metadata=described("mean recall at 1"))
    recall_at_5: Mean = field(metadata=described("mean recall at 5"))
    recall_at_10: Mean = field(metadata=described("mean recall at 10"))
    mrr: Mean = field(metadata=described("mean reciprocal rank"))
    ndcg_at_10: Mean = field(metadata=described("mean nDCG at 10"))


@dataclass(frozen=True, slots=True)
class RankerMeasures:
    """What one ranker finds in the cases of a dataset that need a tool."""

    dataset: str = field(metadata=described("name of the dataset"))
    rank: str = field(metadata=described("name of the ranker"))
    planned: Count = field(metadata=described("that need a tool", "cases"))
    scored: Count = field(metadata=described("that the ranker could search", "cases"))
    unscored: Mapping[str, int] = field(metadata=described("that it could not search, by reason: in no mean", "cases"))
    recall_at_1: Mean = field(metadata=described("best share, over accepted answers, of its tools found first"))
    recall_at_5: Mean = field(metadata=described("the same, within the first 5"))
    recall_at_10: Mean = field(metadata=described("the same, within the first 10"))
    mrr: Mean = field(
        metadata=described("one by the place of the first right tool; 0 where none is within the first 100")
    )
    ndcg_at_10: Mean = field(metadata=described("gain of the first 10, discounted by log2(place + 1), of the greatest"))
    curve: tuple[PointAtK, ...] = field(metadata=described("recall against k"))
    groups: tuple[GroupMeasures, ...] = field(
        metadata=described("by language, kind or tag; empty where none is wanted")
    )

    def get(self, measure: Measure) -> Mean:
        """One of the means."""
        mean: Mean = getattr(self, measure.value)
        return mean


@dataclass(frozen=True, slots=True)
class RankerContrast:
    """One measure of two rankers over the cases that both could search; b − a."""

    dataset: str = field(metadata=described("name of the dataset"))
    a: str = field(metadata=described("name of the ranker that others are compared with"))
    b: str = field(metadata=described("name of the other ranker"))
    measure: Measure = field(metadata=described("what is compared"))
    difference: float = field(metadata=described("of the means, b − a", "fraction"))
    low: float = field(metadata=described("lower bound of its 95% interval"))
    high: float = field(metadata=described("upper bound of its 95% interval"))
    p_value: Share = field(metadata=described("two-sided, paired by case, not adjusted"))
    adjusted_p: Share = field(metadata=described("adjusted over all contrasts of the command (Holm)"))
    cases: PositiveCount = field(metadata=described("that both could search", "cases"))
    clusters: PositiveCount = field(metadata=described("of those cases", "clusters"))
    discordant: Count = field(metadata=described("in which a case differs", "clusters"))
    method: str = field(metadata=described("how interval and p value were found"))


@dataclass(frozen=True, slots=True)
class SearchedDataset:
    """The cases that were searched."""

    name: str = field(metadata=described("name of the dataset"))
    digest: str = field(metadata=described("of its cases and their grading"))
    catalog: str = field(metadata=described("name of the catalog"))
    tools: Count = field(metadata=described("that can be found in the catalog", "tools"))
    whole_catalog: bool = field(
        metadata=described("whether every case was searched over all of these, whatever it offers")
    )
    offered: Count = field(metadata=described("of the cases searched, those over the tools that they offer", "cases"))
    offered_median: float | None = field(
        metadata=described("that these offer, the median; null where there are none", "tools")
    )
    cases: Count = field(metadata=described("chosen by the filters", "cases"))
    needed: Count = field(metadata=described("of these, that need a tool: all others are in no measure", "cases"))
    drafts: Count = field(metadata=described("of the cases searched, those that nobody has reviewed", "cases"))
    excluded: Mapping[Exclusion, int] = field(metadata=described("the others, by reason", "cases"))


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What rankers find in the cases of datasets."""

    datasets: tuple[SearchedDataset, ...] = field(metadata=described("what was searched"))
    rankers: tuple[RankerMeasures, ...] = field(metadata=described("a ranker over a dataset each"))
    contrasts: tuple[RankerContrast, ...] = field(metadata=described("differences over a dataset"))
    grouped_by: str | None = field(metadata=described("what `groups` are: language, kind or tag"))


def is_complete(retrieval: Retrieval) -> bool:
    """Whether every ranker could be asked."""
    return not any(NO_ANSWER in ranker.unscored for ranker in retrieval.rankers)


def retrieval_data(retrieval: Retrieval) -> dict[str, Any]:
    """What `toolbelt eval search --json` prints; `toolbelt eval schema search` describes it."""
    return {"schema": SCHEMA, **to_json(retrieval)}
