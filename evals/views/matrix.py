"""Models × toolsets as views: each model's accuracy with each toolset, and its recommended toolset."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.matrix.note_text import describe_matrix_notes
from toolbelt.evals.analysis.matrix.recommendation import recommendation
from toolbelt.evals.views.matrix_text import (
    HeatCell,
    cell_word,
    exception,
    grid,
    heat_colour,
    in_lines,
    ink_on,
    legend_lines,
    pick_reasons,
    pick_summary,
    reason_lines,
    title_line,
)
from toolbelt.render.markdown import render_markdown
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Heading, Line, Listing, Note
from toolbelt.views.cells import Shaded, Span, Tone
from toolbelt.views.table import Column, Row, Table

_MOST_HEADING = 14
"""Characters of a name above a column; a longer one is broken into lines."""
_MOST_REASONS = 12


def matrix_view(matrix: Matrix, *, whole: bool = False, most_reasons: int = _MOST_REASONS) -> Iterator[Block]:
    """Accuracies of models × toolsets, and the recommended toolset of each model in a line or two.

    Args:
        matrix: With its picks.
        whole: Whether to give all reasons: those of each choice, and why what was not scored was not.
        most_reasons: Of the latter; the rest is counted.
    """
    yield Heading("Which toolset for which model", level=2)
    yield Note(f"Run {matrix.run}, {title_line(matrix)}.")
    if matrix.notes:
        yield Listing(tuple(Span(note, Tone.WARNING) for note in describe_matrix_notes(matrix)))
    yield matrix_table(matrix)
    if (legend := legend_note(matrix)) is not None:
        yield legend
    picks = (Span(f"{row.model}: {pick_reasons(row) if whole else pick_summary(row, matrix)}") for row in matrix.rows)
    yield Listing(tuple(picks))
    if not whole:
        yield Note(f"more: toolbelt eval recommend {matrix.run}", Tone.FAINT)
    elif reasons := reason_lines(matrix):
        more = len(reasons) - most_reasons
        cut = [f"… and {more:,} more (--json has all)"] if more > 0 else []
        yield Listing(tuple(Span(line, Tone.FAINT) for line in [*reasons[:most_reasons], *cut]))


def legend_note(matrix: Matrix) -> Note | None:
    """The meanings of the words in the table; `None` where there are none to explain."""
    lines = [line.rstrip(".") for line in legend_lines(matrix)]
    return Note(f"{'; '.join(lines)}.", Tone.FAINT) if lines else None


def matrix_table(matrix: Matrix) -> Table:
    """Models or toolsets, whichever are fewer, are the columns: a wide table is hard to read."""
    models, toolsets, cells = [row.model for row in matrix.rows], list(matrix.toolsets), grid(matrix)
    corner, labels, headings = "model", models, toolsets
    if len(toolsets) > len(models):
        corner, labels, headings = "toolset", toolsets, models
        cells = [list(column) for column in zip(*cells, strict=True)]
    columns = tuple(Column(heading, short="\n".join(in_lines(heading, _MOST_HEADING))) for heading in headings)
    rows = tuple(Row(label, tuple(map(_shaded, row))) for label, row in zip(labels, cells, strict=True))
    return Table(corner, columns, rows, name="matrix", caption="Accuracy by model and toolset")


def _shaded(cell: HeatCell) -> Shaded:
    word = cell_word(cell)
    text = f"{word} {cell.text}" if word else cell.text
    text = f"{text}, {cell.overflow}" if cell.overflow else text
    if cell.step is None:
        return Shaded(text)
    ground = heat_colour(cell.step)
    return Shaded(text, ink_on(ground), ground, is_strong=cell.is_chosen or cell.is_unsure)


def recommended_view(matrix: Matrix) -> tuple[Block, str]:
    """What stands above the entries for `toolbelt.yaml`, and these: they are for pasting, and so never folded."""
    text = recommendation(matrix, evidence=False)
    if not text:
        return Note("There is nothing to be written into toolbelt.yaml.", Tone.WARNING), ""
    chosen = sum(row.pick.choice is not None for row in matrix.rows)
    of = "" if chosen == len(matrix.rows) else f", for {chosen:,} of {plural(len(matrix.rows), 'model')}"
    heading = (Span("For toolbelt.yaml", Tone.STRONG), Span(f"{of}{exception(matrix)} (its reasons: --details):"))
    return Line(heading), text


_MOST_REASONS_MARKDOWN = 30
_TICKS = re.compile("`+")


def matrix_markdown(matrix: Matrix) -> str:
    """The recommended toolset of each model: the table, a sentence or two for each model, and YAML to paste."""
    view = render_markdown(matrix_view(matrix, whole=True, most_reasons=_MOST_REASONS_MARKDOWN), level=1)
    yaml = recommendation(matrix)
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(yaml)), default=0))
    return f"{view}\n\nFor `toolbelt.yaml`{exception(matrix)}:\n\n{fence}yaml\n{yaml}{fence}\n"
