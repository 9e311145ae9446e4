"""What the cells of models × toolsets say in text: the terminal and Markdown alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from toolbelt.evals.analysis.matrix.matrix import CellState, Matrix, Row
from toolbelt.evals.analysis.matrix.pick_text import format_accuracy
from toolbelt.evals.views.heat_cells import (
    SMALL_MEANING,
    TOO_LONG,
    TOO_MANY,
    UNSURE_MEANING,
    HeatCell,
    choice_meaning,
    heat_cell,
)
from toolbelt.text import plural

MARKS = (("*", "is_chosen"), ("?", "is_unsure"), ("^", "is_best"))
"""What is put behind a cell's figure, by what it is."""
_NUMBERS = re.compile(r"\d+(?:,\d{3})*")


def grid(matrix: Matrix) -> list[list[HeatCell]]:
    """A row a model, a column a toolset."""
    return [[heat_cell(row, cell) for cell in row.cells] for row in matrix.rows]


def marks(cell: HeatCell) -> str:
    """What is put behind its figure; what is given and is the best has both."""
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
        yield f"* to be given, sure: {choice_meaning(matrix)}"
    if any(cell.is_unsure for cell in cells):
        yield f"? to be given, not sure: {UNSURE_MEANING}"
    if any(cell.is_chosen or cell.is_unsure for cell in cells):
        yield f"small: {SMALL_MEANING}"
    if any(cell.is_best for cell in cells):
        yield "^ the best as measured"
    if any(cell.overflow.endswith(TOO_LONG) for cell in cells):
        yield "too long: of its trials, that did not fit the model; they are in no accuracy"
    if any(cell.overflow.endswith(TOO_MANY) for cell in cells):
        yield "too many: of its trials, that held more tools than a request may; they are in no accuracy"


def short_legend(matrix: Matrix) -> Iterator[str]:
    """The same in three lines at most, of 110 characters or less."""
    cells = [cell for row in grid(matrix) for cell in row]
    signs = []
    if any(cell.text.endswith("%") for cell in cells):
        signs.append("% right by names, of the trials scored")
    if any(cell.is_best for cell in cells):
        signs.append("^ the best as measured")
    if any(cell.overflow for cell in cells):
        signs.append("too long, too many tools: in no figure")
    if signs:
        yield "; ".join(signs)
    given = [sign for sign, name in (("* sure", "is_chosen"), ("? not sure", "is_unsure"))
             if any(getattr(cell, name) for cell in cells)]  # fmt: skip
    if given:
        yield f"{', '.join(given)}: to be given, {choice_meaning(matrix)}, else the best"
        yield f"small: {SMALL_MEANING}"


def model_sentences(row: Row) -> str:
    """What is to be said of a model, its name in front."""
    return f"{row.model}: {' '.join(row.pick.reasons) or 'nothing is known.'}"


def short_sentences(row: Row) -> str:
    """The same in a line or two: what it is to be given and how good that is, or why it is given nothing."""
    pick = row.pick
    if pick.choice is None:
        return f"{row.model}: nothing. {pick.reasons[0] if pick.reasons else 'Nothing is known.'}"
    rates = {cell.arm: cell for cell in row.cells if cell is not None and cell.arm is not None}
    chosen, best = rates[pick.choice], None if pick.best is None else rates[pick.best]
    told = f"{row.model}: {pick.toolset}, {format_accuracy(chosen.accuracy)}"
    if best is None or best is chosen:
        told += ", the best" if pick.sure else ", the best as measured"
    else:
        told += f" against {format_accuracy(best.accuracy)} of the best, {best.toolset}"
    if pick.sure:
        return f"{told}; sure."
    more = f" with fewer than {_about(pick.cases_wanted):,} cases" if pick.cases_wanted is not None else ""
    return f"{told}; not sure{more}."


def _about(cases: int) -> int:
    """Rounded up to two digits, as advice is."""
    unit = int(10 ** max(0, len(str(cases)) - 2))
    return -(-cases // unit) * unit


def reason_lines(matrix: Matrix) -> list[str]:
    """Why cells are not scored, or only in part; alike ones of one model together."""
    found = []
    for row in matrix.rows:
        alike: dict[tuple[CellState, str], list[tuple[str, str]]] = {}
        for cell, shown in zip(row.cells, (heat_cell(row, one) for one in row.cells), strict=True):
            if cell is not None and cell.reason:
                told = "" if cell.state is CellState.SCORED or shown.overflow else f"{shown.text}: "
                # Of what was not even asked the words are our own, and differ by figures alone.
                is_own = not cell.errors and 0 < cell.turned_away == cell.overflowed
                key = _NUMBERS.sub("0", cell.reason) if is_own else cell.reason
                alike.setdefault((cell.state, key), []).append((cell.toolset, f"{told}{cell.reason}"))
        for group in alike.values():
            names = ", ".join(toolset for toolset, _ in group)
            found.append(f"{row.model} with {names}: {_in_one([why for _, why in group])}")
    return found


def _in_one(sentences: Sequence[str]) -> str:
    """Sentences that differ by their numbers alone in one, with ranges: `6,370 to 37,596 tokens`."""
    places = iter(zip(*(_NUMBERS.findall(sentence) for sentence in sentences), strict=True))

    def told(_: re.Match[str]) -> str:
        found = sorted(next(places), key=_size)
        return found[0] if found[0] == found[-1] else f"{found[0]} to {found[-1]}"

    return _NUMBERS.sub(told, sentences[0])


def _size(number: str) -> int:
    return int(number.replace(",", ""))
