"""The checks of a gate: preconditions first, then limits and the baseline (rules E4, E7, E9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.comparison_text import count_fitting, describe_advice
from toolbelt.evals.analysis.comparison.flip_text import describe_flips
from toolbelt.evals.analysis.comparison.number_format import (
    format_bounds,
    format_change,
    format_margin,
    format_points,
)
from toolbelt.evals.analysis.comparison.reason_text import describe_reason, describe_reasons
from toolbelt.evals.analysis.comparison.reasons import Reason
from toolbelt.evals.analysis.evidence.evidence import SideInfo
from toolbelt.evals.analysis.gate.arm_figures import ArmFigures
from toolbelt.evals.analysis.gate.verdict import FAIL, PASS, UNSURE, GateCheck, Limits
from toolbelt.text import plural

_ROUNDING = 1e-9
"""Rounding error of a sum of floats, which is no increase."""
_AS_BEFORE = "nothing fits, as before"
"""An arm that could not be asked when the baseline was saved and cannot be asked now has not changed."""


def check_preconditions(
    run: SideInfo, arms: tuple[ArmFigures, ...], comparison: Comparison | None, left_out: int = 0
) -> Iterator[GateCheck]:
    """The checks that come before the figures, in the order in which they are shown.

    Args:
        run: The run that is checked.
        arms: The arms that are checked.
        comparison: With the baseline, if there is one.
        left_out: Number of arms of run and baseline that are not checked because the user named others.
    """
    if comparison is not None:
        yield from _check_comparable(comparison)
    yield from _check_reviewed(run, "run")
    if comparison is not None and comparison.old.drafts:
        yield from _check_reviewed(comparison.old, "baseline")
    yield _check_complete(run, arms)
    if comparison is not None and comparison.old.status != "finished":
        message = f"{comparison.old.name}, which it is held against, is {comparison.old.status}: not all of it is there"
        yield GateCheck("complete", UNSURE, message)
    yield from _check_arms(comparison, left_out)


def _check_comparable(comparison: Comparison) -> Iterator[GateCheck]:
    if comparison.reasons:
        for reason in describe_reasons(comparison):
            yield GateCheck("comparable", UNSURE, reason)
        return
    old = comparison.old
    yield GateCheck("comparable", PASS, f"{old.name} is of the same {plural(old.cases, 'case')}, grading and settings")


def _check_reviewed(about: SideInfo, what: str) -> Iterator[GateCheck]:
    if about.drafts:
        message = (
            f"{about.drafts:,} of {plural(about.cases, 'case')} of the {what} are drafts that nobody has reviewed, and "
            "prove nothing: review them, remove their `draft`, and run again"
        )
        yield GateCheck("reviewed", UNSURE, message, observed=about.drafts, limit=0)
    else:
        yield GateCheck("reviewed", PASS, "no case is a draft")


def _check_complete(run: SideInfo, arms: tuple[ArmFigures, ...]) -> GateCheck:
    planned = run.cases * run.epochs * len(arms)
    if not planned:
        message = "there is not a single trial to look at: ask cases, and name arms that the run has"
        return GateCheck("complete", UNSURE, message, observed=0, limit=0)
    finished, errors = sum(arm.finished for arm in arms), sum(arm.errors for arm in arms)
    overflows = sum(arm.overflows for arm in arms)
    if run.status != "finished" or finished < planned:
        why = f" ({run.reason.rstrip('.')})" if run.reason else ""
        left = f"{planned - finished:,} of {plural(planned, 'trial')} have not been run"
        state = f"{run.status}{why}: {left}" if finished < planned else f"{run.status}{why}, after its last trial"
        # One that another process works on cannot be resumed, and need not.
        hint = "wait for it to end" if run.status == "running" else f"go on with: toolbelt eval resume {run.name}"
        message = f"the run is {state}; {hint}"
        return GateCheck("complete", UNSURE, message, observed=finished, limit=planned)
    if errors:
        message = (
            f"{errors:,} of {plural(planned, 'trial')} ended with an error and are unscored; what follows holds "
            "whatever would have become of them, but for tokens and cost, which are of the others alone. "
            f"Again: toolbelt eval resume {run.name} --retry-errors"
        )
        # All of them failing says nothing at all, which is no pass.
        return GateCheck(
            "complete", PASS if errors < planned else UNSURE, message, observed=planned - errors, limit=planned
        )
    unscored = f"; {overflows:,} did not fit the model's window and are unscored" if overflows else ""
    message = f"all of {plural(planned, 'trial')} came to an end{unscored}"
    return GateCheck("complete", PASS, message, observed=finished, limit=planned)


def _check_arms(comparison: Comparison | None, left_out: int) -> Iterator[GateCheck]:
    others = f"; {plural(left_out, 'other')} not looked at, as --arm has it" if left_out else ""
    if comparison is None:
        if left_out:
            yield GateCheck("arms", PASS, f"some of the arms alone{others}")
        return
    for arm in comparison.missing:
        message = "the baseline has this arm, the run lacks it: run it too, or save the baseline without it"
        yield GateCheck("arms", UNSURE, message, arm.label)
    # An arm more than in the baseline is no fault; if there is no other, nothing was compared.
    verdict = PASS if comparison.pairs or comparison.reasons else UNSURE
    for arm in comparison.added:
        message = "the baseline lacks this arm, so that it is held against nothing: save the baseline again"
        yield GateCheck("arms", verdict, message, arm.label)
    if comparison.is_comparable and not (comparison.missing or comparison.added):
        same = f"the same {plural(len(comparison.pairs), 'arm')} as in the baseline"
        yield GateCheck("arms", PASS, f"{same}{others}")
    elif left_out:
        yield GateCheck("arms", PASS, f"some of the arms alone{others}")


def check_limits(figures: tuple[ArmFigures, ...], limits: Limits, comparison: Comparison | None) -> Iterator[GateCheck]:
    """Limits of the run itself, and, where there is a comparison, those that are relative to the baseline."""
    pairs = () if comparison is None else comparison.pairs
    epochs = 1 if comparison is None else comparison.new.epochs
    if limits.min_sample_size > 1:
        yield from (_check_sample_size(arm, pairs, limits.min_sample_size) for arm in figures)
    yield from (_check_overflow(pair, limits.measure) for pair in pairs)
    yield from (_with_cases(_check_share(pair, limits, epochs), pair.contrast(limits.measure)) for pair in pairs)
    if (least := limits.min_accuracy) is not None:
        yield from (_check_min_share(arm, limits.measure, least) for arm in figures)
    if (tolerated := limits.max_token_increase) is not None:
        yield from (_check_increase("tokens", pair, Measure.PROMPT_TOKENS, tolerated) for pair in pairs)
    if (tolerated := limits.max_cost_increase) is not None:
        yield from (_check_increase("cost", pair, Measure.COST_USD, tolerated) for pair in pairs)


def _check_sample_size(arm: ArmFigures, pairs: tuple[ArmComparison, ...], least: int) -> GateCheck:
    """Of the clusters that both sides were scored on, where there is a baseline; of those that did not fit before,
    where none did: that much rests on them.
    """
    clusters = next((_clusters(pair) for pair in pairs if pair.new.key == arm.name.key), arm.clusters)
    enough = clusters >= least
    message = f"{plural(clusters, 'independent case')}, {least:,} are wanted"
    message += "" if enough else ": ask more cases, or lower --min-sample-size"
    return GateCheck("sample-size", PASS if enough else UNSURE, message, arm.name.label, observed=clusters, limit=least)


def _clusters(pair: ArmComparison) -> int:
    if pair.unfit is not None:
        return pair.unfit.clusters
    return max((contrast.clusters for contrast in pair.contrasts if contrast.measure.is_share), default=0)


def _check_overflow(pair: ArmComparison, measure: Measure) -> GateCheck:
    newly, fit = pair.newly_overflowing, pair.fit
    count = len(newly)
    if (unfit := pair.unfit) is not None:
        message = f"improved: {count_fitting(unfit)}" if unfit.now else _AS_BEFORE
        # What is counted is what no longer fits, of what did: of no case at all.
        return GateCheck("overflow", PASS, message, pair.new.label, 0, limit=0, cases=0, planned=0)
    if newly:
        no_longer = "case no longer fits" if count == 1 else "cases no longer fit"
        verdict, message = FAIL, f"{count:,} {no_longer} the model's window: {_some(newly)}"
    elif not fit.answered:
        verdict = UNSURE
        which = f"none of the {plural(fit.before, 'case')} that fitted was answered" if fit.before else "no case fitted"
        message = f"cannot be decided: {which}"
    elif fit.answered == fit.before:
        verdict, message = PASS, "every case that fitted the model's window still does"
    else:
        # Where the share passes whatever became of those that failed, one of them need not leave all undecided.
        is_decided = not fit.unrun and pair.contrast(measure).verdict in (PASS, FAIL)
        verdict = PASS if is_decided else UNSURE
        left = fit.before - fit.answered
        why = f"{left:,} more that fitted it {'was' if left == 1 else 'were'} not"
        message = (
            f"of the {plural(fit.answered, 'case')} that were answered, none has outgrown the model's window; {why}"
        )
    seen = count if fit.answered or newly else None
    return GateCheck(
        "overflow", verdict, message, pair.new.label, seen, limit=0, cases=fit.answered, planned=fit.before
    )


def _check_share(pair: ArmComparison, limits: Limits, epochs: int) -> GateCheck:
    contrast, margin, label = pair.contrast(limits.measure), limits.margin, pair.new.label
    name = limits.measure.value
    if pair.unfit is not None:
        message = "nothing fitted before, so nothing is lost" if pair.unfit.now else _AS_BEFORE
        return GateCheck(name, PASS, message, label, limit=-margin)
    difference, low, high = contrast.difference, contrast.low, contrast.high
    if difference is None or low is None or high is None or contrast.old is None or contrast.new is None:
        why = "; ".join(map(_clause, contrast.reasons)) or "nothing was scored in both"
        return GateCheck(name, UNSURE, f"cannot be decided: {why}", label, limit=-margin)
    # What no longer fits has a check of its own: here it is a case that is not scored.
    verdict = contrast.verdict or UNSURE
    shares = f"{contrast.old:.1%} → {contrast.new:.1%}, {format_points(difference)} points"
    over = f", over {contrast.cases:,} of {contrast.planned:,} cases" if contrast.cases < contrast.planned else ""
    parts = [f"{shares} ({format_bounds(low, high, margin)}{over}), margin {format_margin(margin)}"]
    parts.append(describe_flips(pair.flips, epochs))
    if verdict is UNSURE:
        parts += map(_clause, contrast.reasons)
        parts += filter(None, [describe_advice([contrast], margin)])
    return GateCheck(name, verdict, "; ".join(parts), label, difference, low, high, -margin)


def _with_cases(check: GateCheck, contrast: Contrast) -> GateCheck:
    """The check, with the number of cases behind its figures."""
    return replace(check, cases=contrast.cases, planned=contrast.planned)


def _check_min_share(arm: ArmFigures, measure: Measure, least: float) -> GateCheck:
    name, label, share, planned = f"min-{measure.value}", arm.name.label, arm.share, arm.asked
    if share is None:
        message = "cannot be decided: nothing was scored"
        if 0 < arm.overflows == arm.finished:
            message += ", as nothing fits the model's window; name with --arm those that are to reach it"
        return GateCheck(name, UNSURE, message, label, limit=least, cases=0, planned=planned)
    unscored = arm.planned - arm.scored
    figures = f"{share:.1%} of {arm.scored:,} ({100 * arm.low:.1f} to {100 * arm.high:.1f}), {least:.1%} is the least"
    bounded = f"; {unscored:,} unscored may have gone either way" if unscored else ""
    verdict = PASS if arm.low >= least else FAIL if arm.high < least else UNSURE
    why = "; too few cases to tell which side of it the truth is" if verdict is UNSURE else ""
    message = figures + bounded + why
    return GateCheck(name, verdict, message, label, share, arm.low, arm.high, least, arm.cases, planned)


def _check_increase(name: str, pair: ArmComparison, measure: Measure, tolerated: float) -> GateCheck:
    return _with_cases(_compare_amounts(name, pair, measure, tolerated), pair.contrast(measure))


def _compare_amounts(name: str, pair: ArmComparison, measure: Measure, tolerated: float) -> GateCheck:
    contrast, label, limit = pair.contrast(measure), pair.new.label, 1 + tolerated
    old, new, what = contrast.old, contrast.new, _WORDS[measure]
    if pair.unfit is not None:
        message = f"nothing fitted before, so no {what} are there to have grown" if pair.unfit.now else _AS_BEFORE
        return GateCheck(name, PASS, message, label, limit=limit)
    if old is None or new is None:
        why = "; ".join(map(_clause, contrast.reasons)) or f"the {what} are not known for every case"
        return GateCheck(name, UNSURE, f"cannot be decided: {why}", label, limit=limit)
    amounts = f"{what} {_amount(old, measure)} → {_amount(new, measure)} a case"
    if old == new == 0:
        return GateCheck(name, PASS, amounts, label, 1.0, 1.0, 1.0, limit)
    ratio, low, high = contrast.ratio, contrast.ratio_low, contrast.ratio_high
    if not old:
        # From nothing to something is beyond every factor, if it is more than chance.
        is_more = contrast.low is not None and contrast.low > 0
        return GateCheck(name, FAIL if is_more else UNSURE, f"{amounts}, where nothing was before", label, limit=limit)
    if ratio is None or low is None or high is None:
        why = "; ".join(map(_clause, contrast.reasons)) or "there is no interval"
        return GateCheck(name, UNSURE, f"{amounts}; cannot be decided: {why}", label, ratio, limit=limit)
    interval = f"{format_change(low)} to {format_change(high)}"
    message = f"{amounts}, {format_change(ratio)} ({interval}), {100 * tolerated:+.4g}% tolerated"
    if high <= limit + _ROUNDING:
        return GateCheck(name, PASS, message, label, ratio, low, high, limit)
    if low > limit + _ROUNDING:
        return GateCheck(name, FAIL, message, label, ratio, low, high, limit)
    return GateCheck(name, UNSURE, f"{message}; too few cases to tell", label, ratio, low, high, limit)


_WORDS = {Measure.PROMPT_TOKENS: "prompt tokens", Measure.COST_USD: "costs"}


def _amount(value: float, measure: Measure) -> str:
    return f"${value:.4g}" if measure is Measure.COST_USD else f"{value:,.0f}"


def _clause(reason: Reason) -> str:
    """A reason as part of another sentence."""
    sentence = describe_reason(reason)
    return f"{sentence[:1].lower()}{sentence[1:].rstrip('.')}"


def _some(cases: tuple[str, ...], most: int = 3) -> str:
    more = f" and {len(cases) - most:,} more" if len(cases) > most else ""
    return f"{', '.join(cases[:most])}{more}"
