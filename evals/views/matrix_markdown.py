"""Models × toolsets as Markdown; foreign names are escaped, so that they show as they are."""

from __future__ import annotations

import re

from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.matrix.recommendation import recommendation
from toolbelt.evals.views.markup import escaped, markdown_table
from toolbelt.evals.views.matrix_grid import (
    grid,
    legend_lines,
    marks,
    model_sentences,
    reason_lines,
    title_line,
)

_MOST_REASONS = 30
_TICKS = re.compile("`+")


def matrix_markdown(matrix: Matrix, *, level: int = 2) -> str:
    """Which toolset each model bears: the table, a sentence or two of each model, and YAML to paste.

    Args:
        matrix: With its picks.
        level: Of the heading, 1 to 6.
    """
    parts = [f"{'#' * level} Which toolset for which model", escaped(f"Run {matrix.run}, {title_line(matrix)}.")]
    if matrix.notes:
        parts.append(_listed(matrix.notes))
    parts.append(_table(matrix))
    if legend := list(legend_lines(matrix)):
        parts.append(escaped(f"{'; '.join(line.rstrip('.') for line in legend)}."))
    reasons = reason_lines(matrix)
    if len(reasons) > _MOST_REASONS:
        reasons = [*reasons[:_MOST_REASONS], f"… and {len(reasons) - _MOST_REASONS:,} more"]
    parts.append(_listed([*map(model_sentences, matrix.rows), *reasons]))
    yaml = recommendation(matrix)
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(yaml)), default=0))
    parts += ["For `toolbelt.yaml`:", f"{fence}yaml\n{yaml}{fence}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(matrix: Matrix) -> str:
    """Whichever are fewer stand above: a table that is too wide is hard to read on a page."""
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
