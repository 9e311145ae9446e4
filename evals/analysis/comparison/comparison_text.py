"""What a comparison comes to, in words that can be quoted."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Contrast, Measure, NothingFitted
from toolbelt.evals.analysis.comparison.sample_size import advice, is_too_few
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.statistics.verdict import SIGNIFICANT, Verdict
from toolbelt.text import plural

_MOST_PLACES = 6
_SOME = 0.0005
"""A change of an amount below which it reads as none."""
_FEW = 0.05
"""A change of an amount that is still about as much."""


def sentence(comparison: Comparison, pair: ArmComparison, measure: Measure | None = None) -> str:
    """What may be said of two arms, in one or two sentences; names are as they come, not made safe to show.

    Args:
        comparison: Whose pair it is: names tell the sides apart where there are two.
        pair: Which.
        measure: `accuracy` or `solved`; the first there is if `None`.
    """
    old, new = pair_names(comparison, pair)
    if old == comparison.old.name and not is_within(comparison):
        old = f"in {old}"
    contrast = main_contrast(pair) if measure is None else pair.contrast(measure)
    said = _verdict(contrast, comparison, pair, old, new)
    saved = _tokens(pair.contrast(Measure.PROMPT_TOKENS))
    if not saved:
        return f"{said}."
    stands = contrast.verdict in (Verdict.NO_REGRESSION, Verdict.REGRESSION)
    return f"{said}, and takes {saved}." if stands and not pair.newly_overflowing else f"{said}. {new} takes {saved}."


def main_contrast(pair: ArmComparison) -> Contrast:
    """The share that is told first: accuracy, unless it was not asked for."""
    shares = (contrast for contrast in pair.contrasts if contrast.measure.is_share)
    return next(shares, Contrast(Measure.ACCURACY))


def pair_names(comparison: Comparison, pair: ArmComparison) -> tuple[str, str]:
    """What to call the old arm and the new one: without the model where all have the same, with the side where there
    are two, and by the side alone where it has the same arm.
    """
    old, new = (short_label(comparison, pair, is_new=is_new) for is_new in (False, True))
    if is_within(comparison):
        return old, new
    if pair.old.key == pair.new.key:
        return comparison.old.name, new
    return f"{old} of {comparison.old.name}", f"{new} of {comparison.new.name}"


def is_within(comparison: Comparison) -> bool:
    """Whether the arms of one run or baseline are compared."""
    return comparison.old.name == comparison.new.name


def short_label(comparison: Comparison, pair: ArmComparison, *, is_new: bool = True) -> str:
    """An arm's label, without the model where all arms compared have the same."""
    arm = pair.new if is_new else pair.old
    models = {one.model for each in comparison.pairs for one in (each.old, each.new)}
    return arm.label if len(models) > 1 else toolset_label(arm)


def toolset_label(arm: ArmName) -> str:
    """What tells it from other arms of its model."""
    return " · ".join(part for part in (arm.toolset, arm.variant) if part)


def name_arms(arms: Sequence[ArmName], most: int = 12) -> str:
    """`gpt-4o with full, tiered; m with full and 3 others`: by model, in their order; beyond so many they are
    counted.
    """
    models: dict[str, list[str]] = {}
    for arm in arms[:most]:
        models.setdefault(arm.model, []).append(toolset_label(arm))
    named = "; ".join(f"{model} with {', '.join(toolsets)}" for model, toolsets in models.items())
    others = len(arms) - most
    return f"{named} and {plural(others, 'other')}" if others > 0 else named


def format_points(share: float, places: int = 1) -> str:
    """A difference of shares: `+1.7`, `-0.4`, `0.0`, in percentage points."""
    text = f"{100 * share:+.{places}f}"
    return text[1:] if not float(text) else text


def format_margin(margin: float) -> str:
    """`2.0`, `0.25`: in percentage points, with as many digits as it has."""
    return next(
        text
        for places in range(1, _MOST_PLACES + 1)
        if float(text := f"{100 * margin:.{places}f}") == round(100 * margin, _MOST_PLACES)
    )


def format_bounds(low: float, high: float, margin: float) -> str:
    """`-0.4 to +3.7`, in points: never rounded to where the verdict would be another."""
    return f"{format_bound(low, margin)} to {format_bound(high, margin)}"


def format_bound(bound: float, margin: float) -> str:
    """One of them."""
    return format_points(bound, _places(bound, (-margin, 0.0)))


def format_change(ratio: float) -> str:
    """What a ratio is as a change: `-56.0%`, `+140.0%`, `0.0%`; a bound below 0 is no more than all."""
    percent = 100 * (max(ratio, 0.0) - 1)
    text = f"{percent:+,.0f}%" if percent >= 1000 else f"{percent:+.1f}%"
    return text[1:] if text[1:] == "0.0%" else text


def _places(bound: float, limits: tuple[float, ...]) -> int:
    """Digits at which a bound is on the same side of every limit as in truth."""
    for places in range(1, _MOST_PLACES):
        shown = round(100 * bound, places)
        if all(_side(shown, round(100 * limit, _MOST_PLACES)) == _side(bound, limit) for limit in limits):
            return places
    return _MOST_PLACES


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def _verdict(contrast: Contrast, comparison: Comparison, pair: ArmComparison, old: str, new: str) -> str:
    if pair.unfit is not None:
        return _unfit(pair.unfit, new)
    of = "" if contrast.measure is Measure.ACCURACY else f" in {contrast.measure.value}"
    difference, low, high = contrast.difference, contrast.low, contrast.high
    if difference is None or low is None or high is None:
        why = "; ".join(reason.rstrip(".") for reason in contrast.reasons) or "there are no figures"
        said = f"Whether {new} is worse than {old}{of} cannot be told: {why[0].lower()}{why[1:]}"
        return f"{_overflow(pair, new)}. {said}" if pair.newly_overflowing else said
    level, bounds = comparison.level, format_bounds(low, high, comparison.margin)
    over = f", over {contrast.cases:,} of {contrast.planned:,} cases" if contrast.cases < contrast.planned else ""
    interval = f"{level:.0%} interval {bounds}{over}"
    if pair.newly_overflowing:
        measure = contrast.measure.value
        return (
            f"{_overflow(pair, new)}. Of the rest, {measure} differs by {format_points(difference)} points ({interval})"
        )
    beyond = f" by more than {format_margin(comparison.margin)} points" if comparison.margin else ""
    if contrast.verdict is Verdict.INSUFFICIENT_DATA:
        said = f"Whether {new} is worse than {old}{of}{beyond} cannot be told"
        wanted = advice(contrast, comparison.margin, level)
        if not is_too_few(contrast, comparison.margin):
            told = [reason.rstrip(".") for reason in contrast.reasons]
            return f"{said}: {'; '.join(filter(None, [*told, wanted]))}"
        between = f"the difference lies between {bounds.replace(' to ', ' and ')} points ({level:.0%} interval{over})"
        if high < 0:  # which looks like a loss: why it is not taken for one
            between = "; ".join([*(reason.rstrip(".") for reason in contrast.reasons), between])
        return f"{said}{'.' if high < 0 else ':'} {between}{f'; {wanted}' if wanted else ''}"
    size = format_points(abs(difference), _places(difference, (0.0,))).lstrip("+")
    by = f"by {size} points ({interval})"
    is_certain = contrast.adjusted_p is not None and contrast.adjusted_p < SIGNIFICANT
    if contrast.verdict is Verdict.REGRESSION:
        return f"{new} is worse than {old}{of} {by}"
    if is_certain and low > 0:
        return f"{new} is better than {old}{of} {by}"
    if is_certain and high < 0:
        return f"{new} is worse than {old}{of} {by}, but not{beyond}"
    return f"{new} is not worse than {old}{of}{beyond} ({interval})"


def _overflow(pair: ArmComparison, new: str) -> str:
    count = len(pair.newly_overflowing)
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
    if all(abs(one - 1) < _SOME for one in (ratio, low, high)):
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
