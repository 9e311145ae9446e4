"""Shares of two arms and the verdict over them, which must not rest on what was not scored (rule E7).

A trial that failed or was not run may have gone either way. So a verdict is given only if it also holds where all of
them are counted against it: `no_regression` with each lost in the new arm and won in the old one, `regression` the
other way round, over all cases that were to be asked.

A prompt that does not fit the window is no such doubt: it would not fit again, and nothing right can have come of it.
So an epoch that was too long in both arms counts for neither. One that was in the old arm alone is no loss, whatever
the new one made of it (there was nothing to lose), but may be a gain. One that was in the new arm alone may be a loss;
where the case had always fitted the arms have regressed (`ArmComparison.verdict`), whatever the share says.

Arms of one run are choices, of which one would meet all cases. So their shares are of all asked, and what was too long
is not right, in either arm (rule V1). Cases that fit neither make a difference look small: `no_regression` has to hold
without them, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from toolbelt.evals.analysis.comparison.case_groups import CaseGroup, Places
from toolbelt.evals.analysis.comparison.comparison import Contrast, Measure
from toolbelt.evals.analysis.comparison.paired_cases import PairedCases, add_up
from toolbelt.evals.analysis.comparison.reasons import (
    CountedAs,
    MissingFigures,
    Reason,
    TooFewCases,
    UncertainLoss,
    UnscoredCases,
)
from toolbelt.evals.analysis.comparison.sample_size import is_unfinished
from toolbelt.evals.analysis.evidence.case_table import count
from toolbelt.evals.statistics import paired
from toolbelt.evals.statistics.clusters import count_different
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
class UnscoredCounts:
    """How many cases were not scored in both arms at every epoch, see `PairedCases`."""

    planned: int
    epochs: int
    may_be_losses: int
    may_be_gains: int
    never_fit: int


@dataclass(frozen=True, slots=True)
class UnjudgedContrast:
    """A contrast of a share before its verdict, which takes the p values of all of them.

    Attributes:
        contrast: Without verdict.
        unscored: What was not scored in both arms.
        worst: What it would be if all that is in doubt were lost in the new arm and won in the old one; `None` where
            nothing is.
        best: What it would be the other way round; `None` where nothing is in doubt, or the p value is too large
            already.
        is_repeated: Whether it is of the same data as the finding before it, so that the two are one hypothesis.
        is_same: Whether both arms sent the same requests and have the same answers, so that none is worse (rule V3).
    """

    contrast: Contrast
    unscored: UnscoredCounts
    worst: paired.ShareContrast | None = None
    best: paired.ShareContrast | None = None
    is_repeated: bool = False
    is_same: bool = False

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


def find_differences(
    cases: PairedCases, measures: Sequence[Measure], settings: IntervalSettings
) -> tuple[UnjudgedContrast, ...]:
    """The differences of several shares; those of the same value in every case of both arms are computed once."""
    findings: list[UnjudgedContrast] = []
    for number, measure in enumerate(measures):
        before = measures[number - 1]
        if number and all(
            result.count(measure) == result.count(before) for group in cases.groups for result in (group.old, group.new)
        ):
            same = findings[-1]
            findings.append(replace(same, contrast=replace(same.contrast, measure=measure), is_repeated=True))
        else:
            findings.append(find_difference(cases, measure, settings))
    return tuple(findings)


def find_difference(cases: PairedCases, measure: Measure, settings: IntervalSettings) -> UnjudgedContrast:
    """The difference of a share between two arms, over the cases that both were scored on.

    Args:
        cases: The cases of both arms.
        measure: A share.
        settings: Of interval and test.
    """
    doubt = UnscoredCounts(cases.planned, cases.epochs, cases.may_be_losses, cases.may_be_gains, cases.never_fit)
    contrast = Contrast(measure, planned=cases.planned, unanswered=cases.unanswered)
    shares = [group.shares(measure) if group.is_compared else None for group in cases.groups]
    difference = _difference(_count_clusters(cases, shares, cases.compared), settings)
    if difference is None or (cases.of_asked and cases.never_fit == len(cases.compared)):
        return UnjudgedContrast(contrast, doubt)
    contrast = replace(
        contrast,
        old=_mean_share(cases, lambda group: group.shares(measure)[1]),
        new=_mean_share(cases, lambda group: group.shares(measure)[0]),
        difference=difference.difference,
        low=difference.low,
        high=difference.high,
        p_value=difference.p_value,
        cases=len(cases.compared),
        clusters=difference.clusters,
        too_long=cases.count(lambda group: cases.of_asked and group.is_compared and group.is_too_long),
        differing=cases.count(lambda group: group.is_compared and len(set(group.shares(measure))) > 1),
        method=difference.method.value,
    )
    finding = UnjudgedContrast(contrast, doubt)
    if not (doubt.may_be_losses or doubt.may_be_gains or (cases.of_asked and doubt.never_fit)):
        return finding
    worst = _count_clusters(cases, [group.worst(measure) for group in cases.groups])
    worst[((0.0, 1.0),)] += cases.unread
    if (least := _difference(worst, settings)) is not None:
        contrast = replace(contrast, worst_low=least.low)
    finding = replace(finding, contrast=contrast, worst=least)
    if difference.p_value < SIGNIFICANT:  # else nothing comes of it, here or in other arms
        best = _count_clusters(cases, [group.best(measure) for group in cases.groups])
        best[((1.0, 0.0),)] += cases.unread
        finding = replace(finding, best=_difference(best, settings))
    return finding


def _mean_share(cases: PairedCases, share: Callable[[CaseGroup], float]) -> float:
    of = cases.compared
    return add_up(cases.take(lambda group: share(group) if group.is_compared else 0.0, of=of)) / len(of)


def _count_clusters(
    cases: PairedCases, values: Sequence[tuple[float, float] | None], of: Places | None = None
) -> Counter[tuple[tuple[float, float], ...]]:
    """How many clusters have the same values in their cases.

    Args:
        cases: The cases of both arms.
        values: Of each group; cases without one are left out.
        of: Which cases; all if `None`.
    """
    clusters, group_of = cases.clusters, cases.group_of
    if of is not None:
        clusters, group_of = clusters[of], group_of[of]
    counted: Counter[tuple[tuple[float, float], ...]] = Counter()
    if count_different(clusters) == len(clusters):  # every case is a cluster of its own
        for value, cases_alike in zip(values, count(group_of, len(values)), strict=True):
            if value is not None and cases_alike:
                counted[(value,)] += cases_alike
        return counted
    sizes = np.unique(clusters, return_counts=True)[1]
    members = iter(group_of[np.argsort(clusters, kind="stable")].tolist())
    for size in sizes.tolist():
        found = [value for group in islice(members, size) if (value := values[group]) is not None]
        if found:
            counted[tuple(sorted(found))] += 1
    return counted


def give_verdicts(
    findings: Sequence[UnjudgedContrast], margin: float, significant: float = SIGNIFICANT
) -> list[Contrast]:
    """The contrasts with their verdicts and the reasons for them, p values adjusted over all hypotheses (Holm).

    Where no trial is right by names and wrong by arguments, in either arm, both shares are one hypothesis.

    Args:
        findings: All that one command gives a verdict on.
        margin: Share that may be lost.
        significant: An adjusted p value below this is significant.
    """
    own = [finding for finding in findings if not finding.is_repeated]
    adjusted = _holm([finding.contrast.p_value for finding in own])
    # A p value that hangs on unscored trials must not lift another over the threshold either.
    least_sure = holm([finding.least_sure_p for finding in own])
    tests = sum(p is not None for p in adjusted)
    place, contrasts = -1, []
    for finding in findings:
        place += not finding.is_repeated
        contrasts.append(_judge(finding, margin, adjusted[place], least_sure[place], tests, significant))
    return contrasts


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
        # Where the same answers are graded otherwise now, some cases differ.
        if finding.is_same and not contrast.differing:
            verdict, reason = Verdict.NO_REGRESSION, None
            contrast = replace(contrast, is_same=True)
    return replace(contrast, adjusted_p=p, verdict=verdict, reasons=() if reason is None else (reason,))


def _doubt(
    finding: UnjudgedContrast, verdict: Verdict, margin: float, least_sure: float, significant: float
) -> UnscoredCases | None:
    """Why a verdict would rest on trials that were not scored; `None` if it would not."""
    worst, best, cases = finding.worst, finding.best, finding.unscored
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
    cases: UnscoredCounts,
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
    alike: Counter[tuple[tuple[float, float], ...]], settings: IntervalSettings
) -> paired.ShareContrast | None:
    if not alike.total():
        return None
    return paired.paired_difference_of(+alike, settings.level, settings.seed, settings.resamples)
