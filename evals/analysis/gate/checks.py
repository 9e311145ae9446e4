"""The checks of a gate: preconditions first, then limits and the baseline (rules E4, E7, E9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Contrast, Measure
from toolbelt.evals.analysis.evidence.evidence import SideInfo
from toolbelt.evals.analysis.gate.arm_figures import ArmFigures
from toolbelt.evals.analysis.gate.check_reasons import (
    AmountChange,
    CheckedArms,
    CheckReason,
    DraftCases,
    FinishedTrials,
    LostCases,
    MinimumShare,
    NewOverflows,
    NotComparable,
    PlainReason,
    Role,
    SameSetup,
    SampleSize,
    ShareChange,
    UnfinishedBaseline,
    UnfinishedRun,
    UnfitBefore,
)
from toolbelt.evals.analysis.gate.recorded import MAX_AGE_DAYS, RecordedUse
from toolbelt.evals.analysis.gate.verdict import FAIL, PASS, UNSURE, GateCheck, Limits

_ROUNDING = 1e-9
"""Rounding error of a sum of floats, which is no increase."""


def check_preconditions(
    run: SideInfo,
    arms: tuple[ArmFigures, ...],
    comparison: Comparison | None,
    left_out: int = 0,
    responses: RecordedUse | None = None,
    max_age_days: float = MAX_AGE_DAYS,
) -> Iterator[GateCheck]:
    """The checks that come before the figures, in the order in which they are shown.

    Args:
        run: The run that is checked.
        arms: The arms that are checked.
        comparison: With the baseline, if there is one.
        left_out: Number of arms of run and baseline that are not checked because the user named others.
        responses: What run and baseline have of recorded responses.
        max_age_days: By which recorded and live ones may be apart.
    """
    if comparison is not None:
        yield from _check_comparable(comparison)
    yield _check_reviewed(run, Role.RUN)
    if comparison is not None and comparison.old.drafts:
        yield _check_reviewed(comparison.old, Role.BASELINE)
    yield _check_complete(run, arms)
    if comparison is not None and comparison.old.status != "finished":
        yield GateCheck("complete", UNSURE, UnfinishedBaseline(comparison.old))
    yield from _check_arms(comparison, left_out)
    if responses is not None:
        verdict = PASS if not responses.mixed or responses.is_allowed else UNSURE
        yield GateCheck("responses", verdict, responses, observed=responses.days, limit=max_age_days)


def _check_comparable(comparison: Comparison) -> Iterator[GateCheck]:
    for mismatch in comparison.reasons:
        yield GateCheck("comparable", UNSURE, NotComparable(mismatch, comparison.old, comparison.new))
    if comparison.is_comparable:
        yield GateCheck("comparable", PASS, SameSetup(comparison.old))


def _check_reviewed(side: SideInfo, role: Role) -> GateCheck:
    if side.drafts:
        reason = DraftCases(role, side.drafts, side.cases)
        return GateCheck("reviewed", UNSURE, reason, observed=side.drafts, limit=0)
    return GateCheck("reviewed", PASS, PlainReason.NO_DRAFTS)


def _check_complete(run: SideInfo, arms: tuple[ArmFigures, ...]) -> GateCheck:
    planned = sum(arm.planned for arm in arms)
    if not planned:
        return GateCheck("complete", UNSURE, PlainReason.NO_TRIALS, observed=0, limit=0)
    finished, errors = sum(arm.finished for arm in arms), sum(arm.errors for arm in arms)
    if run.status != "finished" or finished < planned:
        reason = UnfinishedRun(run, finished, planned)
        return GateCheck("complete", UNSURE, reason, observed=finished, limit=planned)
    # If all of them failed nothing is known, which is no pass.
    verdict = PASS if errors < planned else UNSURE
    trials = FinishedTrials(run.name, planned, errors, sum(arm.overflows for arm in arms))
    return GateCheck("complete", verdict, trials, observed=finished - errors, limit=planned)


def _check_arms(comparison: Comparison | None, left_out: int) -> Iterator[GateCheck]:
    same = None
    if comparison is not None:
        yield from (GateCheck("arms", UNSURE, PlainReason.MISSING_ARM, arm) for arm in comparison.missing)
        # An arm more than in the baseline is no fault; if there is no other, nothing was compared.
        verdict = PASS if comparison.pairs or comparison.reasons else UNSURE
        yield from (GateCheck("arms", verdict, PlainReason.ADDED_ARM, arm) for arm in comparison.added)
        if comparison.is_comparable and not (comparison.missing or comparison.added):
            same = len(comparison.pairs)
    if same is not None or left_out:
        yield GateCheck("arms", PASS, CheckedArms(same, left_out))


def check_limits(figures: tuple[ArmFigures, ...], limits: Limits, comparison: Comparison | None) -> Iterator[GateCheck]:
    """Limits of the run itself, and, where there is a comparison, those that are relative to the baseline."""
    pairs = () if comparison is None else comparison.pairs
    if limits.min_sample_size > 1:
        yield from (_check_sample_size(arm, pairs, limits.min_sample_size) for arm in figures)
    yield from (_check_overflow(pair, limits.measure) for pair in pairs)
    if comparison is not None:
        for pair in pairs:
            check = _check_share(pair, limits, comparison.new.epochs_of(pair.new))
            yield _with_cases(check, pair.contrast(limits.measure))
    if (tolerated := limits.max_lost) is not None:
        yield from (_check_lost(pair, limits.measure, tolerated) for pair in pairs)
    if (least := limits.min_accuracy) is not None:
        yield from (_check_min_share(arm, limits.measure, least) for arm in figures)
    if (growth := limits.max_token_increase) is not None:
        yield from (_check_increase("tokens", pair, Measure.PROMPT_TOKENS, growth) for pair in pairs)
    if (growth := limits.max_cost_increase) is not None:
        yield from (_check_increase("cost", pair, Measure.COST_USD, growth) for pair in pairs)


def _check_sample_size(arm: ArmFigures, pairs: tuple[ArmComparison, ...], least: int) -> GateCheck:
    """Of the clusters that both sides were scored on, where there is a baseline; of those that did not fit before,
    where none did: that much rests on them.
    """
    clusters = next((_clusters(pair) for pair in pairs if pair.new.key == arm.name.key), arm.clusters)
    verdict = PASS if clusters >= least else UNSURE
    reason = SampleSize(clusters, least)
    return GateCheck("sample-size", verdict, reason, arm.name, observed=clusters, limit=least)


def _clusters(pair: ArmComparison) -> int:
    if pair.unfit is not None:
        return pair.unfit.clusters
    return max((contrast.clusters for contrast in pair.contrasts if contrast.measure.is_share), default=0)


def _check_overflow(pair: ArmComparison, measure: Measure) -> GateCheck:
    newly, fit = pair.newly_overflowing, pair.fit
    if pair.unfit is not None:
        # What is counted is what no longer fits, of what did: of no case at all.
        return GateCheck("overflow", PASS, UnfitBefore(pair.unfit), pair.new, 0, limit=0, cases=0, planned=0)
    reason: CheckReason = NewOverflows(newly) if newly else fit
    if newly:
        verdict = FAIL
    elif not fit.answered:
        verdict = UNSURE
    elif fit.answered == fit.before:
        verdict = PASS
    else:
        # Where the share passes whatever became of those that failed, one of them need not leave all undecided.
        is_decided = not fit.unrun and pair.contrast(measure).verdict in (PASS, FAIL)
        verdict = PASS if is_decided else UNSURE
    observed = len(newly) if fit.answered or newly else None
    return GateCheck("overflow", verdict, reason, pair.new, observed, limit=0, cases=fit.answered, planned=fit.before)


def _check_share(pair: ArmComparison, limits: Limits, epochs: int) -> GateCheck:
    contrast, margin, arm = pair.contrast(limits.measure), limits.margin, pair.new
    name = limits.measure.value
    if pair.unfit is not None:
        return GateCheck(name, PASS, UnfitBefore(pair.unfit, limits.measure), arm, limit=-margin)
    reason = ShareChange(
        contrast, pair.flips, epochs, margin, pair.left_out, is_run=not pair.fit.unrun, max_lost=limits.max_lost
    )
    if not reason.is_known:
        return GateCheck(name, UNSURE, reason, arm, limit=-margin)
    # What no longer fits has a check of its own: here it is a case that is not scored.
    verdict = contrast.verdict or UNSURE
    if verdict is UNSURE and limits.max_lost is not None:
        verdict = _check_lost(pair, limits.measure, limits.max_lost).verdict
    return GateCheck(name, verdict, reason, arm, contrast.difference, contrast.low, contrast.high, -margin)


def _check_lost(pair: ArmComparison, measure: Measure, tolerated: int) -> GateCheck:
    """By the number of cases alone, whatever there is to be concluded of further ones."""
    if pair.unfit is not None:
        return GateCheck("max-lost", PASS, UnfitBefore(pair.unfit, measure), pair.new, 0, limit=tolerated)
    contrast, lost = pair.contrast(measure), pair.flip_counts.worse
    in_doubt = contrast.planned - contrast.cases if contrast.difference is not None else contrast.planned
    in_doubt = max(in_doubt, contrast.unanswered)
    verdict = FAIL if lost > tolerated else PASS if lost + in_doubt <= tolerated else UNSURE
    reason = LostCases(lost, in_doubt, tolerated)
    check = GateCheck("max-lost", verdict, reason, pair.new, lost, lost, lost + in_doubt, tolerated)
    return _with_cases(check, contrast)


def _with_cases(check: GateCheck, contrast: Contrast) -> GateCheck:
    """The check, with the number of cases behind its figures."""
    return replace(check, cases=contrast.cases, planned=contrast.planned)


def _check_min_share(arm: ArmFigures, measure: Measure, least: float) -> GateCheck:
    name, reason = f"min-{measure.value}", MinimumShare(arm, least)
    if arm.share is None:
        return GateCheck(name, UNSURE, reason, arm.name, limit=least, cases=0, planned=arm.asked)
    verdict = PASS if arm.low >= least else FAIL if arm.high < least else UNSURE
    return GateCheck(name, verdict, reason, arm.name, arm.share, arm.low, arm.high, least, arm.cases, arm.asked)


def _check_increase(name: str, pair: ArmComparison, measure: Measure, tolerated: float) -> GateCheck:
    return _with_cases(_compare_amounts(name, pair, measure, tolerated), pair.contrast(measure))


def _compare_amounts(name: str, pair: ArmComparison, measure: Measure, tolerated: float) -> GateCheck:
    contrast, arm, limit = pair.contrast(measure), pair.new, 1 + tolerated
    if pair.unfit is not None:
        return GateCheck(name, PASS, UnfitBefore(pair.unfit, measure), arm, limit=limit)
    reason = AmountChange(contrast, tolerated)
    if contrast.old is None or contrast.new is None:
        return GateCheck(name, UNSURE, reason, arm, limit=limit)
    if contrast.old == contrast.new == 0:
        return GateCheck(name, PASS, reason, arm, 1.0, 1.0, 1.0, limit)
    if not contrast.old:
        # From nothing to something is beyond every factor, if it is more than chance.
        is_more = contrast.low is not None and contrast.low > 0
        return GateCheck(name, FAIL if is_more else UNSURE, reason, arm, limit=limit)
    ratio, low, high = contrast.ratio, contrast.ratio_low, contrast.ratio_high
    if ratio is None or low is None or high is None:
        return GateCheck(name, UNSURE, reason, arm, ratio, limit=limit)
    is_within, is_beyond = high <= limit + _ROUNDING, low > limit + _ROUNDING
    verdict = PASS if is_within else FAIL if is_beyond else UNSURE
    return GateCheck(name, verdict, reason, arm, ratio, low, high, limit)
