"""Tokens, requests, cost and time of two arms (rule E6, compared as E7 has it)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolbelt.evals.analysis.comparison.comparison import Contrast, Measure
from toolbelt.evals.analysis.comparison.paired_cases import PairedCases, add_up
from toolbelt.evals.analysis.comparison.reasons import DifferentTokenizers, MissingFigures, Reason
from toolbelt.evals.analysis.comparison.shares import IntervalSettings
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.statistics.clusters import count_different
from toolbelt.evals.statistics.means import MeanContrast, paired_means

METHOD = "sign-flip test, cluster bootstrap"
RESAMPLES = 2_000
"""At most. Amounts get no verdict, and thirty arms with five amounts each would take too long."""
_Column = tuple[NDArray[np.float64], NDArray[np.float64]]
"""New and old values of each case."""
_OWN_COUNT = "own_prompt_tokens"
_UNKNOWN = MappingProxyType(
    {
        Measure.COST_USD: MissingFigures.UNKNOWN_COST,
        Measure.LATENCY_SECONDS: MissingFigures.UNKNOWN_LATENCY,
        Measure.PROMPT_TOKENS: MissingFigures.UNKNOWN_TOKENS,
    }
)


def compare_amounts(
    old: ArmName, new: ArmName, cases: PairedCases, measures: Sequence[Measure], settings: IntervalSettings
) -> tuple[Contrast, ...]:
    """Means of two arms over the cases that both were scored on, scored epochs averaged to their case.

    Prompt tokens are as reported where every scored attempt of both arms has them; else our estimate of both, and a
    reason says so. Tokens that different tokenizers counted are not compared.

    Args:
        old: The old arm.
        new: The new one.
        cases: The cases of both arms.
        measures: Amounts, no shares.
        settings: How intervals and tests are made.

    Returns:
        A contrast for each measure, in their order; without figures, but with the reason, where an amount is not known
        of all those attempts; without an interval where all cases are of one cluster.
    """
    columns: dict[Measure, str] = {}
    reasons: dict[Measure, list[Reason]] = {measure: [] for measure in measures}
    for measure in measures:
        column, reason = _find_column(old, new, cases, measure)
        if column is not None:
            columns[measure] = column
        if reason is not None:
            reasons[measure].append(reason)
    labels = cases.clusters[cases.scored]
    clusters = count_different(labels)
    named = _Columns(cases, columns if clusters > 1 else {})
    means = paired_means(named, labels, settings.level, settings.seed, min(settings.resamples, RESAMPLES))
    empty = Contrast(
        Measure.REQUESTS,
        cases=len(labels),
        clusters=clusters,
        planned=cases.planned,
        unanswered=cases.unanswered,
    )
    contrasts = []
    for measure in measures:
        contrast = replace(empty, measure=measure)
        if measure.value in means:
            contrast = _with_interval(contrast, means[measure.value])
        elif measure in columns:
            contrast = _without_interval(contrast, _read(cases, columns[measure]))
            reasons[measure].append(MissingFigures.SINGLE_CLUSTER)
        contrasts.append(replace(contrast, reasons=tuple(reasons[measure])))
    return tuple(contrasts)


class _Columns(Mapping[str, _Column]):
    """The columns of some measures, each read when it is asked for, as all at once would take much memory."""

    def __init__(self, cases: PairedCases, columns: Mapping[Measure, str]) -> None:
        self._cases, self._columns = cases, {measure.value: column for measure, column in columns.items()}

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __getitem__(self, measure: str) -> _Column:
        return _read(self._cases, self._columns[measure])


def _find_column(old: ArmName, new: ArmName, cases: PairedCases, measure: Measure) -> tuple[str | None, Reason | None]:
    """The figure of attempts that is compared, and why it is missing or an estimate; `None` for what does not apply."""
    if not len(cases.scored):
        return None, MissingFigures.NO_SHARED_CASES
    same_tokens = old.tokenizer == new.tokenizer
    other = DifferentTokenizers(old.tokenizer, new.tokenizer)
    if measure is Measure.DEFINITION_TOKENS and not same_tokens:
        return None, other
    figure = measure.value
    if measure is Measure.PROMPT_TOKENS:
        # One model's provider counts alike, whatever counted here.
        if _is_known(cases, figure):
            return (figure, None) if same_tokens or old.model == new.model else (None, other)
        if _is_known(cases, _OWN_COUNT):
            return (_OWN_COUNT, MissingFigures.ESTIMATED_TOKENS) if same_tokens else (None, other)
        return None, _UNKNOWN[measure]
    return (figure, None) if _is_known(cases, figure) else (None, _UNKNOWN[measure])


def _is_known(cases: PairedCases, figure: str) -> bool:
    """Whether a figure is known of every scored attempt of both arms."""
    return all((values >= 0)[is_scored].all() for values, is_scored in _scored_figures(cases, figure))


def _read(cases: PairedCases, figure: str) -> _Column:
    new, old = (_mean(values, is_scored) for values, is_scored in _scored_figures(cases, figure))
    return new, old


def _scored_figures(cases: PairedCases, figure: str) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
    """A figure of each attempt of the cases that both arms were scored on, and whether it was scored; first of the new
    arm.
    """
    for table, places in ((cases.new, cases.places[1]), (cases.old, cases.places[0])):
        of = places[cases.scored]
        yield table.figure(figure, of), table.by_end(lambda end: end is not None and end.is_scored, of=of)


def _mean(values: NDArray[Any], is_scored: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Over the scored epochs of each case, added up in their order."""
    total = np.zeros(len(values))
    for epoch in range(values.shape[1]):
        np.add(total, values[:, epoch], out=total, where=is_scored[:, epoch])
    total /= is_scored.sum(axis=1, dtype=np.int32)
    return total


def _with_interval(contrast: Contrast, means: MeanContrast) -> Contrast:
    return replace(
        contrast,
        old=means.old,
        new=means.new,
        difference=means.difference,
        low=means.low,
        high=means.high,
        ratio=means.ratio,
        ratio_low=means.ratio_low,
        ratio_high=means.ratio_high,
        p_value=means.p_value,
        method=METHOD,
    )


def _without_interval(contrast: Contrast, column: _Column) -> Contrast:
    new, old = (add_up(values) / len(values) for values in column)
    ratio = new / old if new > 0 and old > 0 else None
    return replace(contrast, old=old, new=new, difference=new - old, ratio=ratio)
