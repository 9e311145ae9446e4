"""Shares of two arms and the verdict over them, which must not rest on what was not scored (rule E7).

A trial that was not scored may have gone either way. So a verdict is given only if it also holds where all of them are
counted against it: `no_regression` with each lost in the new arm and won in the old one, `regression` the other way
round, over all cases that were to be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolbelt.console.text import plural
from toolbelt.evals.comparison.cases import SideBySide, in_clusters
from toolbelt.evals.comparison.comparison import Contrast, Measure
from toolbelt.evals.comparison.wording import format_bound, format_bounds
from toolbelt.evals.statistics import paired
from toolbelt.evals.statistics.multiplicity import holm
from toolbelt.evals.statistics.verdict import SIGNIFICANT, Verdict, judge


@dataclass(frozen=True, slots=True)
class Settings:
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
class Finding:
    """A contrast of a share before its verdict, which takes the p values of all of them.

    Attributes:
        contrast: Without verdict.
        incomplete: Cases of which not every epoch was scored in both arms.
        planned: Cases that each arm was to be asked.
        epochs: How often.
        worst: What it would be if all that is not scored were lost in the new arm and won in the old one; `None` where
            all is scored.
        best: What it would be the other way round; `None` where all is scored, or the p value is too large already.
        newly_overflowing: Cases that no longer fit the model's window.
    """

    contrast: Contrast
    incomplete: int
    planned: int
    epochs: int
    worst: paired.Contrast | None = None
    best: paired.Contrast | None = None
    newly_overflowing: int = 0

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


def find_difference(cases: SideBySide, measure: Measure, settings: Settings) -> Finding:
    """The difference of a share between two arms, over the cases that both were scored on.

    Args:
        cases: Of both arms.
        measure: A share.
        settings: Of interval and test.
    """
    found = _difference(
        in_clusters(cases.scored, lambda pair: (pair.new.share(measure), pair.old.share(measure))), settings
    )
    newly = sum(pair.newly_overflows for pair in cases.pairs)
    if found is None:
        return Finding(Contrast(measure), cases.incomplete, cases.planned, cases.epochs, newly_overflowing=newly)
    count = len(cases.scored)
    contrast = Contrast(
        measure,
        old=sum(pair.old.share(measure) for pair in cases.scored) / count,
        new=sum(pair.new.share(measure) for pair in cases.scored) / count,
        difference=found.difference,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        cases=count,
        clusters=found.clusters,
        method=found.method.value,
    )
    finding = Finding(contrast, cases.incomplete, cases.planned, cases.epochs, newly_overflowing=newly)
    if not cases.incomplete:
        return finding
    alone = ((pair,) for pair in [(0.0, 1.0)] * cases.unread)
    worst = in_clusters(cases.pairs, lambda pair: (pair.new.least(measure), pair.old.most(measure)))
    finding = replace(finding, worst=_difference([*worst, *alone], settings))
    if found.p_value < SIGNIFICANT:  # else nothing comes of it, here or in other arms
        alone = ((pair,) for pair in [(1.0, 0.0)] * cases.unread)
        best = in_clusters(cases.pairs, lambda pair: (pair.new.most(measure), pair.old.least(measure)))
        finding = replace(finding, best=_difference([*best, *alone], settings))
    return finding


def give_verdicts(findings: Sequence[Finding], margin: float) -> list[Contrast]:
    """The contrasts with their verdicts and the reasons for them, p values adjusted over all of them (Holm).

    Args:
        findings: All that one command gives a verdict on.
        margin: Share that may be lost.
    """
    adjusted = _holm([finding.contrast.p_value for finding in findings])
    # A p value that hangs on unscored trials must not lift another over the threshold either.
    least_sure = holm([finding.least_sure_p for finding in findings])
    tests = sum(p is not None for p in adjusted)
    return [
        _judge(finding, margin, p, p_least_sure, tests)
        for finding, p, p_least_sure in zip(findings, adjusted, least_sure, strict=True)
    ]


def _judge(finding: Finding, margin: float, p: float | None, least_sure: float, tests: int) -> Contrast:
    contrast = finding.contrast
    verdict, reasons = Verdict.INSUFFICIENT_DATA, ["No case was scored in both arms."]
    if p is not None and contrast.low is not None and contrast.high is not None:
        verdict, reasons = judge(contrast.low, contrast.high, p, margin), []
        if verdict is Verdict.INSUFFICIENT_DATA:
            reasons = [_unsure(contrast.low, contrast.high, p, margin, tests)]
        elif (doubt := _doubt(finding, verdict, margin, least_sure)) is not None:
            verdict, reasons = Verdict.INSUFFICIENT_DATA, [doubt]
    if finding.newly_overflowing:
        # Rule E4, whatever is left of its accuracy.
        count = finding.newly_overflowing
        verdict, reasons = (
            Verdict.REGRESSION,
            [f"{plural(count, 'case')} that could be asked no longer {'fits' if count == 1 else 'fit'} the window."],
        )
    return replace(contrast, adjusted_p=p, verdict=verdict, reasons=tuple(reasons))


def _doubt(finding: Finding, verdict: Verdict, margin: float, least_sure: float) -> str | None:
    """Why a verdict would rest on trials that were not scored; `None` if it would not."""
    worst, best = finding.worst, finding.best
    if verdict is Verdict.NO_REGRESSION:
        if worst is None or worst.low > -margin:
            return None
        return f"{_incomplete(finding)}; counted as lost, the lower bound is {format_bound(worst.low, margin)} points."
    if best is not None and best.high >= 0:
        return f"{_incomplete(finding)}; counted as won, the upper bound is {format_bound(best.high, margin)} points."
    if least_sure >= SIGNIFICANT:
        who = _incomplete(finding) if finding.incomplete else "Not all cases of other arms are scored"
        return f"{who}; counted as won, the adjusted p value is {least_sure:.2g}."
    return None


def _unsure(low: float, high: float, p: float, margin: float, tests: int) -> str:
    if high < 0:
        over = f", adjusted over {tests} verdicts" if tests > 1 else ""
        return f"A loss is likely but not certain: the p value is {p:.2g}{over}."
    return f"Too few cases: {format_bounds(low, high, margin)} points are possible."


def _incomplete(finding: Finding) -> str:
    return tell_incomplete(finding.incomplete, finding.planned, finding.epochs)


def tell_incomplete(incomplete: int, planned: int, epochs: int) -> str:
    """`12 of 724 cases are not scored in both arms`."""
    how = "not scored in both arms" if epochs == 1 else "not scored at every epoch in both arms"
    return f"{incomplete:,} of {plural(planned, 'case')} {'is' if incomplete == 1 else 'are'} {how}"


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(adjusted) for p in p_values]


def _difference(clusters: Sequence[Sequence[tuple[float, float]]], settings: Settings) -> paired.Contrast | None:
    if not clusters:
        return None
    # In one order, so that sums of thirds are rounded alike, and chance is the same, in whatever order cases come.
    ordered = sorted(sorted(cluster) for cluster in clusters)
    return paired.paired_difference(ordered, settings.level, settings.seed, settings.resamples)
