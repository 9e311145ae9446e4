"""The result of a comparison in sentences that can be quoted."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.analysis.comparison.comparison import (
    LEVEL,
    MARGIN,
    ArmComparison,
    Comparison,
    Contrast,
    Measure,
    NothingFitted,
)
from toolbelt.evals.analysis.comparison.number_format import (
    format_bounds,
    format_change,
    format_level,
    format_margin,
    format_points,
    places_for,
)
from toolbelt.evals.analysis.comparison.reason_text import describe_reason
from toolbelt.evals.analysis.comparison.sample_size import Advice, find_advice, is_too_few
from toolbelt.evals.statistics.verdict import SIGNIFICANT, Verdict
from toolbelt.text import plural

_SOME = 0.0005
"""A change of an amount below which it reads as none."""
_FEW = 0.05
"""A change of an amount that is still about as much."""


def sentence(comparison: Comparison, pair: ArmComparison, measure: Measure | None = None) -> str:
    """The result for two arms, in one or two sentences; names are as they come, not made safe to show.

    Args:
        comparison: With the pair; if it has two sides, names say which side an arm is of.
        pair: The two arms.
        measure: `accuracy` or `solved`; the first there is if `None`.
    """
    old, new = pair_names(comparison, pair)
    if old == comparison.old.name and not comparison.is_within:
        old = f"in {old}"
    contrast = pair.main_contrast if measure is None else pair.contrast(measure)
    text = _verdict(contrast, comparison, pair, old, new)
    saved = _tokens(pair.contrast(Measure.PROMPT_TOKENS))
    if not saved:
        return f"{text}."
    stands = contrast.verdict in (Verdict.NO_REGRESSION, Verdict.REGRESSION)
    return f"{text}, and takes {saved}." if stands and not pair.newly_overflowing else f"{text}. {new} takes {saved}."


def pair_names(comparison: Comparison, pair: ArmComparison) -> tuple[str, str]:
    """What to call the old arm and the new one: without the model where all have the same, with the side where there
    are two, and by the side alone where it has the same arm.
    """
    old, new = (short_label(comparison, pair, is_new=is_new) for is_new in (False, True))
    if comparison.is_within:
        return old, new
    if pair.old.key == pair.new.key:
        return comparison.old.name, new
    return f"{old} of {comparison.old.name}", f"{new} of {comparison.new.name}"


def short_label(comparison: Comparison, pair: ArmComparison, *, is_new: bool = True) -> str:
    """An arm's label, without the model where all arms compared have the same."""
    arm = pair.new if is_new else pair.old
    models = {name.model for each in comparison.pairs for name in (each.old, each.new)}
    return arm.label if len(models) > 1 else arm.toolset_label


def _verdict(contrast: Contrast, comparison: Comparison, pair: ArmComparison, old: str, new: str) -> str:
    if pair.unfit is not None:
        return _unfit(pair.unfit, new)
    of = "" if contrast.measure is Measure.ACCURACY else f" in {contrast.measure.value}"
    difference, low, high = contrast.difference, contrast.low, contrast.high
    if difference is None or low is None or high is None:
        why = "; ".join(_clauses(contrast)) or "there are no figures"
        text = f"Whether {new} is worse than {old}{of} cannot be decided: {why[0].lower()}{why[1:]}"
        return f"{_overflow(comparison, pair, new)}. {text}" if pair.newly_overflowing else text
    level, bounds = comparison.level, format_bounds(low, high, comparison.margin)
    over = f", over {contrast.cases:,} of {contrast.planned:,} cases" if contrast.cases < contrast.planned else ""
    over += f", {contrast.too_long:,} of them too long for one or both" if contrast.too_long else ""
    interval = f"{format_level(level)} interval {bounds}{over}"
    if pair.newly_overflowing and not (contrast.too_long and contrast.is_surely_more):
        measure = contrast.measure.value
        of = "Of all asked" if contrast.too_long else "Of the rest"
        rest = f"{measure} differs by {format_points(difference)} points ({interval})"
        return f"{_overflow(comparison, pair, new)}. {of}, {rest}"
    beyond = f" by more than {format_margin(comparison.margin)} points" if comparison.margin else ""
    if contrast.verdict is Verdict.INSUFFICIENT_DATA:
        text = f"Whether {new} is worse than {old}{of}{beyond} cannot be decided"
        advice = describe_advice([contrast], comparison.margin, level)
        if not is_too_few(contrast, comparison.margin):
            return f"{text}: {'; '.join(filter(None, [*_clauses(contrast), advice]))}"
        between = f"the difference lies between {bounds.replace(' to ', ' and ')} points "
        between += f"({format_level(level)} interval{over})"
        if high < 0:  # which looks like a loss: why it is not taken for one
            between = "; ".join([*_clauses(contrast), between])
        return f"{text}{'.' if high < 0 else ':'} {between}{f'; {advice}' if advice else ''}"
    size = format_points(abs(difference), places_for(difference, (0.0,))).lstrip("+")
    by = f"by {size} points ({interval})"
    is_certain = contrast.adjusted_p is not None and contrast.adjusted_p < SIGNIFICANT
    if contrast.verdict is Verdict.REGRESSION:
        return f"{new} is worse than {old}{of} {by}"
    if is_certain and low > 0:
        return f"{new} is better than {old}{of} {by}"
    if is_certain and high < 0:
        return f"{new} is worse than {old}{of} {by}, but not{beyond}"
    return f"{new} is not worse than {old}{of}{beyond} ({interval})"


def _clauses(contrast: Contrast) -> list[str]:
    return [describe_reason(reason).rstrip(".") for reason in contrast.reasons]


def _overflow(comparison: Comparison, pair: ArmComparison, new: str) -> str:
    count = len(pair.newly_overflowing)
    if comparison.is_within:
        fits = "1 case that fits" if count == 1 else f"{count:,} cases that fit"
        does = "does" if count == 1 else "do"
        old = short_label(comparison, pair, is_new=False)
        return f"{new} is too long for its model: {fits} its window with {old} {does} not"
    fit = "1 case no longer fits" if count == 1 else f"{count:,} cases no longer fit"
    return f"{new} has regressed: {fit} its model's window"


def _unfit(unfit: NothingFitted, new: str) -> str:
    if not unfit.now:
        return f"Nothing of {new} fits its model's window, as before"
    return f"{new} has improved: {count_fitting(unfit)}"


def count_fitting(unfit: NothingFitted) -> str:
    """`58 of 60 cases fit the model's window, none did before`."""
    fit = "fits" if unfit.now == 1 else "fit"
    return f"{unfit.now:,} of {plural(unfit.cases, 'case')} {fit} the model's window, none did before"


def _tokens(contrast: Contrast) -> str:
    """`56.0% fewer prompt tokens`; empty where there are none to speak of."""
    ratio, low, high = contrast.ratio, contrast.ratio_low, contrast.ratio_high
    if ratio is None or low is None or high is None:
        return ""
    if all(abs(value - 1) < _SOME for value in (ratio, low, high)):
        return _size(ratio)
    if not low <= 1 <= high and abs(ratio - 1) >= _SOME:
        return _size(ratio)
    between = f"{format_change(low)} to {format_change(high)}"
    # That a change is not certain does not make it small.
    if low >= 1 - _FEW and high <= 1 + _FEW:
        return f"about as many prompt tokens ({format_change(ratio)}, {between})"
    return f"{_size(ratio)}, which may be chance ({between})"


def _size(ratio: float) -> str:
    if abs(ratio - 1) < _SOME:
        return "as many prompt tokens"
    if ratio < 1:
        return f"{100 * (1 - ratio):.1f}% fewer prompt tokens"
    return f"{ratio:.1f} times the prompt tokens" if ratio >= 2 else f"{100 * (ratio - 1):.1f}% more prompt tokens"


def describe_advice(contrasts: Sequence[Contrast], margin: float = MARGIN, level: float = LEVEL) -> str:
    """What would settle contrasts, as `format_advice` has it."""
    return format_advice(find_advice(contrasts, margin, level))


def format_advice(advice: Advice) -> str:
    """`about 2,400 cases would decide for 3 of 4`, or that answers are missing; empty if no advice helps."""
    parts = []
    if advice.lacking:
        lack = "lacks" if advice.unanswered == 1 else "lack"
        which = _how_many(advice.lacking, advice.unsure)
        parts.append(
            f"{advice.unanswered:,} of {advice.planned:,} cases {lack} an answer{which}: "
            "first toolbelt eval resume --retry-errors"
        )
    if advice.settled:
        parts.append(_enough_cases(advice))
    return "; ".join(parts)


def _enough_cases(advice: Advice) -> str:
    which, allowed, least = _how_many(advice.settled, advice.unsure), advice.cases, advice.cases_if_none_differs
    if least is None:
        return f"about {_round_up(allowed or 0):,} cases would decide{which}"
    more = "" if allowed is None else f", {_round_up(allowed):,} if as many do as these allow"
    return f"about {_round_up(least):,} cases would decide{which} if none flips{more}"


def _how_many(count: int, of: int) -> str:
    return {1: "", 2: " for both"}.get(of, f" for all {of}") if count == of else f" for {count} of {of}"


def _round_up(cases: int) -> int:
    """A number rounded to two significant digits."""
    unit = int(10 ** max(0, len(str(cases)) - 2))
    return -(-cases // unit) * unit
