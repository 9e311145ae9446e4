"""Accuracy against tokens: what a smaller toolset costs, what it gains, and which one to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise
from typing import Any

from toolbelt.evals.analysis.result import RunResult
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary, asked_most
from toolbelt.evals.toolsets.spec import is_oracle
from toolbelt.evals.views.pictures.canvas import (
    GREY,
    INK,
    NOTE_LINE,
    ORACLE,
    SMALL,
    TITLE,
    Sheet,
    Style,
    accuracy_axis,
    in_lines,
    is_logarithmic,
    linear_marks,
    logarithmic_marks,
    short_number,
    widest,
)
from toolbelt.evals.views.pictures.legend import (
    FRONT_DASHES,
    LIST_LINE,
    MARK_POINTS,
    Entry,
    draw_line,
    draw_list,
    line_width,
)
from toolbelt.evals.views.pictures.placing import Box, place_labels
from toolbelt.evals.views.pictures.shown import Shown, by_model, left_out, shown_arms
from toolbelt.evals.views.result_text import describe_trade_off
from toolbelt.render.numbers import ESTIMATED, format_cost, format_glance, format_percent
from toolbelt.views.blocks import Picture

_PLOT = (5.4, 3.7)
_WIDE = 5.6
"""Width of the plot where the list stands above it."""
_MOST_NAMED = 14
_MOST_WITH_TOKENS = 12
_PIECES = 12
"""Pieces of the arrow that labels keep clear of."""
_HALO = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}
_PROMPTS = "Accuracy against prompt tokens"
_DEFINITIONS = "Accuracy against definition tokens"
_PROMPT_AXIS = "prompt tokens of a trial, over all its requests (mean)"
_DEFINITION_AXIS = "definition tokens at the first request (mean, estimated)"
_ORACLE_TEXT = "oracle: for orientation only"


@dataclass(frozen=True, slots=True)
class Point:
    """An arm with scored trials, and its position.

    Attributes:
        shown: The arm.
        tokens: Of the whole prompts of a trial, or of the definitions at the first request; mean.
        accuracy: A fraction.
        low: Lower bound of its interval.
        high: Upper bound.
    """

    shown: Shown
    tokens: float
    accuracy: float
    low: float
    high: float

    @property
    def style(self) -> Style:
        """That of its model; oracle arms are grey, as nobody can use them."""
        return replace(self.shown.style, colour=ORACLE) if _is_oracle(self) else self.shown.style


@dataclass(frozen=True, slots=True)
class _Arrow:
    """From the reference to the arm to take.

    Attributes:
        start: Position of the reference among the points.
        end: Position of the arm to take.
        text: What it saves, in lines.
    """

    start: int
    end: int
    text: str


class _Names(Enum):
    """What is written beside the marks."""

    WITH_TOKENS = auto()
    PLAIN = auto()
    NUMBERS = auto()


@dataclass(frozen=True, slots=True)
class _Plot:
    """What is drawn.

    Attributes:
        points: In the order of the arms.
        title: In a few words.
        axis: What lies to the right.
        arrow: To the arm to take, if it is another than the reference.
        note: A sentence at the foot; empty for none.
    """

    points: Sequence[Point]
    title: str
    axis: str
    arrow: _Arrow | None
    note: str


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

    Oracle arms know the answer and are nobody's choice: the front leaves them out, unless there are no others. It is of
    the arms that most cases fit (rule V1): the tokens of others are those of fewer and shorter cases.
    """
    places = [n for n, point in enumerate(points) if not _is_oracle(point)] or list(range(len(points)))
    fitting = asked_most([points[n].shown.arm for n in places])
    places = [n for n in places if points[n].shown.arm in fitting]
    return [places[n] for n in pareto_front([(points[place].tokens, points[place].accuracy) for place in places])]


def draw_tradeoff(summary: RunSummary, result: RunResult | None, *, pngs: bool) -> Picture | None:
    """The picture of the trade-off; `None` if no arm has a scored trial.

    The tokens are those of whole prompts if they are known for all arms, else those of the definitions.

    Args:
        summary: Of the run.
        result: What it comes to; an arrow leads from its reference to the arm to take.
    """
    shown = shown_arms(summary)
    scored = [item for item in shown if item.arm.accuracy.value is not None]
    has_prompts = all(item.arm.prompt_tokens is not None for item in scored)
    points = [point for item in scored if (point := _point(item, has_prompts=has_prompts)) is not None]
    if not points:
        return None
    placed = {point.shown.number for point in points}
    missing = [item for item in shown if item.number not in placed]
    plot = _Plot(
        points,
        _PROMPTS if has_prompts else _DEFINITIONS,
        _PROMPT_AXIS if has_prompts else _DEFINITION_AXIS,
        None if result is None else _find_arrow(points, result),
        left_out(summary, {"nothing scored": missing} if missing else {}),
    )
    named = [
        (names, 1.0)
        for names, most in ((_Names.WITH_TOKENS, _MOST_WITH_TOKENS), (_Names.PLAIN, _MOST_NAMED))
        if len(points) <= most
    ]
    for names, scale in (*named, (_Names.NUMBERS, 1.0), (_Names.NUMBERS, 1.5), (_Names.NUMBERS, 2.2)):
        sheet, is_clear = _draw(plot, names, scale)
        if is_clear:
            break
    of = "of the whole prompts of a trial" if has_prompts else "of the tool definitions at the first request"
    caption = (
        "Share of the trials asked in which the right tools were called, with its 95% interval, against the tokens "
        f"{of}. Up and to the left is better. Filled marks are on the Pareto front: no other arm is both cheaper and "
        "better. "
    )
    if _leaves_oracle_out(points):
        caption += "Oracle arms (grey), which know the answer, are left out of it. "
    if any(point.shown.arm.too_long for point in points):
        caption += "What was too long for a model is not right; the front is of the arms that most cases fit. "
    if plot.arrow is not None:
        ends = [points[place].shown.label for place in (plot.arrow.start, plot.arrow.end)]
        saved = ", ".join(plot.arrow.text.splitlines())
        caption += f"The arrow leads from {ends[0]} to the arm to take, {ends[1]}: {saved}. "
    return Picture("tradeoff", plot.title, f"{caption}{plot.note}".strip(), *sheet.save(pngs=pngs))


def _find_arrow(points: Sequence[Point], result: RunResult) -> _Arrow | None:
    if result.recommended is None or result.reference is None or result.is_reference or result.trade_off is None:
        return None
    places = {_key(point.shown.arm): place for place, point in enumerate(points)}
    start, end = places.get(_key(result.reference)), places.get(_key(result.recommended))
    if start is None or end is None:
        return None
    saved, cost = result.tokens_saved, result.cost_saved_usd
    lines = []
    if saved is not None:
        lines.append(f"{format_percent(abs(saved))} {'fewer' if saved >= 0 else 'more'} prompt tokens")
    if cost:
        lines.append(f"{format_cost(abs(cost))} {'less' if cost > 0 else 'more'} a trial")
    lines.append(describe_trade_off(result.trade_off, result.margin))
    return _Arrow(start, end, "\n".join(lines))


def _key(arm: ArmSummary) -> tuple[str, str, str]:
    return arm.model, arm.toolset, arm.variant


def _is_oracle(point: Point) -> bool:
    return is_oracle(point.shown.arm.toolset)


def front_text(points: Sequence[Point]) -> str:
    """The legend's text for the front."""
    return f"Pareto front (filled){', without oracle' if _leaves_oracle_out(points) else ''}"


def _leaves_oracle_out(points: Sequence[Point]) -> bool:
    """Whether there are oracle arms that the front leaves out."""
    return any(map(_is_oracle, points)) and not all(map(_is_oracle, points))


def _point(shown: Shown, *, has_prompts: bool) -> Point | None:
    rate, tokens = shown.arm.right_of_asked, shown.arm.prompt_tokens if has_prompts else shown.arm.definition_tokens
    if not shown.arm.scored or rate.value is None or tokens is None:
        return None
    low = rate.value if rate.low is None else rate.low
    high = rate.value if rate.high is None else rate.high
    return Point(shown, tokens, rate.value, low, high)


def _draw(plot: _Plot, names: _Names, scale: float) -> tuple[Sheet, bool]:
    """The picture, and whether every label found room."""
    entries = _entries(plot.points, named=names is not _Names.NUMBERS)
    texts = [entry.text for entry in entries]
    is_above = line_width(entries) <= _WIDE + 0.3
    panel = 0.3 if is_above else 0.45 + widest(texts, SMALL, bold=True)
    wide = _WIDE if is_above else _PLOT[0] * scale
    left, above = 0.74, 0.75 if is_above else 0.45
    notes = in_lines(plot.note, left + wide + panel - 0.2, SMALL)
    bottom = 0.55 + NOTE_LINE * len(notes)
    high = _PLOT[1] * scale if is_above else max(_PLOT[1] * scale, LIST_LINE * len(entries))
    sheet = Sheet(left + wide + panel, bottom + high + above)
    axes = sheet.axes(left, bottom, wide, high)
    _scales(axes, plot)
    steps = _marks(axes, plot.points)
    if plot.arrow is not None:
        _draw_arrow(axes, plot.points[plot.arrow.start], plot.points[plot.arrow.end])
    sheet.text(left, bottom + high + above - 0.25, plot.title, size=TITLE, weight="bold")
    sheet.note(notes)
    if is_above:
        draw_line(sheet, entries, left, bottom + high + 0.25)
    else:
        draw_list(sheet, entries, left + wide + 0.2, bottom + high)
    return sheet, _labels(sheet, axes, plot, steps, names)


def _draw_arrow(axes: Any, start: Point, end: Point) -> None:
    how = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.4, "shrinkA": MARK_POINTS, "shrinkB": MARK_POINTS}
    axes.annotate("", (end.tokens, end.accuracy), (start.tokens, start.accuracy), arrowprops=how, zorder=2.5)


def _scales(axes: Any, plot: _Plot) -> None:
    points = plot.points
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
    axes.set_xlabel(plot.axis)
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
        axes.plot(*zip(*steps, strict=True), color=INK, linewidth=0.9, linestyle=FRONT_DASHES, zorder=1)
    for place, point in enumerate(points):
        how = point.style
        axes.plot([point.tokens] * 2, [point.low, point.high], color=how.colour, linewidth=0.9, alpha=0.55, zorder=2)
        axes.plot(
            [point.tokens],
            [point.accuracy],
            marker=how.marker,
            markersize=MARK_POINTS,
            markerfacecolor=how.colour if place in front else "white",
            markeredgecolor=how.colour,
            markeredgewidth=1.2,
            linestyle="none",
            zorder=3,
        )
    return steps


def _labels(sheet: Sheet, axes: Any, plot: _Plot, steps: Sequence[tuple[float, float]], names: _Names) -> bool:
    """Write names or numbers beside the marks, and what the arrow saves; `False` where they find no room."""
    scale, points, arrow = sheet.pixels_per_point, plot.points, plot.arrow
    texts = [_name(point, names) for point in points]
    colours = [GREY if _is_oracle(point) else INK for point in points]
    bold = [arrow is not None and place == arrow.end for place in range(len(points))]

    def pixels(x: float, y: float) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y))
        return float(across), float(up)

    marks = [pixels(point.tokens, point.accuracy) for point in points]
    lines = [(pixels(point.tokens, point.low), pixels(point.tokens, point.high)) for point in points]
    lines += [(pixels(*a), pixels(*b)) for a, b in pairwise(steps)]
    if arrow is not None:
        start, end = marks[arrow.start], marks[arrow.end]
        lines += pairwise(_between(start, end, place / _PIECES) for place in range(_PIECES + 1))
        marks.append(_between(start, end, 0.5))
        texts.append(arrow.text)
        colours.append(INK)
        bold.append(True)
    sizes = [_size(text, scale, bold=is_bold) for text, is_bold in zip(texts, bold, strict=True)]
    extent = axes.get_window_extent()
    bounds = Box(extent.x0 + 2, extent.y0 + 2, extent.x1, extent.y1)
    avoid = [Box(min(a[0], b[0]) - 2, min(a[1], b[1]) - 2, max(a[0], b[0]) + 2, max(a[1], b[1]) + 2) for a, b in lines]
    radius = MARK_POINTS * 0.62 * scale
    placed = place_labels(marks, sizes, bounds, radius, avoid, reach=60 if names is _Names.NUMBERS else 14)
    if placed is None:
        return False
    for text, place, colour, is_bold in zip(texts, placed, colours, bold, strict=True):
        box = place.box
        if not place.is_near:
            sheet.line(place.leader[0], place.leader[-1], color=GREY, linewidth=0.5, zorder=2)
        rows = text.split("\n")
        for number, row in enumerate(rows):
            up = box.top - (box.top - box.bottom) * (number + 0.5) / len(rows)
            how = {"color": colour, "weight": "bold" if is_bold and not number else "normal", "bbox": _HALO}
            middle = (box.left + box.right) / 2
            sheet.pixel_text(middle, up, row, size=SMALL, ha="center", va="center_baseline", zorder=4, **how)
    return True


def _name(point: Point, names: _Names) -> str:
    if names is _Names.NUMBERS:
        return str(point.shown.number)
    if names is _Names.PLAIN:
        return point.shown.label
    mark = "" if point.shown.arm.prompt_tokens_reported else ESTIMATED
    return f"{point.shown.label}  {mark}{format_glance(point.tokens)}"


def _between(start: tuple[float, float], end: tuple[float, float], share: float) -> tuple[float, float]:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _size(text: str, scale: float, *, bold: bool) -> tuple[float, float]:
    """Width and height, in pixels."""
    rows = text.split("\n")
    return widest(rows, SMALL, bold=bold) * 72 * scale + 2 * scale, SMALL * 1.15 * scale * len(rows)


def _entries(points: Sequence[Point], *, named: bool) -> list[Entry]:
    models = by_model([point.shown for point in points])
    entries: list[Entry] = []
    for model, shown in models.items():
        if not named or len(models) > 1:
            entries.append(Entry(model, shown[0].style, is_bold=not named))
        if not named:
            entries += [Entry(f"{item.number}  {item.label}") for item in shown]
    if len(points) > 1:
        entries.append(Entry(front_text(points), is_front=True))
    if _leaves_oracle_out(points):
        entries.append(Entry(_ORACLE_TEXT, Style(ORACLE, "o", "-"), is_hollow=True))
    return [*entries, Entry("95% interval", is_interval=True)]
