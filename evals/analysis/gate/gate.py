"""Whether a run may pass: held against a baseline, and against limits of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from toolbelt.evals.analysis.comparison.compare import compare
from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Contrast, Measure
from toolbelt.evals.analysis.comparison.comparison_text import (
    count_fitting,
    format_bounds,
    format_change,
    format_margin,
    format_points,
)
from toolbelt.evals.analysis.comparison.flip_text import describe_flips
from toolbelt.evals.analysis.comparison.pairing import Pairing
from toolbelt.evals.analysis.comparison.sample_size import advice
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.gate.arm_figures import ArmFigures, read_figures
from toolbelt.evals.analysis.gate.arms import ChosenArms
from toolbelt.evals.analysis.gate.first import check_first
from toolbelt.evals.analysis.gate.lost import find_lost
from toolbelt.evals.analysis.gate.verdict import FAIL, PASS, UNSURE, Check, GateResult, Limits
from toolbelt.text import plural

_ROUNDING = 1e-9
"""What adding up in floating point may come to, which is no increase."""
_AS_BEFORE = "nothing fits, as before"
"""Of an arm that could not be asked when the baseline was saved, and cannot be now: no change."""
AMOUNTS = (Measure.DEFINITION_TOKENS, Measure.PROMPT_TOKENS, Measure.COST_USD)
"""What is compared beside the share."""


def check_run(
    run: Side,
    limits: Limits,
    baseline: Side | None = None,
    *,
    only: Collection[tuple[str, str, str]] | None = None,
    seed: int = 0,
    advance: Callable[[int], object] | None = None,
) -> GateResult:
    """Hold a run against limits and, where there is one, against a baseline.

    Args:
        run: What is looked at.
        limits: What is tolerated; those that need a baseline are not looked at without one.
        baseline: What it is held against: arm by arm, each with its own kind.
        only: Keys of the arms that are looked at, see `ArmName.key`; all if `None`.
        seed: Of what is drawn for intervals.
        advance: Told how many arms are compared.

    Returns:
        Every check, what must be said first before the rest. Where the two cannot be compared nothing that takes a
        baseline follows.
    """
    left_out = 0
    if only is not None:
        left_out = len({arm.key for one in (run, baseline) if one is not None for arm in one.arms} - set(only))
        run, baseline = ChosenArms(run, only), None if baseline is None else ChosenArms(baseline, only)
    figures = tuple(read_figures(run, arm, limits.measure) for arm in range(len(run.arms)))
    comparison = None
    if baseline is not None:
        comparison = compare(
            baseline,
            run,
            _pair(baseline, run),
            margin=limits.margin,
            measures=(limits.measure, *AMOUNTS),
            seed=seed,
            advance=advance,
        )
    checks = (*check_first(run.about, figures, comparison, left_out), *_check(figures, limits, comparison))
    return GateResult(run.about, checks, limits, comparison, tuple(find_lost(comparison, run)))


def _pair(baseline: Side, run: Side) -> Pairing:
    """Each arm with the same one: another model or toolset in its place is no successor, but a missing arm."""
    places = {arm.key: place for place, arm in enumerate(baseline.arms)}
    known = {arm.key for arm in run.arms}
    return Pairing(
        pairs=tuple((places[arm.key], place) for place, arm in enumerate(run.arms) if arm.key in places),
        missing=tuple(place for place, arm in enumerate(baseline.arms) if arm.key not in known),
        added=tuple(place for place, arm in enumerate(run.arms) if arm.key not in places),
    )


def _check(figures: tuple[ArmFigures, ...], limits: Limits, comparison: Comparison | None) -> Iterator[Check]:
    pairs = () if comparison is None else comparison.pairs
    epochs = 1 if comparison is None else comparison.new.epochs
    if limits.min_sample_size > 1:
        yield from (_sample_size(arm, pairs, limits.min_sample_size) for arm in figures)
    yield from (_overflow(pair, limits.measure) for pair in pairs)
    yield from (_counted(_share(pair, limits, epochs), pair.contrast(limits.measure)) for pair in pairs)
    if (least := limits.min_accuracy) is not None:
        yield from (_min_share(arm, limits.measure, least) for arm in figures)
    if (tolerated := limits.max_token_increase) is not None:
        yield from (_increase("tokens", pair, Measure.PROMPT_TOKENS, tolerated) for pair in pairs)
    if (tolerated := limits.max_cost_increase) is not None:
        yield from (_increase("cost", pair, Measure.COST_USD, tolerated) for pair in pairs)


def _sample_size(arm: ArmFigures, pairs: tuple[ArmComparison, ...], least: int) -> Check:
    """Of the clusters that both sides were scored on, where there is a baseline; of those that did not fit before,
    where none did: that much rests on them.
    """
    found = next((_clusters(pair) for pair in pairs if pair.new.key == arm.name.key), arm.clusters)
    enough = found >= least
    told = f"{plural(found, 'independent case')}, {least:,} are wanted"
    message = told if enough else f"{told}: ask more cases, or lower --min-sample-size"
    return Check("sample-size", PASS if enough else UNSURE, message, arm.name.label, observed=found, limit=least)


def _clusters(pair: ArmComparison) -> int:
    if pair.unfit is not None:
        return pair.unfit.clusters
    return max((contrast.clusters for contrast in pair.contrasts if contrast.measure.is_share), default=0)


def _overflow(pair: ArmComparison, measure: Measure) -> Check:
    newly, fit = pair.newly_overflowing, pair.fit
    count = len(newly)
    if (unfit := pair.unfit) is not None:
        told = f"improved: {count_fitting(unfit)}" if unfit.now else _AS_BEFORE
        # What is counted is what no longer fits, of what did: of no case at all.
        return Check("overflow", PASS, told, pair.new.label, 0, limit=0, cases=0, planned=0)
    if newly:
        no_longer = "case no longer fits" if count == 1 else "cases no longer fit"
        verdict, told = FAIL, f"{count:,} {no_longer} the model's window: {_some(newly)}"
    elif not fit.answered:
        verdict = UNSURE
        which = f"none of the {plural(fit.before, 'case')} that fitted was answered" if fit.before else "no case fitted"
        told = f"cannot be told: {which}"
    elif fit.answered == fit.before:
        verdict, told = PASS, "every case that fitted the model's window still does"
    else:
        # Where the share passes whatever became of those that failed, one of them need not leave all undecided.
        is_decided = not fit.unrun and pair.contrast(measure).verdict in (PASS, FAIL)
        verdict = PASS if is_decided else UNSURE
        left = fit.before - fit.answered
        why = f"{left:,} more that fitted it {'was' if left == 1 else 'were'} not"
        told = f"of the {plural(fit.answered, 'case')} that were answered, none has outgrown the model's window; {why}"
    seen = count if fit.answered or newly else None
    return Check("overflow", verdict, told, pair.new.label, seen, limit=0, cases=fit.answered, planned=fit.before)


def _share(pair: ArmComparison, limits: Limits, epochs: int) -> Check:
    contrast, margin, label = pair.contrast(limits.measure), limits.margin, pair.new.label
    name = limits.measure.value
    if pair.unfit is not None:
        told = "nothing fitted before, so nothing is lost" if pair.unfit.now else _AS_BEFORE
        return Check(name, PASS, told, label, limit=-margin)
    difference, low, high = contrast.difference, contrast.low, contrast.high
    if difference is None or low is None or high is None or contrast.old is None or contrast.new is None:
        why = "; ".join(map(_begun, contrast.reasons)) or "nothing was scored in both"
        return Check(name, UNSURE, f"cannot be told: {why}", label, limit=-margin)
    # What no longer fits has a check of its own: here it is a case that is not scored.
    verdict = contrast.verdict or UNSURE
    shares = f"{contrast.old:.1%} → {contrast.new:.1%}, {format_points(difference)} points"
    over = f", over {contrast.cases:,} of {contrast.planned:,} cases" if contrast.cases < contrast.planned else ""
    parts = [f"{shares} ({format_bounds(low, high, margin)}{over}), margin {format_margin(margin)}"]
    parts.append(describe_flips(pair.flips, epochs))
    if verdict is UNSURE:
        parts += map(_begun, contrast.reasons)
        parts += filter(None, [advice(contrast, margin)])
    return Check(name, verdict, "; ".join(parts), label, difference, low, high, -margin)


def _counted(check: Check, contrast: Contrast) -> Check:
    """With how many cases its figures are of."""
    return replace(check, cases=contrast.cases, planned=contrast.planned)


def _min_share(arm: ArmFigures, measure: Measure, least: float) -> Check:
    name, label, share, asked = f"min-{measure.value}", arm.name.label, arm.share, arm.asked
    if share is None:
        told = "cannot be told: nothing was scored"
        if 0 < arm.overflows == arm.finished:
            told += ", as nothing fits the model's window; name with --arm those that are to reach it"
        return Check(name, UNSURE, told, label, limit=least, cases=0, planned=asked)
    unscored = arm.planned - arm.scored
    told = f"{share:.1%} of {arm.scored:,} ({100 * arm.low:.1f} to {100 * arm.high:.1f}), {least:.1%} is the least"
    bounded = f"; {unscored:,} unscored may have gone either way" if unscored else ""
    verdict = PASS if arm.low >= least else FAIL if arm.high < least else UNSURE
    why = "; too few cases to tell which side of it the truth is" if verdict is UNSURE else ""
    message = told + bounded + why
    return Check(name, verdict, message, label, share, arm.low, arm.high, least, arm.cases, asked)


def _increase(name: str, pair: ArmComparison, measure: Measure, tolerated: float) -> Check:
    return _counted(_compare_amounts(name, pair, measure, tolerated), pair.contrast(measure))


def _compare_amounts(name: str, pair: ArmComparison, measure: Measure, tolerated: float) -> Check:
    contrast, label, limit = pair.contrast(measure), pair.new.label, 1 + tolerated
    old, new, what = contrast.old, contrast.new, _WORDS[measure]
    if pair.unfit is not None:
        told = f"nothing fitted before, so no {what} are there to have grown" if pair.unfit.now else _AS_BEFORE
        return Check(name, PASS, told, label, limit=limit)
    if old is None or new is None:
        why = "; ".join(map(_begun, contrast.reasons)) or f"the {what} are not known for every case"
        return Check(name, UNSURE, f"cannot be told: {why}", label, limit=limit)
    amounts = f"{what} {_amount(old, measure)} → {_amount(new, measure)} a case"
    if old == new == 0:
        return Check(name, PASS, amounts, label, 1.0, 1.0, 1.0, limit)
    ratio, low, high = contrast.ratio, contrast.ratio_low, contrast.ratio_high
    if not old:
        # From nothing to something is beyond every factor, if it is more than chance.
        is_more = contrast.low is not None and contrast.low > 0
        return Check(name, FAIL if is_more else UNSURE, f"{amounts}, where nothing was before", label, limit=limit)
    if ratio is None or low is None or high is None:
        why = "; ".join(map(_begun, contrast.reasons)) or "there is no interval"
        return Check(name, UNSURE, f"{amounts}; cannot be told: {why}", label, ratio, limit=limit)
    interval = f"{format_change(low)} to {format_change(high)}"
    told = f"{amounts}, {format_change(ratio)} ({interval}), {100 * tolerated:+.4g}% tolerated"
    if high <= limit + _ROUNDING:
        return Check(name, PASS, told, label, ratio, low, high, limit)
    if low > limit + _ROUNDING:
        return Check(name, FAIL, told, label, ratio, low, high, limit)
    return Check(name, UNSURE, f"{told}; too few cases to tell", label, ratio, low, high, limit)


_WORDS = {Measure.PROMPT_TOKENS: "prompt tokens", Measure.COST_USD: "costs"}


def _amount(value: float, measure: Measure) -> str:
    return f"${value:.4g}" if measure is Measure.COST_USD else f"{value:,.0f}"


def _begun(reason: str) -> str:
    """A sentence, as it goes on within another."""
    return f"{reason[:1].lower()}{reason[1:].rstrip('.')}"


def _some(cases: tuple[str, ...], most: int = 3) -> str:
    more = f" and {len(cases) - most:,} more" if len(cases) > most else ""
    return f"{', '.join(cases[:most])}{more}"
