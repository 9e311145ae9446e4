"""What rankers find, as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from toolbelt.catalog.ranking.ranker import QueryProblem
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_points
from toolbelt.evals.retrieval.retrieval import Mean, RankerContrast, Retrieval, SearchedDataset
from toolbelt.evals.retrieval.searches import EMPTY_QUERY, NO_ANSWER, Exclusion, Measure
from toolbelt.evals.statistics.verdict import SIGNIFICANT
from toolbelt.render.numbers import NOTHING
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Note
from toolbelt.views.cells import Cell, Count, Proportion, Span, Tone
from toolbelt.views.table import Column, Row, Table

LABELS: Mapping[Measure, str] = MappingProxyType(
    {
        Measure.RECALL_AT_1: "recall@1",
        Measure.RECALL_AT_5: "recall@5",
        Measure.RECALL_AT_10: "recall@10",
        Measure.MRR: "MRR",
        Measure.NDCG_AT_10: "nDCG@10",
    }
)
_MEANINGS: Mapping[Measure, str] = MappingProxyType(
    {
        Measure.RECALL_AT_1: "Share of the right tools that come first.",
        Measure.RECALL_AT_5: "Share of the right tools within the first 5.",
        Measure.RECALL_AT_10: "Share of the right tools within the first 10.",
        Measure.MRR: "One by the place of the first right tool.",
        Measure.NDCG_AT_10: "Gain of the first 10, discounted by place.",
    }
)
_SPARE = (Measure.RECALL_AT_10, Measure.NDCG_AT_10)
_EXCLUDED: Mapping[Exclusion, str] = MappingProxyType(
    {Exclusion.NO_TOOL: "need no tool", Exclusion.ANY_TOOL: "accept any tool"}
)
_UNSCORED: Mapping[str, str] = MappingProxyType(
    {
        EMPTY_QUERY: "the last user message has no text",
        NO_ANSWER: "its model could not be asked",
        QueryProblem.INVALID_PATTERN: "its words make no pattern",
        QueryProblem.PATTERN_TOO_LONG: "its pattern is too long",
        QueryProblem.TIMEOUT: "the search took too long",
    }
)
_MOST_GROUPS = 20
_SIGN = "*"
_READING = (
    f"Percentage points with 95% intervals, paired by case. {_SIGN} p < 0.05 after Holm's adjustment for all "
    "differences here."
)


def retrieval_view(retrieval: Retrieval) -> Iterator[Block]:
    """Every dataset with its rankers, their differences, and the groups."""
    for dataset in retrieval.datasets:
        yield Heading(describe_dataset(dataset), level=2)
        yield measures_table(retrieval, dataset)
        yield from _notes(retrieval, dataset)
        if contrasts := [each for each in retrieval.contrasts if each.dataset == dataset.name]:
            yield contrasts_table(contrasts)
            yield Note(_READING, Tone.FAINT)
        yield from _groups(retrieval, dataset)
    yield Note("No chat model was asked: this measures the search, not what a model makes of it.", Tone.FAINT)


def describe_dataset(dataset: SearchedDataset) -> str:
    """What was searched, as a title."""
    cases = plural(dataset.needed, "case")
    tools = plural(dataset.tools, "tool")
    if not dataset.offered:
        return f"{dataset.name}: {cases} over the whole catalog ({tools})"
    own = f"over the tools that each offers (median {dataset.offered_median:g})"
    whole = dataset.needed - dataset.offered
    rest = f", {whole:,} of them over the whole catalog ({tools})" if whole else ""
    return f"{dataset.name}: {cases} {own}{rest}"


def measures_table(retrieval: Retrieval, dataset: SearchedDataset) -> Table:
    """A row for each ranker."""
    columns = tuple(
        Column(LABELS[each], _MEANINGS[each], has_interval=True, is_spare=each in _SPARE) for each in Measure
    )
    rows = (
        Row(ranker.rank, tuple(_cell(ranker.get(measure)) for measure in Measure))
        for ranker in retrieval.rankers
        if ranker.dataset == dataset.name
    )
    return Table("ranker", columns, tuple(rows), name=f"rankers-{dataset.name}")


def contrasts_table(contrasts: list[RankerContrast]) -> Table:
    """A row for each ranker that is compared with the first."""
    columns = tuple(Column(LABELS[each], is_spare=each in _SPARE) for each in Measure)
    by_ranker = {(each.b, each.measure): each for each in contrasts}
    names = dict.fromkeys(each.b for each in contrasts)
    rows = (Row(f"{b} − {contrasts[0].a}", tuple(_difference(by_ranker[b, each]) for each in Measure)) for b in names)
    return Table("difference", columns, tuple(rows), name=f"differences-{contrasts[0].dataset}")


def _difference(contrast: RankerContrast) -> Cell:
    is_significant = contrast.adjusted_p < SIGNIFICANT
    bounds = format_bounds(contrast.low, contrast.high, 0.0)
    text = f"{format_points(contrast.difference)}{_SIGN if is_significant else ''} ({bounds})"
    return Span(text, Tone.STRONG if is_significant else Tone.FAINT)


def _notes(retrieval: Retrieval, dataset: SearchedDataset) -> Iterator[Block]:
    if dataset.excluded:
        counts = (f"{count:,} {_EXCLUDED[reason]}" for reason, count in dataset.excluded.items())
        yield Note(f"Not searched: {', '.join(counts)}.", Tone.FAINT)
    if dataset.drafts:
        yield Note(f"{plural(dataset.drafts, 'draft')} among them that nobody has reviewed.", Tone.WARNING)
    for ranker in retrieval.rankers:
        if ranker.dataset == dataset.name and ranker.unscored:
            reasons = (f"{count:,} ({_UNSCORED.get(reason, reason)})" for reason, count in ranker.unscored.items())
            scored = f"{ranker.scored:,} of {plural(ranker.planned, 'case')} scored"
            yield Note(f"{ranker.rank}: {scored}; not {', '.join(reasons)}.", Tone.WARNING)


def _groups(retrieval: Retrieval, dataset: SearchedDataset) -> Iterator[Block]:
    rankers = [each for each in retrieval.rankers if each.dataset == dataset.name]
    by_name = [{group.name: group for group in each.groups} for each in rankers]
    names = list(dict.fromkeys(name for groups in by_name for name in groups))
    if not names:
        return
    columns = (Column("cases"), *(Column(each.rank, has_interval=True) for each in rankers))
    rows = []
    for name in names[:_MOST_GROUPS]:
        means = [groups[name].recall_at_5 if name in groups else Mean() for groups in by_name]
        cells = (Count(max(mean.cases for mean in means)), *map(_cell, means))
        rows.append(Row(name or "not tagged", cells))
    yield Table(f"recall@5 by {retrieval.grouped_by}", columns, tuple(rows), name=f"groups-{dataset.name}")
    if (more := len(names) - _MOST_GROUPS) > 0:
        yield Note(f"… and {more:,} more; --json has all.", Tone.FAINT)


def _cell(mean: Mean) -> Cell:
    return Span(NOTHING) if mean.value is None else Proportion(mean.value, mean.low, mean.high)
