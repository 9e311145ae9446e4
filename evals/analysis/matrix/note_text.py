"""Notes of a matrix and reasons of its cells, in words."""

from __future__ import annotations

from typing import assert_never

from toolbelt.evals.analysis.comparison.reason_text import describe_cluster_sizes, describe_side_note
from toolbelt.evals.analysis.comparison.reasons import ClusterSizes, SideNote
from toolbelt.evals.analysis.matrix.cell import Cell, CellProblem, CellReason
from toolbelt.evals.analysis.matrix.matrix import FailedTrials, Matrix, MatrixNote, ShownVariants, UnassignableToolsets
from toolbelt.text import plural


def describe_matrix_notes(matrix: Matrix) -> list[str]:
    """What to know before anything is read from a matrix, a sentence each."""
    return [describe_matrix_note(note) for note in matrix.notes]


def describe_cell(cell: Cell) -> str:
    """Why a cell is not scored, or only in part, in sentences; empty if nothing is missing."""
    return " ".join(_describe_reason(reason, cell) for reason in cell.reasons)


def describe_matrix_note(note: MatrixNote) -> str:
    """What to know before anything is read from a matrix, a sentence."""
    match note:
        case SideNote():
            return describe_side_note(note)
        case UnassignableToolsets():
            return (
                f"toolbelt.yaml cannot name {', '.join(note.toolsets)} for a model, as that depends on the case: "
                "what it names is chosen from the others."
            )
        case ShownVariants():
            return "Variants are shown, and never chosen: they are experiments."
        case FailedTrials():
            failed = f"{note.errors:,} of {plural(note.planned, 'trial')}"
            return f"{failed} failed and are in no figure; again: toolbelt eval resume {note.run} --retry-errors."
        case ClusterSizes():
            return describe_cluster_sizes(note)
        case _:
            assert_never(note)


def _describe_reason(reason: CellReason, cell: Cell) -> str:
    trials = f"{reason.trials:,} of {plural(cell.planned, 'trial')}"
    match reason.problem:
        case CellProblem.TOO_LONG | CellProblem.TOO_MANY_TOOLS:
            what = "too long" if reason.problem is CellProblem.TOO_LONG else "with too many tools"
            turned_away = f", {cell.turned_away:,} of them not asked" if 0 < cell.turned_away < reason.trials else ""
            turned_away = " and not asked" if cell.turned_away == reason.trials else turned_away
            return _with_cause(f"{trials} {what} for the model{turned_away}", reason.cause)
        case CellProblem.FAILED:
            return _with_cause(f"{trials} failed", reason.cause)
        case CellProblem.NOT_RUN:
            return f"{trials} not run yet."
        case CellProblem.LEFT_OUT:
            return reason.cause
        case _:
            assert_never(reason.problem)


def _with_cause(what: str, cause: str) -> str:
    return f"{what}: {cause.rstrip('.')}." if cause else f"{what}."
