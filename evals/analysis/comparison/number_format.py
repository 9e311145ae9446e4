"""Shares in percentage points and ratios as changes, never rounded across a limit."""

from __future__ import annotations

from toolbelt.text import plural

_MOST_PLACES = 6


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
    """`-0.4 to +3.7`, in points; rounding never moves a bound across a limit of the verdict."""
    return f"{format_bound(low, margin)} to {format_bound(high, margin)}"


def format_bound(bound: float, margin: float) -> str:
    """`-0.4`: one bound in points; rounding never moves it across a limit of the verdict."""
    return format_points(bound, places_for(bound, (-margin, 0.0)))


def format_change(ratio: float) -> str:
    """A ratio as a change: `-56.0%`, `+140.0%`, `0.0%`; a bound below 0 is shown as a loss of all."""
    percent = 100 * (max(ratio, 0.0) - 1)
    text = f"{percent:+,.0f}%" if percent >= 1000 else f"{percent:+.1f}%"
    return text[1:] if text[1:] == "0.0%" else text


def places_for(bound: float, limits: tuple[float, ...]) -> int:
    """The digits with which the rounded bound is on the same side of every limit as the exact one."""
    for places in range(1, _MOST_PLACES):
        shown = round(100 * bound, places)
        if all(_side(shown, round(100 * limit, _MOST_PLACES)) == _side(bound, limit) for limit in limits):
            return places
    return _MOST_PLACES


def _side(value: float, limit: float) -> int:
    return (value > limit) - (value < limit)


def describe_asked(trials: int, too_long: int, noun: str = "trial") -> str:
    """What a share of all asked is of: `40 trials`, `40 trials asked, 14 of them too long`."""
    return f"{plural(trials, noun)} asked, {too_long:,} of them too long" if too_long else plural(trials, noun)


def format_level(level: float) -> str:
    """The level of an interval, `95%` or, at an early look of a run that may stop then, `99.97%`."""
    return f"{100 * level:.4g}%"
