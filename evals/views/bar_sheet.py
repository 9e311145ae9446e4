"""The sheet of pictures with a bar for each arm: names, bars, figures, a legend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.views.canvas import ACCENT, GREY, PALE, SMALL, TITLE, Sheet, text_width, widest
from toolbelt.evals.views.picture import Shown, by_model

_ROW = 0.25
"""Inches an arm takes."""
_WIDE = 3.9
_KEY = 0.52
"""Inches an entry of the legend takes beside its text."""
_LIGHT = "#c3ccd2"
SOLID: Mapping[str, Any] = {"facecolor": ACCENT, "edgecolor": ACCENT, "linewidth": 0.6}
BEHIND: Mapping[str, Any] = {"facecolor": _LIGHT, "edgecolor": GREY, "linewidth": 0.6}


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the picture.

    Attributes:
        text: The arm's label, or the name of the model of those below.
        shown: The arm.
    """

    text: str
    shown: Shown | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend: what a bar, a line or a mark means.

    Attributes:
        text: In words.
        how: As it is drawn.
        is_line: Whether it is a line.
        is_upright: Whether it is a mark across the bars.
    """

    text: str
    how: Mapping[str, Any]
    is_line: bool = False
    is_upright: bool = False


def bar_sheet(
    title: str, shown: Sequence[Shown], keys: Sequence[Key], describe_shown: Callable[[Shown], str], note: str
) -> tuple[Sheet, Any, list[Row]]:
    """An empty picture with names on the left, figures on the right and a legend on top; rows go downwards.

    Args:
        title: In a few words.
        shown: The arms, those of each model together where there are several.
        keys: The legend.
        tell: The figures of an arm.
        note: A sentence at the foot; empty for none.

    Returns:
        The sheet, its axes, on which row `n` is at height `n`, and the rows.
    """
    groups = by_model(shown)
    rows: list[Row] = []
    for model, members in groups.items():
        if len(groups) > 1:
            rows.append(Row(model))
        rows += [Row(one.label, one) for one in members]
    figures = [describe_shown(row.shown) if row.shown else "" for row in rows]
    left = 0.25 + max(widest([row.text for row in rows if row.shown]), widest([*groups], bold=True) - 0.3)
    right = 0.25 + widest(figures, SMALL)
    bottom, above = 0.42 + (0.2 if note else 0), 0.72
    high = _ROW * len(rows) + 0.06
    legend = sum(_KEY + text_width(key.text, SMALL) for key in keys)
    width = max(left + _WIDE + right, 0.3 + text_width(note, SMALL), legend)
    sheet = Sheet(width, bottom + high + above)
    axes = sheet.axes(left, bottom, width - left - right, high)
    axes.set_ylim(len(rows) - 0.5 + 0.12, -0.5 - 0.12)
    axes.set_yticks([])
    axes.grid(axis="x", color=PALE, linewidth=0.6)
    axes.set_axisbelow(True)
    for place, (row, figure) in enumerate(zip(rows, figures, strict=True)):
        height = bottom + high * (len(rows) - 0.5 + 0.12 - place) / (len(rows) + 0.24)
        if row.shown is None:
            sheet.text(0.1, height, row.text, weight="bold", va="center_baseline")
        else:
            sheet.text(left - 0.1, height, row.text, ha="right", va="center_baseline")
        sheet.text(width - right + 0.1, height, figure, size=SMALL, va="center_baseline")
    sheet.text(0.1, bottom + high + 0.47, title, size=TITLE, weight="bold")
    _legend(sheet, keys, bottom + high + 0.22)
    if note:
        sheet.text(0.1, 0.07, note, size=SMALL, color=GREY)
    return sheet, axes, rows


def _legend(sheet: Sheet, keys: Sequence[Key], middle: float) -> None:
    at = 0.1
    for key in keys:
        if key.is_line:
            ends = [(x * sheet.pixels_per_inch, middle * sheet.pixels_per_inch) for x in (at, at + 0.24)]
            sheet.line(*ends, linewidth=1.1, **key.how)
        elif key.is_upright:
            across = (at + 0.18) * sheet.pixels_per_inch
            ends = [(across, (middle + up) * sheet.pixels_per_inch) for up in (-0.08, 0.08)]
            sheet.line(*ends, linewidth=1.6, **key.how)
        else:
            sheet.bar(at, middle - 0.05, 0.24, 0.1, **key.how)
        sheet.text(at + 0.3, middle, key.text, size=SMALL, va="center_baseline")
        at += _KEY + text_width(key.text, SMALL)
