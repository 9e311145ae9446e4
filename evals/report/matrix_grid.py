"""What the cells of models × toolsets say in text: the terminal and Markdown alike."""

from __future__ import annotations

from collections.abc import Iterator

from toolbelt.console.text import plural
from toolbelt.evals.comparison.wording import format_margin
from toolbelt.evals.compatibility.matrix import CellState, Matrix, Row
from toolbelt.evals.report.heat_cells import PROMISING_MEANING, HeatCell, choice_meaning, heat_cell

MARKS = (("*", "is_chosen"), ("^", "is_best"), ("?", "is_promising"))
"""What is put behind a cell's figure, by what it is."""


def grid(matrix: Matrix) -> list[list[HeatCell]]:
    """A row a model, a column a toolset."""
    return [[heat_cell(row, cell) for cell in row.cells] for row in matrix.rows]


def marks(cell: HeatCell) -> str:
    """What is put behind its figure; a chosen one that is the best has both."""
    return "".join(mark for mark, name in MARKS if getattr(cell, name))


def title_line(matrix: Matrix) -> str:
    """What was asked of how many."""
    asked = f"{plural(len(matrix.rows), 'model')} × {plural(len(matrix.toolsets), 'toolset')}"
    epochs = f" × {plural(matrix.epochs, 'epoch')}" if matrix.epochs > 1 else ""
    return f"dataset {matrix.dataset}, catalog {matrix.catalog}: {plural(matrix.cases, 'case')}{epochs}, {asked}"


def legend_lines(matrix: Matrix) -> Iterator[str]:
    """What the marks mean that are there."""
    cells = [cell for row in grid(matrix) for cell in row]
    if any(cell.text.endswith("%") for cell in cells):
        yield "Figures are accuracies: right by names, of the trials that were scored."
    if any(cell.is_chosen for cell in cells):
        yield f"* chosen: {choice_meaning(matrix)}"
    if any(cell.is_best for cell in cells):
        yield "^ the best as measured"
    if any(cell.is_promising for cell in cells):
        yield (
            f"? promising: not worse than the best by more than {format_margin(matrix.margin)} points, "
            f"{PROMISING_MEANING}"
        )
    if any(cell.overflow for cell in cells):
        yield "too long: of its trials, that did not fit the model; they are in no accuracy"


def model_sentences(row: Row) -> str:
    """What is to be said of a model, its name in front."""
    return f"{row.model}: {' '.join(row.pick.reasons) or 'nothing is known.'}"


def reason_lines(matrix: Matrix) -> list[str]:
    """Why cells are not scored, or only in part; alike ones of one model together."""
    found = []
    for row in matrix.rows:
        toolsets: dict[tuple[CellState, str], list[str]] = {}
        for cell, shown in zip(row.cells, (heat_cell(row, one) for one in row.cells), strict=True):
            if cell is not None and cell.reason:
                told = "" if cell.state is CellState.SCORED or shown.overflow else f"{shown.text}: "
                toolsets.setdefault((cell.state, f"{told}{cell.reason}"), []).append(cell.toolset)
        found += [f"{row.model} with {', '.join(names)}: {why}" for (_, why), names in toolsets.items()]
    return found
