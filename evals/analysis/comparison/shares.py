"""Shares of two arms and the verdict over them, which must not rest on what was not scored (rule E7).

A trial that failed or was not run may have gone either way. So a verdict is given only if it also holds where all of
them are counted against it: `no_regression` with each lost in the new arm and won in the old one, `regression` the
other way round, over all cases that were to be asked.

A prompt that does not fit the window is no such doubt: it would not fit again, and nothing right can have come of it.
So an epoch that was too long in both arms counts for neither. One that was in the old arm alone is no loss, whatever
the new one made of it (there was nothing to lose), but may be a gain. One that was in the new arm alone may be a loss;
where the case had always fitted the arms have regressed (`ArmComparison.verdict`), whatever the share says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from toolbelt.evals.analysis.comparison.comparison import Contrast, Measure
from toolbelt.evals.analysis.comparison.paired_cases import CasePair, PairedCases, group_by_cluster
from toolbelt.evals.analysis.comparison.reasons import (
    CountedAs,
    MissingFigures,
    Reason,
    TooFewCases,
    UncertainLoss,
    UnscoredCases,
)
from toolbelt.evals.analysis.comparison.sample_size import is_unfinished
from toolbelt.evals.statistics import paired
from toolbelt.evals.statistics.verdict import SIGNIFICANT, Verdict, holm, judge


@dataclass(frozen=True, slots=True)
class IntervalSettings:
    """How intervals and tests are made.

    Attributes:
        margin: Share that may be lost.
        level: Of the intervals.
        seed: Of resampling.
        resamples: Drawn for an interval or a test, where it is not exact.
    """

    margin: float
    level: float
    seed: int
    resamples: int


@dataclass(frozen=True, slots=True)
class UnjudgedContrast:
    """A contrast of a share before its verdict, which takes the p values of all of them.

    Attributes:
        contrast: Without verdict.
        cases: The cases of both arms.
        worst: What it would be if all that is in doubt were lost in the new arm and won in the old one; `None` where
            nothing is.
        best: What it would be the other way round; `None` where nothing is in doubt, or the p value is too large
            already.
    """

    contrast: Contrast
    cases: PairedCases
    worst: paired.ShareContrast | None = None
    best: paired.ShareContrast | None = None

    @property
    def least_sure_p(self) -> float:
        """The p value, or a larger one that there could be if all were scored; 1 where the difference could be 0."""
        p_value, worst, best = self.contrast.p_value, self.worst, self.best
        if p_value is None:
            return 1.0
        if worst is None or best is None:
            return p_value
        if worst.difference <= 0 <= best.difference:
            return 1.0
        return max(p_value, worst.p_value, best.p_value)


def find_difference(cases: PairedCases, measure: Measure, settings: IntervalSettings) -> UnjudgedContrast:
    """The difference of a share between two arms, over the cases that both were scored on.

    Args:
        cases: The cases of both arms.
        measure: A share.
        settings: Of interval and test.
    """
    difference = _difference(
        group_by_cluster(cases.scored, lambda pair: (pair.new.share(measure), pair.old.share(measure))), settings
    )
    contrast = Contrast(measure, planned=cases.planned, unanswered=cases.unanswered)
    if difference is None:
        return UnjudgedContrast(contrast, cases)
    count = len(cases.scored)
    contrast = replace(
        contrast,
        old=sum(pair.old.share(measure) for pair in cases.scored) / count,
        new=sum(pair.new.share(measure) for pair in cases.scored) / count,
        difference=difference.difference,
        low=difference.low,
        high=difference.high,
        p_value=difference.p_value,
        cases=count,
        clusters=difference.clusters,
        differing=sum(pair.old.share(measure) != pair.new.share(measure) for pair in cases.scored),
        method=difference.method.value,
    )
    finding = UnjudgedContrast(contrast, cases)
    if not (cases.may_be_losses or cases.may_be_gains):
        return finding
    worst = _clustered(cases, lambda pair: pair.worst(measure))
    alone = [[(0.0, 1.0)]] * cases.unread
    finding = replace(finding, worst=_difference([*worst, *alone], settings))
    if difference.p_value < SIGNIFICANT:  # else nothing comes of it, here or in other arms
        best = _clustered(cases, lambda pair: pair.best(measure))
        alone = [[(1.0, 0.0)]] * cases.unread
        finding = replace(finding, best=_difference([*best, *alone], settings))
    return finding


def _clustered(
    cases: PairedCases, bound: Callable[[CasePair], tuple[float, float] | None]
) -> list[list[tuple[float, float]]]:
    """A bound of every case that has one, those of a cluster together."""
    clusters = group_by_cluster(cases.pairs, bound)
    return [bounds for cluster in clusters if (bounds := [pair for pair in cluster if pair is not None])]


def give_verdicts(
    findings: Sequence[UnjudgedContrast], margin: float, significant: float = SIGNIFICANT
) -> list[Contrast]:
    """The contrasts with their verdicts and the reasons for them, p values adjusted over all of them (Holm).

    Args:
        findings: All that one command gives a verdict on.
        margin: Share that may be lost.
        significant: An adjusted p value below this is significant.
    """
    adjusted = _holm([finding.contrast.p_value for finding in findings])
    # A p value that hangs on unscored trials must not lift another over the threshold either.
    least_sure = holm([finding.least_sure_p for finding in findings])
    tests = sum(p is not None for p in adjusted)
    return [
        _judge(finding, margin, p, p_least_sure, tests, significant)
        for finding, p, p_least_sure in zip(findings, adjusted, least_sure, strict=True)
    ]


def _judge(
    finding: UnjudgedContrast, margin: float, p: float | None, least_sure: float, tests: int, significant: float
) -> Contrast:
    contrast = finding.contrast
    verdict = Verdict.INSUFFICIENT_DATA
    reason: Reason | None = MissingFigures.NO_SHARED_CASES
    if p is not None and contrast.low is not None and contrast.high is not None:
        verdict, reason = judge(contrast.low, contrast.high, p, margin, significant), None
        if verdict is Verdict.INSUFFICIENT_DATA:
            reason = TooFewCases(contrast.low, contrast.high, margin, contrast.planned, is_unfinished(contrast))
            if contrast.high < 0:
                reason = UncertainLoss(contrast.p_value, p, tests)
        elif (doubt := _doubt(finding, verdict, margin, least_sure, significant)) is not None:
            verdict, reason = Verdict.INSUFFICIENT_DATA, doubt
    return replace(contrast, adjusted_p=p, verdict=verdict, reasons=() if reason is None else (reason,))


def _doubt(
    finding: UnjudgedContrast, verdict: Verdict, margin: float, least_sure: float, significant: float
) -> UnscoredCases | None:
    """Why a verdict would rest on trials that were not scored; `None` if it would not."""
    worst, best, cases = finding.worst, finding.best, finding.cases
    if verdict is Verdict.NO_REGRESSION:
        if worst is None or worst.low > -margin:
            return None
        return _unscored(cases, cases.may_be_losses, CountedAs.LOST, margin, bound=worst.low)
    gains = cases.may_be_gains
    if best is not None and best.high >= 0:
        return _unscored(cases, gains, CountedAs.WON, margin, bound=best.high)
    if least_sure >= significant:
        return _unscored(cases, max(gains, cases.may_be_losses), CountedAs.WON, margin, adjusted_p=least_sure)
    return None


def _unscored(
    cases: PairedCases,
    count: int,
    counted_as: CountedAs,
    margin: float,
    *,
    bound: float | None = None,
    adjusted_p: float | None = None,
) -> UnscoredCases:
    return UnscoredCases(
        count, cases.planned, cases.epochs, counted_as, cases.never_fit, margin, bound=bound, adjusted_p=adjusted_p
    )


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(adjusted) for p in p_values]


def _difference(
    clusters: Sequence[Sequence[tuple[float, float]]], settings: IntervalSettings
) -> paired.ShareContrast | None:
    if not clusters:
        return None
    return paired.paired_difference(clusters, settings.level, settings.seed, settings.resamples)
