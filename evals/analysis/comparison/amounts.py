"""Tokens, requests, cost and time of two arms (rule E6, compared as E7 has it)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import MappingProxyType

from toolbelt.evals.analysis.comparison.comparison import Contrast, Measure
from toolbelt.evals.analysis.comparison.paired_cases import CasePair, CaseResult, PairedCases
from toolbelt.evals.analysis.comparison.reasons import DifferentTokenizers, MissingFigures, Reason
from toolbelt.evals.analysis.comparison.shares import IntervalSettings
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt
from toolbelt.evals.statistics.means import MeanContrast, paired_means_of

METHOD = "sign-flip test, cluster bootstrap"
RESAMPLES = 2_000
"""At most. Amounts get no verdict, and thirty arms with five amounts each would take too long."""
Amount = Callable[[Attempt], float | None]
_Column = tuple[list[float], list[float]]

_AMOUNTS: MappingProxyType[Measure, Amount] = MappingProxyType(
    {
        Measure.DEFINITION_TOKENS: lambda attempt: attempt.definition_tokens,
        Measure.PROMPT_TOKENS: lambda attempt: attempt.prompt_tokens,
        Measure.REQUESTS: lambda attempt: attempt.requests,
        Measure.COST_USD: lambda attempt: attempt.cost_usd,
        Measure.LATENCY_SECONDS: lambda attempt: attempt.latency_seconds,
    }
)
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
    columns: dict[Measure, _Column] = {}
    reasons: dict[Measure, list[Reason]] = {measure: [] for measure in measures}
    for measure in measures:
        column, reason = _find_column(old, new, cases.scored, measure)
        if column is not None:
            columns[measure] = column
        if reason is not None:
            reasons[measure].append(reason)
    labels = [pair.cluster for pair in cases.scored]
    clusters = len(set(labels))
    named = {measure.value: column for measure, column in columns.items()} if clusters > 1 else {}
    means = paired_means_of(named, labels, settings.level, settings.seed, min(settings.resamples, RESAMPLES))
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
            contrast = _without_interval(contrast, columns[measure])
            reasons[measure].append(MissingFigures.SINGLE_CLUSTER)
        contrasts.append(replace(contrast, reasons=tuple(reasons[measure])))
    return tuple(contrasts)


def _find_column(
    old: ArmName, new: ArmName, scored: Sequence[CasePair], measure: Measure
) -> tuple[_Column | None, Reason | None]:
    """New and old values of each case, and why they are missing or an estimate; `None` for what does not apply."""
    if not scored:
        return None, MissingFigures.NO_SHARED_CASES
    same_tokens = old.tokenizer == new.tokenizer
    other = DifferentTokenizers(old.tokenizer, new.tokenizer)
    if measure is Measure.DEFINITION_TOKENS and not same_tokens:
        return None, other
    if measure is Measure.PROMPT_TOKENS:
        # One model's provider counts alike, whatever counted here.
        reported = _read(scored, _AMOUNTS[measure])
        if reported is not None:
            return (reported, None) if same_tokens or old.model == new.model else (None, other)
        own = _read(scored, lambda attempt: attempt.own_prompt_tokens)
        if own is not None:
            return (own, MissingFigures.ESTIMATED_TOKENS) if same_tokens else (None, other)
        return None, _UNKNOWN[measure]
    column = _read(scored, _AMOUNTS[measure])
    return column, None if column is not None else _UNKNOWN[measure]


def _read(scored: Sequence[CasePair], amount: Amount) -> _Column | None:
    """New and old values of each case; `None` where an attempt's is not known."""
    new, old = [], []
    for pair in scored:
        after, before = _mean(pair.new, amount), _mean(pair.old, amount)
        if after is None or before is None:
            return None
        new.append(after)
        old.append(before)
    return new, old


def _mean(tried: CaseResult, amount: Amount) -> float | None:
    total = 0.0
    for attempt in tried.attempts:
        value = amount(attempt)
        if value is None:
            return None
        total += value
    return total / len(tried.attempts)


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
    new, old = (sum(values) / len(values) for values in column)
    ratio = new / old if new > 0 and old > 0 else None
    return replace(contrast, old=old, new=new, difference=new - old, ratio=ratio)
