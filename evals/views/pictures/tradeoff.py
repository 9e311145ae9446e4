"""Accuracy against definition tokens: what a smaller toolset costs, and what it gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.pictures.canvas import (
    GREY,
    INK,
    SMALL,
    TITLE,
    Sheet,
    Style,
    accuracy_axis,
    is_logarithmic,
    linear_marks,
    logarithmic_marks,
    short_number,
    text_width,
    widest,
)
from toolbelt.evals.views.pictures.placing import Box, place_labels
from toolbelt.evals.views.pictures.shown import Shown, by_model, left_out, shown_arms
from toolbelt.views.blocks import Picture

_PLOT = (5.4, 3.7)
_MARK_POINTS = 6.5
_LINE = 0.165
"""Inches from one line of the list to the next."""
_MOST_NAMED = 10
_FRONT_DASHES = (0, (3, 2))
_HALO = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}
_NAME = "Accuracy against definition tokens"


@dataclass(frozen=True, slots=True)
class Point:
    """An arm with scored trials, and its position.

    Attributes:
        shown: The arm.
        tokens: Definition tokens at the first request, mean.
        accuracy: A fraction.
        low: Lower bound of its interval.
        high: Upper bound.
    """

    shown: Shown
    tokens: float
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the list beside the plot."""

    text: str
    style: Style | None = None
    is_bold: bool = False
    is_front: bool = False
    is_interval: bool = False


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Positions of the points that no other point beats in one value while it is at least as good in the other,
    cheapest first.

    Args:
        points: Cost, where less is better, and worth, where more is.
    """
    best = float("-inf")
    front: list[int] = []
    for place in sorted(range(len(points)), key=lambda n: (points[n][0], -points[n][1], n)):
        if points[place][1] > best or (front and points[place] == points[front[-1]]):
            front.append(place)
            best = points[place][1]
    return front


def find_front(points: Sequence[Point]) -> list[int]:
    """Positions of the points on the Pareto front, cheapest first.

    Oracle arms know the answer and are nobody's choice: the front leaves them out, unless there are no others.
    """
    places = [n for n, point in enumerate(points) if not _is_oracle(point)] or list(range(len(points)))
    return [places[n] for n in pareto_front([(points[place].tokens, points[place].accuracy) for place in places])]


def draw_tradeoff(summary: RunSummary) -> Picture | None:
    """The picture of the trade-off; `None` if no arm has a scored trial."""
    shown = shown_arms(summary)
    points = [point for item in shown if (point := _point(item)) is not None]
    if not points:
        return None
    note = left_out(summary, [item for item in shown if _point(item) is None])
    tries = [(True, 1.0)] if len(points) <= _MOST_NAMED else []
    for named, scale in (*tries, (False, 1.0), (False, 1.5), (False, 2.2)):
        sheet, is_clear = _draw(points, note, named=named, scale=scale)
        if is_clear:
            break
    svg, png = sheet.save()
    caption = (
        "Share of the scored trials in which the right tools were called, with its 95% interval, against the tokens of "
        "the tool definitions at the first request. Up and to the left is better. Filled marks are on the Pareto "
        "front: no other arm is both cheaper and better. "
    )
    if _leaves_oracle_out(points):
        caption += "Oracle arms, which know the answer, are left out of it. "
    return Picture("tradeoff", _NAME, f"{caption}{note}".strip(), svg, png)


def _is_oracle(point: Point) -> bool:
    return is_oracle(point.shown.arm.toolset)


def front_text(points: Sequence[Point]) -> str:
    """The legend's text for the front."""
    return f"Pareto front (filled){', without oracle' if _leaves_oracle_out(points) else ''}"


def _leaves_oracle_out(points: Sequence[Point]) -> bool:
    """Whether there are oracle arms that the front leaves out."""
    return any(map(_is_oracle, points)) and not all(map(_is_oracle, points))


def _point(shown: Shown) -> Point | None:
    rate, tokens = shown.arm.accuracy, shown.arm.definition_tokens
    if rate.value is None or tokens is None:
        return None
    low = rate.value if rate.low is None else rate.low
    high = rate.value if rate.high is None else rate.high
    return Point(shown, tokens, rate.value, low, high)


def _draw(points: Sequence[Point], note: str, *, named: bool, scale: float) -> tuple[Sheet, bool]:
    """The picture, and whether every label found room."""
    entries = _entries(points, named=named)
    panel = 0.45 + widest([entry.text for entry in entries], SMALL, bold=True)
    left, bottom, above = 0.74, 0.55 + (0.2 if note else 0), 0.45
    wide, high = _PLOT[0] * scale, max(_PLOT[1] * scale, _LINE * len(entries))
    sheet = Sheet(left + wide + panel, bottom + high + above)
    axes = sheet.axes(left, bottom, wide, high)
    _scales(axes, points)
    steps = _marks(axes, points)
    sheet.text(left, bottom + high + 0.2, _NAME, size=TITLE, weight="bold")
    if note:
        sheet.text(left, 0.07, note, size=SMALL, color=GREY)
    _list(sheet, entries, left + wide + 0.2, bottom + high)
    return sheet, _labels(sheet, axes, points, steps, named=named)


def _scales(axes: Any, points: Sequence[Point]) -> None:
    tokens = [point.tokens for point in points]
    low, high = min(tokens), max(tokens)
    if is_logarithmic(tokens):
        axes.set_xscale("log")
        axes.set_xlim(low / 1.35, high * 1.35)
        marks = logarithmic_marks(low / 1.35, high * 1.35)
    else:
        end = max(high * 1.12, 1.0)
        axes.set_xlim(0, end)
        marks = linear_marks(0, end)
    axes.set_xticks(marks, [short_number(mark) for mark in marks])
    axes.minorticks_off()
    axes.set_xlabel("definition tokens at the first request (mean, own count)")
    accuracy_axis(axes, [point.low for point in points], [point.high for point in points])


def _marks(axes: Any, points: Sequence[Point]) -> list[tuple[float, float]]:
    """Draw intervals, front and marks; gives the corners of the front."""
    front = find_front(points)
    steps: list[tuple[float, float]] = []
    for place in front:
        if steps:
            steps.append((points[place].tokens, steps[-1][1]))
        steps.append((points[place].tokens, points[place].accuracy))
    steps.append((axes.get_xlim()[1], steps[-1][1]))
    if len(points) > 1:
        axes.plot(*zip(*steps, strict=True), color=INK, linewidth=0.9, linestyle=_FRONT_DASHES, zorder=1)
    for place, point in enumerate(points):
        how = point.shown.style
        axes.plot([point.tokens] * 2, [point.low, point.high], color=how.colour, linewidth=0.9, alpha=0.55, zorder=2)
        axes.plot(
            [point.tokens],
            [point.accuracy],
            marker=how.marker,
            markersize=_MARK_POINTS,
            markerfacecolor=how.colour if place in front else "white",
            markeredgecolor=how.colour,
            markeredgewidth=1.2,
            linestyle="none",
            zorder=3,
        )
    return steps


def _labels(
    sheet: Sheet, axes: Any, points: Sequence[Point], steps: Sequence[tuple[float, float]], *, named: bool
) -> bool:
    """Write names or numbers beside the marks; `False` where they find no room."""
    scale = sheet.pixels_per_point
    texts = [point.shown.label if named else str(point.shown.number) for point in points]
    height = SMALL * 1.15 * scale
    sizes = [(text_width(text, SMALL) * 72 * scale + 2 * scale, height) for text in texts]

    def pixels(x: float, y: float) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y))
        return float(across), float(up)

    extent = axes.get_window_extent()
    bounds = Box(extent.x0 + 2, extent.y0 + 2, extent.x1, extent.y1)
    lines = [(pixels(point.tokens, point.low), pixels(point.tokens, point.high)) for point in points]
    lines += [(pixels(*a), pixels(*b)) for a, b in pairwise(steps)]
    avoid = [Box(min(a[0], b[0]) - 2, min(a[1], b[1]) - 2, max(a[0], b[0]) + 2, max(a[1], b[1]) + 2) for a, b in lines]
    marks = [pixels(point.tokens, point.accuracy) for point in points]
    radius = _MARK_POINTS * 0.62 * scale
    placed = place_labels(marks, sizes, bounds, radius, avoid, reach=6 if named else 60)
    if placed is None:
        return False
    for text, place in zip(texts, placed, strict=True):
        box = place.box
        middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        if not place.is_near:
            sheet.line(place.leader[0], place.leader[-1], color=GREY, linewidth=0.5, zorder=2)
        sheet.pixel_text(*middle, text, size=SMALL, ha="center", va="center_baseline", zorder=4, bbox=_HALO)
    return True


def _entries(points: Sequence[Point], *, named: bool) -> list[_Entry]:
    models = by_model([point.shown for point in points])
    entries: list[_Entry] = []
    for model, shown in models.items():
        if not named or len(models) > 1:
            entries.append(_Entry(model, shown[0].style, is_bold=not named))
        if not named:
            entries += [_Entry(f"{item.number}  {item.label}") for item in shown]
    if len(points) > 1:
        entries.append(_Entry(front_text(points), is_front=True))
    return [*entries, _Entry("95% interval", is_interval=True)]


def _list(sheet: Sheet, entries: Sequence[_Entry], left: float, top: float) -> None:
    for place, entry in enumerate(entries):
        middle = top - _LINE * (place + 0.5)
        if entry.style is not None:
            sheet.mark(left + 0.08, middle, entry.style, _MARK_POINTS)
        if entry.is_front:
            ends = [(left * sheet.pixels_per_inch, middle * sheet.pixels_per_inch) for left in (left, left + 0.17)]
            sheet.line(*ends, color=INK, linewidth=0.9, linestyle=_FRONT_DASHES)
        if entry.is_interval:
            sheet.interval_sample(left + 0.08, middle)
        weight = "bold" if entry.is_bold else "normal"
        sheet.text(left + 0.22, middle, entry.text, size=SMALL, va="center_baseline", weight=weight)
