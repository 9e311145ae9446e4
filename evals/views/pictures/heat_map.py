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
    best_meaning,
    choice_meaning,
    heat_cell,
    heat_colour,
    ink_on,
)
from toolbelt.evals.views.matrix_text import in_lines as name_in_lines
from toolbelt.evals.views.pictures.canvas import (
    GREY,
    INK,
    NOTE_LINE,
    SIZE,
    SMALL,
    TITLE,
    Sheet,
    distinct,
    in_lines,
    text_width,
    widest,
)
from toolbelt.views.blocks import Picture

MOST_MODELS = 40
"""The most models in a picture; of more, it shows the first ones and says so."""
MOST_TOOLSETS = 60
_TITLE = "Accuracy by model and toolset"
_MOST_LETTERS, _MOST_ABOVE = 44, 64
"""Of a name beside the cells, and of one that is broken into lines above them."""
_MOST_HEADING = 20
"""Characters of a line above a column, if no piece of a name is longer."""
_WIDE, _HIGH, _GAP = 0.95, 0.44, 0.03
"""Size of a cell, in inches."""
_WIDEST = 8.0
"""Inches of all columns; above those that would take more, names are turned."""
_LINE, _LEGEND_LINE = 0.15, 0.25
_LEGEND = 7.4
"""Inches that the legend may take where the cells take less."""
_WHITE, _BLACK = "#fefefe", "#010101"
"""On cells that are dark here and light on a dark page, or the other way round: there each turns into the other."""
_TURN = 40.0
"""Degrees by which toolset names are turned if they are too long for their column."""
_FAR_COLUMNS, _FAR_ROWS = 14, 20
"""From where names stand on the other side too, as they would else be out of sight."""
_UNSCORED = {"facecolor": "#f4f4f4", "edgecolor": "#c4c4c4", "linewidth": 0, "hatch": "////"}
_DASHES = (0, (3, 1.6))
_STRIP = 1.6
_WORDS: Mapping[str, Any] = {"size": SMALL, "color": "#3d3d3d", "linespacing": 1.05}


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
    """The heat map; `None` where there is at most one model and one toolset, so that there is no choice.

    Models or toolsets, whichever are fewer, are the columns: a wide picture is shown small.
    """
    if len(matrix.rows) * len(matrix.toolsets) < 2:
        return None
    rows, toolsets = matrix.rows[:MOST_MODELS], matrix.toolsets[:MOST_TOOLSETS]
    are_models_columns = len(toolsets) > len(rows)
    models = distinct([row.model for row in rows], _MOST_ABOVE if are_models_columns else _MOST_LETTERS)
    cells = [[heat_cell(row, cell) for cell in row.cells[:MOST_TOOLSETS]] for row in rows]
    lines = [(name, _window(row)) for name, row in zip(models, rows, strict=True)]
    columns = [(name, "") for name in distinct(toolsets, _MOST_LETTERS)]
    if are_models_columns:
        lines, columns, cells = columns, lines, [list(column) for column in zip(*cells, strict=True)]
    note = _left_out(matrix)
    sheet = _draw(matrix, lines, columns, cells, note)
    return Picture(PICTURE, _TITLE, _caption(matrix, cells, note), *sheet.save(pngs=pngs))


def _draw(
    matrix: Matrix,
    lines: Sequence[tuple[str, str]],
    columns: Sequence[tuple[str, str]],
    cells: Sequence[Sequence[HeatCell]],
    note: str,
) -> Sheet:
    heads = [[*name_in_lines(name, _MOST_HEADING), *([window] if window else [])] for name, window in columns]
    wide = max(_WIDE, *(widest(head) + 0.14 for head in heads))
    is_turned = wide * len(heads) > _WIDEST
    if is_turned:
        wide, heads = _WIDE, [[name] for name, _ in columns]
    names = 0.22 + max(max(widest([name]), widest([window], SMALL)) for name, window in lines)
    # A turned name begins above the middle of its column and goes up to the right.
    reach = widest([line for head in heads for line in head])
    head = 0.14 + (reach * math.sin(math.radians(_TURN)) + 0.1 if is_turned else _LINE * max(map(len, heads)))
    beyond = widest(heads[-1]) * math.cos(math.radians(_TURN)) - wide / 2 + 0.1 if is_turned else 0.0
    is_wide, is_high = len(columns) > _FAR_COLUMNS, len(lines) > _FAR_ROWS
    cells_end = names + wide * len(columns)
    legend = _legend_lines(matrix, cells, max(cells_end, _LEGEND))
    above = head + 0.48 + _LEGEND_LINE * len(legend)
    right = max(names if is_wide else 0.12, beyond, max(_legend_width(line) for line in legend) - cells_end + 0.12)
    notes = in_lines(note, cells_end + right - 0.2, SMALL)
    below = (head if is_high else 0.1) + (NOTE_LINE * len(notes) + 0.07 if notes else 0.0)
    field = _Field(names, below, wide, len(columns), len(lines))
    sheet = Sheet(field.right + right, field.top + above)
    for number, (name, window) in enumerate(lines):
        _name_row(sheet, field, number, name, window, is_wide=is_wide)
    for number, texts in enumerate(heads):
        _name_column(sheet, field, number, texts, is_turned=is_turned, is_high=is_high)
    for y, line in enumerate(cells):
        for x, cell in enumerate(line):
            _draw_cell(sheet, field, y, x, cell)
    top = field.top + head
    sheet.text(0.1, sheet.height - 0.24, _TITLE, size=TITLE, weight="bold")
    for number, keys in enumerate(reversed(legend)):
        _draw_legend(sheet, keys, top + 0.25 + _LEGEND_LINE * number)
    sheet.note(notes)
    return sheet


def _name_row(sheet: Sheet, field: _Field, row: int, name: str, window: str, *, is_wide: bool) -> None:
    _, middle = field.middle(row, 0)
    for at, side in ((field.left - 0.1, "right"), (field.right + 0.1, "left"))[: 1 + is_wide]:
        sheet.text(at, middle + (0.075 if window else 0), name, ha=side, va="center_baseline")
        if window:
            sheet.text(at, middle - 0.09, window, ha=side, va="center_baseline", size=SMALL, color=GREY)


def _name_column(
    sheet: Sheet, field: _Field, column: int, texts: Sequence[str], *, is_turned: bool, is_high: bool
) -> None:
    across, _ = field.middle(0, column)
    if not is_turned:
        for at, side in ((field.top + 0.1, "bottom"), (field.bottom - 0.1, "top"))[: 1 + is_high]:
            sheet.text(across, at, "\n".join(texts), ha="center", va=side, linespacing=1.1)
        return
    how = {"rotation": _TURN, "rotation_mode": "anchor"}
    sheet.text(across, field.top + 0.08, texts[0], ha="left", va="center_baseline", **how)
    if is_high:
        sheet.text(across, field.bottom - 0.1, texts[0], ha="right", va="center_baseline", **how)


def _draw_cell(sheet: Sheet, field: _Field, row: int, column: int, cell: HeatCell) -> None:
    left, bottom = field.corner(row, column)
    wide, high = field.wide - _GAP, _HIGH - _GAP
    across, middle = field.middle(row, column)
    if cell.step is None:
        sheet.bar(left, bottom, wide, high, **_UNSCORED)
        behind = {"facecolor": _UNSCORED["facecolor"], "edgecolor": "none", "pad": 1.0}
        lines = in_lines(cell.text, wide - 0.1, SMALL)
        va = "center" if len(lines) > 1 else "center_baseline"
        sheet.text(across, middle, "\n".join(lines), ha="center", va=va, bbox=behind, **_WORDS)
        return
    colour = heat_colour(cell.step)
    ink = ink_on(colour)
    if ink != ink_on(heat_colour(STEPS - cell.step)):  # cells of the middle are as light on a dark page
        ink = _BLACK if ink == "#000000" else _WHITE
    sheet.bar(left, bottom, wide, high, facecolor=colour, linewidth=0)
    if cell.is_chosen or cell.is_unsure:
        _frame(sheet, left, bottom, wide, high, is_sure=cell.is_chosen)
    up = 0.075 if cell.overflow else 0.0
    weight = "bold" if cell.is_chosen or cell.is_unsure else "normal"
    text = f"{cell.text} best" if cell.is_best else cell.text
    sheet.text(across, middle + up, text, ha="center", va="center_baseline", size=SIZE, color=ink, weight=weight)
    if cell.overflow:
        sheet.text(across, middle - 0.09, cell.overflow, ha="center", va="center_baseline", size=SMALL, color=ink)


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
        return {"scale": _STRIP + 0.36, "best": 0.0}.get(self.kind, 0.36)


def _legend_lines(matrix: Matrix, cells: Sequence[Sequence[HeatCell]], wide: float) -> list[list[_Key]]:
    """The entries, as many side by side as so many inches hold."""
    flat = [cell for line in cells for cell in line]
    keys = [_Key("scale", "100%: accuracy")]
    if any(cell.step is None for cell in flat):
        keys.append(_Key("unscored", "no accuracy, for the reason given: not a score of 0"))
    if any(cell.is_chosen for cell in flat):
        keys.append(_Key("frame", f"for toolbelt.yaml, sure: {choice_meaning(matrix)}"))
    if any(cell.is_unsure for cell in flat):
        keys.append(_Key("dashes", f"for toolbelt.yaml, not sure: {UNSURE_MEANING}"))
    if any(cell.is_best for cell in flat):
        keys.append(_Key("best", best_meaning(matrix)))
    lines: list[list[_Key]] = [[]]
    for key in keys:
        if lines[-1] and _legend_width([*lines[-1], key]) > wide:
            lines.append([])
        lines[-1].append(key)
    return lines


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
    sentences = ["Share of the trials asked in which the right tools were called, of each model with each toolset."]
    if any(cell.is_chosen for cell in flat):
        sentences.append(f"Framed: for toolbelt.yaml, sure: {choice_meaning(matrix)}.")
    if any(cell.is_unsure for cell in flat):
        sentences.append(f"Dashed: for toolbelt.yaml, not sure: {UNSURE_MEANING}.")
    if any(cell.is_chosen or cell.is_unsure for cell in flat):
        sentences.append(f"Small: {SMALL_MEANING}.")
    if any(cell.is_best for cell in flat):
        sentences.append(f"{best_meaning(matrix).capitalize()}.")
    if any(cell.step is None for cell in flat):
        sentences.append("Hatched: no accuracy, for the reason given; it is not a score of 0.")
    for kind, meaning in OVERFLOW_MEANINGS.items():
        if any(cell.overflow_kind is kind for cell in flat):
            sentences.append(f"{kind.capitalize()}: {meaning}.")
    return " ".join([*sentences, note]).strip()
