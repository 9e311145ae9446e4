"""Models × toolsets on the terminal and as Markdown: each model's accuracy with each toolset, and its recommended
toolset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.matrix.note_text import describe_matrix_notes
from toolbelt.evals.analysis.matrix.recommendation import recommendation
from toolbelt.evals.views.matrix_text import (
    HeatCell,
    grid,
    heat_colour,
    ink_on,
    legend_lines,
    marks,
    pick_reasons,
    pick_summary,
    reason_lines,
    short_legend,
    title_line,
)
from toolbelt.render.markdown import escaped, markdown_table
from toolbelt.text import plural, visible

_GAP = 2
_LEAST_LABEL = 14
_MOST_HEADING = 14
"""The greatest width of a name above a column, unless the cells below are wider."""
_SHORT = 10
"""Names up to this width are never broken."""
_MOST_REASONS = 12
_FAINT = "bright_black"
_BREAKS = re.compile(r"(?<=[:/])(?=.)|(?<= · )")
"""Characters after which a name may be broken."""


def matrix_view(matrix: Matrix, screen: Console, *, whole: bool = False) -> RenderableType:
    """Accuracies of models × toolsets, and the recommended toolset of each model in a line or two.

    Models are rows, or toolsets are where that takes fewer tables; a screen too narrow for all columns gets them in
    several tables below each other. No figure is ever cut.

    Args:
        matrix: With its picks.
        screen: Gives the width and the colours.
        whole: Whether to give all reasons: those of each choice, and why what was not scored was not.
    """
    parts: list[RenderableType] = [
        Text.assemble(("run ", _FAINT), (visible(matrix.run), "bold")),
        Text(visible(title_line(matrix))),
    ]
    if matrix.notes:
        parts += [Text(), *(Text(visible(note), "yellow") for note in describe_matrix_notes(matrix))]
    parts += [Text(), *_tables(matrix, screen.width)]
    legend = legend_lines(matrix) if whole else short_legend(matrix)
    parts += [Text(visible(line), _FAINT) for line in legend]
    if whole:
        parts += _reasons(matrix)
    parts.append(Text())
    for row in matrix.rows:
        style = "bold green" if row.pick.sure else "bold yellow"
        pick = visible(pick_reasons(row) if whole else pick_summary(row))
        parts.append(Text.assemble((visible(row.model), style), f": {pick}"))
    if not whole:
        parts.append(Text(f"more: toolbelt eval recommend {visible(matrix.run)}", _FAINT))
    return Group(*parts)


def _tables(matrix: Matrix, width: int) -> Iterator[RenderableType]:
    cells = grid(matrix)
    models = [visible(row.model) for row in matrix.rows]
    toolsets = [visible(toolset) for toolset in matrix.toolsets]
    upright = _Grid("model", models, toolsets, cells)
    if len(upright.blocks(width)) > 1:
        turned = _Grid("toolset", toolsets, models, [list(column) for column in zip(*cells, strict=True)])
        if len(turned.blocks(width)) < len(upright.blocks(width)):
            upright = turned
    for block in upright.blocks(width):
        yield upright.table(block, width)
        yield Text()


class _Grid:
    """Cells with names to their left and above.

    Args:
        corner: What the names to the left are of.
        labels: To the left, safe to show.
        headings: Above, safe to show.
        cells: A row a label, a column a heading.
    """

    def __init__(
        self, corner: str, labels: Sequence[str], headings: Sequence[str], cells: Sequence[Sequence[HeatCell]]
    ) -> None:
        self._corner, self._labels, self._cells = corner, labels, cells
        self._marks = max((len(marks(cell)) for row in cells for cell in row), default=0)
        self._headings: list[str] = []
        self._widths: list[int] = []
        for place, heading in enumerate(headings):
            below = max((self._cell_width(row[place]) for row in cells), default=0)
            whole = cell_len(heading) <= _SHORT
            above = min(cell_len(heading) if whole else max(map(cell_len, _BREAKS.split(heading))), _MOST_HEADING)
            self._widths.append(max(below, above))
            self._headings.append(_in_lines(heading, self._widths[-1]))

    def blocks(self, width: int) -> list[list[int]]:
        """Numbers of the columns of each table; at least one column, however narrow the screen."""
        groups: list[list[int]] = [[]]
        used = label = self._label_width(width)
        for place, wide in enumerate(self._widths):
            if groups[-1] and used + _GAP + wide > width:
                groups.append([])
                used = label
            groups[-1].append(place)
            used += _GAP + wide
        return groups

    def table(self, block: Sequence[int], width: int) -> Table:
        label_width = self._label_width(width)
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
        table.add_column(self._corner, width=label_width, overflow="fold", vertical="bottom")
        for place in block:
            table.add_column(
                self._headings[place], justify="right", overflow="fold", width=self._widths[place], vertical="bottom"
            )
        for label, row in zip(self._labels, self._cells, strict=True):
            is_high = any(row[place].overflow for place in block)
            cells = (self._cell(row[place], self._widths[place], is_high=is_high) for place in block)
            table.add_row(Text(_in_lines(label, label_width) + "\n" * is_high), *cells)
        return table

    def _cell(self, cell: HeatCell, width: int, *, is_high: bool) -> Text:
        text = Text(f"{cell.text}{marks(cell):<{self._marks}}".rjust(width), self._style(cell), no_wrap=True)
        if is_high:  # figures of a row stand in one line
            text.append("\n" + f"{cell.overflow}{' ' * self._marks}".rjust(width))
        return text

    def _style(self, cell: HeatCell) -> str:
        if cell.step is None:
            return _FAINT
        ground = heat_colour(cell.step)
        return f"{'bold ' if cell.is_chosen or cell.is_unsure else ''}{ink_on(ground)} on {ground}"

    def _cell_width(self, cell: HeatCell) -> int:
        return max(len(cell.text), len(cell.overflow)) + self._marks

    def _label_width(self, width: int) -> int:
        """As wide as the longest name if there is room; a longer one is folded, as half a name may be another's."""
        longest = max(map(cell_len, self._labels), default=0)
        beside = width - sum(_GAP + wide for wide in self._widths)
        available_width = max(_LEAST_LABEL, min(width // 3, width - _GAP - max(self._widths, default=0)), beside)
        return max(len(self._corner), min(longest, available_width))


def _in_lines(name: str, width: int) -> str:
    """A name broken at `_BREAKS`, as seldom as possible."""
    lines: list[str] = []
    for piece in _BREAKS.split(name):
        if lines and cell_len(lines[-1] + piece.rstrip()) <= width:
            lines[-1] += piece
        else:
            lines.append(piece)
    return "\n".join(line.rstrip() for line in lines)


def _reasons(matrix: Matrix) -> list[RenderableType]:
    lines = reason_lines(matrix)
    if not lines:
        return []
    shown: list[RenderableType] = [Text(visible(line), _FAINT) for line in lines[:_MOST_REASONS]]
    if len(lines) > _MOST_REASONS:
        shown.append(Text(f"… and {len(lines) - _MOST_REASONS:,} more (--json has all)", _FAINT))
    return [Text(), *shown]


def recommended_view(matrix: Matrix) -> RenderableType:
    """The entries for `toolbelt.yaml`. Their lines are for pasting, so they must never be folded, however long."""
    return Group(Text(), *_recommended(matrix))


def _recommended(matrix: Matrix) -> Iterator[RenderableType]:
    text = recommendation(matrix, evidence=False)
    chosen = sum(row.pick.choice is not None for row in matrix.rows)
    if not text:
        yield Text("There is nothing to be written into toolbelt.yaml.", "yellow")
        return
    of = "" if chosen == len(matrix.rows) else f", for {chosen:,} of {plural(len(matrix.rows), 'model')}"
    yield Text.assemble(("For toolbelt.yaml", "bold"), f"{of} (with its reasons: --yaml):")
    yield from map(Text, text.rstrip("\n").split("\n"))


_MOST_REASONS_MARKDOWN = 30
_TICKS = re.compile("`+")


def matrix_markdown(matrix: Matrix, *, level: int = 2) -> str:
    """The recommended toolset of each model: the table, a sentence or two for each model, and YAML to paste.

    Args:
        matrix: With its picks.
        level: Of the heading, 1 to 6.
    """
    parts = [f"{'#' * level} Which toolset for which model", escaped(f"Run {matrix.run}, {title_line(matrix)}.")]
    if matrix.notes:
        parts.append(_listed(describe_matrix_notes(matrix)))
    parts.append(_table(matrix))
    if legend := list(legend_lines(matrix)):
        parts.append(escaped(f"{'; '.join(line.rstrip('.') for line in legend)}."))
    reasons = reason_lines(matrix)
    if len(reasons) > _MOST_REASONS_MARKDOWN:
        reasons = [*reasons[:_MOST_REASONS_MARKDOWN], f"… and {len(reasons) - _MOST_REASONS_MARKDOWN:,} more"]
    parts.append(_listed([*(f"{row.model}: {pick_reasons(row)}" for row in matrix.rows), *reasons]))
    yaml = recommendation(matrix)
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(yaml)), default=0))
    parts += ["For `toolbelt.yaml`:", f"{fence}yaml\n{yaml}{fence}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(matrix: Matrix) -> str:
    """Models or toolsets, whichever are fewer, are the columns: a wide table is hard to read on a page."""
    models, toolsets, cells = [row.model for row in matrix.rows], list(matrix.toolsets), grid(matrix)
    corner, labels, headings = "model", models, toolsets
    if len(toolsets) > len(models):
        corner, labels, headings = "toolset", toolsets, models
        cells = [list(column) for column in zip(*cells, strict=True)]
    rows = []
    for label, row in zip(labels, cells, strict=True):
        shown = [f"{cell.text}{_spaced(marks(cell))}{_spaced(cell.overflow, ', ')}" for cell in row]
        rows.append([label, *shown])
    return markdown_table([corner, *headings], rows, right=range(1, len(headings) + 1))


def _spaced(text: str, sign: str = " ") -> str:
    return f"{sign}{text}" if text else ""


def _listed(lines: tuple[str, ...] | list[str]) -> str:
    return "\n".join(f"- {escaped(line)}" for line in lines)
