"""The picture of models × toolsets: how often the right tools are called, and which pairs have no accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow
from toolbelt.evals.views.matrix_text import (
    OVERFLOW_MEANINGS,
    PICTURE,
    SMALL_MEANING,
    STEPS,
    UNSURE_MEANING,
    HeatCell,
    choice_meaning,
    heat_cell,
    heat_colour,
    ink_on,
)
from toolbelt.evals.views.pictures.canvas import (
    GREY,
    INK,
    SIZE,
    SMALL,
    TITLE,
    Sheet,
    distinct,
    text_width,
    widest,
)
from toolbelt.views.blocks import Picture

MOST_MODELS = 40
"""The most models in a picture; of more, it shows the first ones and says so."""
MOST_TOOLSETS = 60
_TITLE = "Accuracy by model and toolset"
_MOST_LETTERS = 34
_TINY = 6.3
_WIDE, _WIDEST, _HIGH, _GAP = 0.78, 2.4, 0.4, 0.03
"""Size of a cell, in inches."""
_WHITE, _BLACK = "#fefefe", "#010101"
"""On cells that are dark here and light on a dark page, or the other way round: there each turns into the other."""
_TURN = 40.0
"""Degrees by which toolset names are turned if they are too long for their column."""
_FAR_COLUMNS, _FAR_ROWS = 14, 20
"""From where names stand on the other side too, as they would else be out of sight."""
_UNSCORED = {"facecolor": "#f4f4f4", "edgecolor": "#c4c4c4", "linewidth": 0, "hatch": "////"}
_DASHES = (0, (3, 1.6))
_STRIP = 1.6
_WORDS: Mapping[str, Any] = {"size": 7.0, "color": "#3d3d3d"}


@dataclass(frozen=True, slots=True)
class _Field:
    """Where the cells are, in inches from the lower left corner."""

    left: float
    bottom: float
    wide: float
    columns: int
    rows: int

    @property
    def right(self) -> float:
        return self.left + self.wide * self.columns

    @property
    def top(self) -> float:
        return self.bottom + _HIGH * self.rows

    def corner(self, row: int, column: int) -> tuple[float, float]:
        """The lower left corner of the cell itself."""
        return self.left + self.wide * column + _GAP / 2, self.top - _HIGH * (row + 1) + _GAP / 2

    def middle(self, row: int, column: int) -> tuple[float, float]:
        return self.left + self.wide * (column + 0.5), self.top - _HIGH * (row + 0.5)


def draw_heat_map(matrix: Matrix, *, pngs: bool = True) -> Picture | None:
    """The heat map; `None` where there is at most one model and one toolset, so that there is no choice."""
    if len(matrix.rows) * len(matrix.toolsets) < 2:
        return None
    rows = matrix.rows[:MOST_MODELS]
    models = distinct([row.model for row in rows], _MOST_LETTERS)
    toolsets = distinct(matrix.toolsets[:MOST_TOOLSETS], _MOST_LETTERS)
    cells = [[heat_cell(row, cell) for cell in row.cells[:MOST_TOOLSETS]] for row in rows]
    note = _left_out(matrix)
    wide = max(_WIDE, widest(toolsets) + 0.14)
    is_turned = wide > _WIDEST or wide * len(toolsets) > 9
    wide = _WIDE if is_turned else wide
    names = 0.22 + max(widest(models), widest([_window(row) for row in rows], _TINY))
    # A turned name begins above the middle of its column and goes up to the right.
    head = 0.14 + (widest(toolsets) * math.sin(math.radians(_TURN)) + 0.1 if is_turned else 0.16)
    beyond = widest(toolsets[-1:]) * math.cos(math.radians(_TURN)) - wide / 2 + 0.1 if is_turned else 0.0
    is_wide, is_high = len(toolsets) > _FAR_COLUMNS, len(models) > _FAR_ROWS
    below = (head if is_high else 0.1) + (0.24 if note else 0.0)
    above = head + 0.98
    field = _Field(names, below, wide, len(toolsets), len(models))
    legend = _legend_lines(matrix, cells)
    right = max(names if is_wide else 0.12, beyond, max(_legend_width(line) for line in legend) - field.right + 0.12)
    right = max(right, 0.25 + text_width(note, SMALL) - field.right)
    sheet = Sheet(field.right + right, field.top + above)
    for number, (row, model) in enumerate(zip(rows, models, strict=True)):
        _name_row(sheet, field, number, model, _window(row), is_wide=is_wide)
    for number, toolset in enumerate(toolsets):
        _name_column(sheet, field, number, toolset, is_turned=is_turned, is_high=is_high)
    for y, line in enumerate(cells):
        for x, cell in enumerate(line):
            _draw_cell(sheet, field, y, x, cell)
    top = field.top + head
    sheet.text(0.1, top + 0.74, _TITLE, size=TITLE, weight="bold")
    for number, keys in enumerate(legend):
        _draw_legend(sheet, keys, top + 0.5 - 0.25 * number)
    if note:
        sheet.text(0.1, 0.07, note, size=SMALL, color=GREY)
    return Picture(PICTURE, _TITLE, _caption(matrix, cells, note), *sheet.save(pngs=pngs))


def _name_row(sheet: Sheet, field: _Field, row: int, model: str, window: str, *, is_wide: bool) -> None:
    _, middle = field.middle(row, 0)
    for at, side in ((field.left - 0.1, "right"), (field.right + 0.1, "left"))[: 1 + is_wide]:
        sheet.text(at, middle + (0.065 if window else 0), model, ha=side, va="center_baseline")
        if window:
            sheet.text(at, middle - 0.09, window, ha=side, va="center_baseline", size=_TINY, color=GREY)


def _name_column(sheet: Sheet, field: _Field, column: int, toolset: str, *, is_turned: bool, is_high: bool) -> None:
    across, _ = field.middle(0, column)
    if not is_turned:
        for at, side in ((field.top + 0.1, "bottom"), (field.bottom - 0.1, "top"))[: 1 + is_high]:
            sheet.text(across, at, toolset, ha="center", va=side)
        return
    how = {"rotation": _TURN, "rotation_mode": "anchor"}
    sheet.text(across, field.top + 0.08, toolset, ha="left", va="center_baseline", **how)
    if is_high:
        sheet.text(across, field.bottom - 0.1, toolset, ha="right", va="center_baseline", **how)


def _draw_cell(sheet: Sheet, field: _Field, row: int, column: int, cell: HeatCell) -> None:
    left, bottom = field.corner(row, column)
    wide, high = field.wide - _GAP, _HIGH - _GAP
    across, middle = field.middle(row, column)
    if cell.step is None:
        sheet.bar(left, bottom, wide, high, **_UNSCORED)
        behind = {"facecolor": _UNSCORED["facecolor"], "edgecolor": "none", "pad": 1.0}
        is_long = text_width(cell.text, _WORDS["size"]) > wide - 0.1
        words = cell.text.replace(" ", "\n") if is_long else cell.text
        sheet.text(
            across, middle, words, ha="center", va="center" if is_long else "center_baseline", bbox=behind, **_WORDS
        )
        return
    colour = heat_colour(cell.step)
    ink = ink_on(colour)
    if ink != ink_on(heat_colour(STEPS - cell.step)):  # cells of the middle are as light on a dark page
        ink = _BLACK if ink == "#000000" else _WHITE
    sheet.bar(left, bottom, wide, high, facecolor=colour, linewidth=0)
    if cell.is_chosen or cell.is_unsure:
        _frame(sheet, left, bottom, wide, high, is_sure=cell.is_chosen)
    up = 0.065 if cell.overflow else 0.0
    weight = "bold" if cell.is_chosen or cell.is_unsure else "normal"
    text = f"{cell.text}★" if cell.is_best else cell.text
    sheet.text(across, middle + up, text, ha="center", va="center_baseline", size=SIZE, color=ink, weight=weight)
    if cell.overflow:
        sheet.text(across, middle - 0.09, cell.overflow, ha="center", va="center_baseline", size=_TINY, color=ink)


def _frame(sheet: Sheet, left: float, bottom: float, wide: float, high: float, *, is_sure: bool) -> None:
    """A frame in black and white, visible on any background; dashed if the recommendation is not sure."""
    lines = ((0.034, "white", 1.4, "-"), (0.008, INK, 2.0, "-"))
    for inset, colour, width, dashes in lines if is_sure else ((0.012, "white", 2.4, "-"), (0.012, INK, 1.4, _DASHES)):
        sheet.bar(
            left + inset,
            bottom + inset,
            wide - 2 * inset,
            high - 2 * inset,
            facecolor="none",
            edgecolor=colour,
            linewidth=width,
            linestyle=dashes,
        )


@dataclass(frozen=True, slots=True)
class _Key:
    """An entry of the legend."""

    kind: str
    text: str

    @property
    def sample(self) -> float:
        """Inches before its text."""
        return {"scale": _STRIP + 0.36, "star": 0.0}.get(self.kind, 0.36)


def _legend_lines(matrix: Matrix, cells: Sequence[Sequence[HeatCell]]) -> list[list[_Key]]:
    flat = [cell for line in cells for cell in line]
    first = [_Key("scale", "100%: accuracy")]
    if any(cell.step is None for cell in flat):
        first.append(_Key("unscored", "no accuracy, for the reason given: not a score of 0"))
    second = []
    if any(cell.is_chosen for cell in flat):
        second.append(_Key("frame", f"for toolbelt.yaml, sure: {choice_meaning(matrix)}"))
    if any(cell.is_unsure for cell in flat):
        second.append(_Key("dashes", f"for toolbelt.yaml, not sure: {UNSURE_MEANING}"))
    if any(cell.is_best for cell in flat):
        second.append(_Key("star", "★ its best"))
    return [first, second] if second else [first]


def _legend_width(keys: Sequence[_Key]) -> float:
    return 0.1 + sum(key.sample + text_width(key.text, SMALL) + 0.22 for key in keys)


def _draw_legend(sheet: Sheet, keys: Sequence[_Key], middle: float) -> None:
    at = 0.1
    for key in keys:
        if key.kind == "scale":
            sheet.text(at, middle, "0%", size=SMALL, va="center_baseline")
            step = _STRIP / (STEPS + 1)
            for number in range(STEPS + 1):
                sheet.bar(at + 0.26 + number * step, middle - 0.06, step * 1.02, 0.13, facecolor=heat_colour(number))
        elif key.kind in ("frame", "dashes"):
            _frame(sheet, at, middle - 0.075, 0.28, 0.16, is_sure=key.kind == "frame")
        elif key.kind == "unscored":
            sheet.bar(at, middle - 0.06, 0.28, 0.13, **_UNSCORED)
        sheet.text(at + key.sample, middle, key.text, size=SMALL, va="center_baseline")
        at += key.sample + text_width(key.text, SMALL) + 0.22


def _window(row: ModelRow) -> str:
    return "" if row.context_window is None else f"{row.context_window:,} tokens"


def _left_out(matrix: Matrix) -> str:
    """What the picture does not show, in words; empty if it shows all."""
    counts = ((MOST_MODELS, len(matrix.rows), "models"), (MOST_TOOLSETS, len(matrix.toolsets), "toolsets"))
    return " ".join(f"The first {most} of {count} {what}." for most, count, what in counts if count > most)


def _caption(matrix: Matrix, cells: Sequence[Sequence[HeatCell]], note: str) -> str:
    flat = [cell for line in cells for cell in line]
    sentences = [
        "Share of the scored trials in which the right tools were called, a line a model and a column a toolset."
    ]
    if any(cell.is_chosen for cell in flat):
        sentences.append(f"Framed: for toolbelt.yaml, sure: {choice_meaning(matrix)}.")
    if any(cell.is_unsure for cell in flat):
        sentences.append(f"Dashed: for toolbelt.yaml, not sure: {UNSURE_MEANING}.")
    if any(cell.is_chosen or cell.is_unsure for cell in flat):
        sentences.append(f"Small: {SMALL_MEANING}.")
    if any(cell.is_best for cell in flat):
        sentences.append("★: the model's best.")
    if any(cell.step is None for cell in flat):
        sentences.append("Hatched: no accuracy, for the reason given; it is not a score of 0.")
    for kind, meaning in OVERFLOW_MEANINGS.items():
        if any(cell.overflow_kind is kind for cell in flat):
            sentences.append(f"{kind.capitalize()}: {meaning}.")
    return " ".join([*sentences, note]).strip()
