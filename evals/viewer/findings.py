"""What is said of two arms, as badges and as a plot: a trade-off within a run, a verdict against another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison
from toolbelt.evals.analysis.comparison.comparison_text import pair_names
from toolbelt.evals.analysis.comparison.number_format import format_bounds, format_margin, format_points
from toolbelt.evals.analysis.comparison.reason_text import describe_reason
from toolbelt.evals.analysis.result import TradeOff, find_trade_off
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.views.glance import held_back
from toolbelt.evals.views.result_text import describe_trade_off
from toolbelt.render.numbers import NOTHING
from toolbelt.views.cells import Badge, Tone

_MARKS = {Tone.GOOD: "✓", Tone.BAD: "✕", Tone.WARNING: "?", Tone.FAINT: "·"}
_VERDICTS = {
    Verdict.REGRESSION: Badge("Regression", Tone.BAD),
    Verdict.NO_REGRESSION: Badge("No regression", Tone.GOOD),
    Verdict.INSUFFICIENT_DATA: Badge("Not enough data", Tone.WARNING),
}
_WITHIN = {
    Verdict.REGRESSION: TradeOff.LESS_ACCURATE,
    Verdict.NO_REGRESSION: TradeOff.NOT_WORSE,
    Verdict.INSUFFICIENT_DATA: TradeOff.UNDECIDED,
}
_TONES = {
    TradeOff.MORE_ACCURATE: Tone.GOOD,
    TradeOff.NOT_WORSE: Tone.GOOD,
    TradeOff.LESS_ACCURATE: Tone.BAD,
    TradeOff.UNREACHABLE: Tone.BAD,
    TradeOff.TOO_LONG: Tone.BAD,
    TradeOff.UNDECIDED: Tone.WARNING,
    TradeOff.ORIENTATION: Tone.FAINT,
}
_NO_VERDICT = Badge("No verdict", Tone.FAINT)


def find_badge(comparison: Comparison, pair: ArmComparison) -> Badge:
    """The finding on a pair of arms: a trade-off within a run, else whether the new one has regressed."""
    verdict = pair.verdict
    if comparison.is_within:
        trade_off = find_trade_off(pair)
        if verdict is None and trade_off is TradeOff.UNDECIDED:
            return _NO_VERDICT
        word = describe_trade_off(trade_off, comparison.margin) + held_back(pair.main_contrast)
        return Badge(word, _TONES[trade_off])
    return _NO_VERDICT if verdict is None else _VERDICTS[verdict]


def verdict_badge(verdict: Verdict | None, comparison: Comparison | None = None) -> Badge:
    """A verdict in words: those of a trade-off where `comparison` is of the arms of one run."""
    if verdict is None:
        return _NO_VERDICT
    if comparison is not None and comparison.is_within:
        trade_off = _WITHIN[verdict]
        return Badge(describe_trade_off(trade_off, comparison.margin), _TONES[trade_off])
    return _VERDICTS[verdict]


def badge_values(badge: Badge) -> dict[str, str]:
    """A badge as a sign and in words, readable without colour."""
    return {"mark": _MARKS[badge.tone], "word": badge.word, "tone": badge.tone.value}


# The plot of differences. All positions are percentages of its width, so that it fits any screen.

_SHARE_BESIDE = 0.04
"""Of the plot's width, left free at each side."""
_MOST_TICKS = 7
_LEAST_SPAN = 0.06


def forest_values(comparison: Comparison | None, summary: RunSummary) -> dict[str, Any] | None:
    """The differences of all pairs in one plot; `None` where there are none.

    Returns:
        `margin`: in points, in words; `band` (`x`, `width`): the losses within it; `zero`: a position; `ticks`
        (`x`, `text`), `groups` (`against`, `rows`). A row: `number` of the pair, `name`, `badge`, `x`, `low` and
        `high`: positions or `None`, `difference`, `interval`: in words, `worse` and `better`: counts of cases, `old`
        and `new`: positions of the arms in the run or `None`.
    """
    if comparison is None or not comparison.is_comparable or not comparison.pairs:
        return None
    start, end = _span(comparison)
    scale = _Scale(start, end)
    places = {(arm.model, arm.toolset, arm.variant): place for place, arm in enumerate(summary.arms)}
    groups: dict[str, list[dict[str, Any]]] = {}
    for number, pair in enumerate(comparison.pairs):
        against, name = pair_names(comparison, pair)
        if comparison.is_within and pair.old.model == pair.new.model:  # which stands above them
            name = pair.new.toolset_label
        contrast = pair.main_contrast
        low, high = contrast.low, contrast.high
        is_bounded = low is not None and high is not None
        is_here = comparison.new.name == summary.run
        row = {
            "number": number,
            "name": name,
            "badge": badge_values(find_badge(comparison, pair)),
            "x": scale(contrast.difference),
            "low": scale(low) if is_bounded else None,
            "high": scale(high) if is_bounded else None,
            "difference": NOTHING if contrast.difference is None else format_points(contrast.difference),
            "interval": format_bounds(low, high, comparison.margin) if low is not None and high is not None else "",
            "reasons": "; ".join(map(describe_reason, contrast.reasons)) if contrast.difference is None else "",
            "worse": pair.flip_counts.worse,
            "better": pair.flip_counts.better,
            "old": places.get(pair.old.key) if is_here and comparison.is_within else None,
            "new": places.get(pair.new.key) if is_here and comparison.is_within else None,
        }
        groups.setdefault(against, []).append(row)
    zero, edge = scale(0.0), scale(-comparison.margin)
    assert zero is not None and edge is not None  # noqa: S101, PT018  numbers have positions
    return {
        "margin": format_margin(comparison.margin),
        "level": f"{100 * comparison.level:.0f}",
        "zero": zero,
        "band": {"x": edge, "width": round(zero - edge, 3)},
        "ticks": [{"x": scale(tick), "text": format_tick(tick)} for tick in _ticks(start, end)],
        "groups": [{"against": against, "rows": rows} for against, rows in groups.items()],
    }


class _Scale:
    """From a difference to its position."""

    def __init__(self, start: float, end: float) -> None:
        self._start, self._span = start, end - start

    def __call__(self, difference: float | None) -> float | None:
        return None if difference is None else round(100 * (difference - self._start) / self._span, 3)


def _span(comparison: Comparison) -> tuple[float, float]:
    """What the plot covers: all intervals, zero and the margin on both sides, with some space beside them."""
    ends = [0.0, -comparison.margin, comparison.margin]
    for pair in comparison.pairs:
        contrast = pair.main_contrast
        ends += [end for end in (contrast.difference, contrast.low, contrast.high) if end is not None]
    low, high = min(ends), max(ends)
    wider = max(0.0, _LEAST_SPAN - (high - low)) / 2
    beside = (high - low + 2 * wider) * _SHARE_BESIDE
    return low - wider - beside, high + wider + beside


def _ticks(start: float, end: float) -> Sequence[float]:
    """Round numbers between two ends, zero among them."""
    least = (end - start) / _MOST_TICKS
    step = next(step for step in _steps(least) if step >= least)
    return [step * number for number in range(math.ceil(start / step), math.floor(end / step) + 1)]


def _steps(least: float) -> Iterator[float]:
    power = 10.0 ** math.floor(math.log10(least))
    yield from (power, 2 * power, 5 * power, 10 * power)


def format_tick(share: float) -> str:
    """`-10`, `+2.5`, `0`: a difference in points, as short as it is exact."""
    return f"{100 * share:+.3f}".rstrip("0").rstrip(".") if round(share, 9) else "0"
