"""The matrix of models × toolsets as JSON."""

from __future__ import annotations

from typing import Any

from toolbelt.evals.analysis.comparison.comparison import Contrast
from toolbelt.evals.analysis.comparison.reason_text import describe_reason
from toolbelt.evals.analysis.matrix.cell import Cell
from toolbelt.evals.analysis.matrix.matrix import Candidate, Matrix, ModelRow, Pick
from toolbelt.evals.analysis.matrix.note_text import describe_cell, describe_matrix_notes
from toolbelt.evals.analysis.matrix.pick_text import describe_pick
from toolbelt.evals.analysis.matrix.recommendation import recommendation
from toolbelt.views.json_values import to_json

SCHEMA = "toolbelt.compatibility/1"


def matrix_data(matrix: Matrix) -> dict[str, Any]:
    """What `toolbelt eval recommend --json` prints.

    Shares and their differences are fractions, tokens means over trials; `null` where something is not known. `models`
    has an entry a model, with a cell for each of the `toolsets`, in their order: `null` where the run has no such pair.
    An arm is named by its 0-based position among the run's `arm`s and its `toolset`. `difference` and its bounds are
    those of a candidate less the best, at the pick's `level`, and under `rivals` of the best less the rival, at 95%.
    `idle` are those with which the model hardly ever called a right tool.
    `recommendation` is YAML.
    """
    return {
        "schema": SCHEMA,
        "run": matrix.run,
        "created": matrix.created,
        "dataset": matrix.dataset,
        "catalog": matrix.catalog,
        "cases": matrix.cases,
        "epochs": matrix.epochs,
        "margin": matrix.margin,
        "notes": describe_matrix_notes(matrix),
        "toolsets": list(matrix.toolsets),
        "models": [_row(row) for row in matrix.rows],
        "recommendation": recommendation(matrix),
    }


def _row(row: ModelRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "asked_as": row.asked_as,
        "context_window": row.context_window,
        "cells": [None if cell is None else _cell(cell) for cell in row.cells],
        "pick": _pick(row.pick, {cell.arm: cell.toolset for cell in row.cells if cell and cell.arm is not None}),
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "toolset": cell.toolset,
        "state": cell.state.value,
        "arm": cell.arm,
        "verdict": None if cell.verdict is None else cell.verdict.value,
        "accuracy": to_json(cell.accuracy),
        "right_of_asked": to_json(cell.right_of_asked),
        "planned": cell.planned,
        "scored": cell.scored,
        "overflowed": cell.overflowed,
        "turned_away": cell.turned_away,
        "errors": cell.errors,
        "tools": cell.tools,
        "definition_tokens": cell.definition_tokens,
        "definition_tokens_total": cell.definition_tokens_total,
        "share": cell.share,
        "too_many_tools": cell.too_many_tools,
        "reason": describe_cell(cell),
    }


def _pick(pick: Pick, toolsets: dict[int, str]) -> dict[str, Any]:
    def arm(place: int | None) -> dict[str, Any] | None:
        return None if place is None else {"arm": place, "toolset": toolsets[place]}

    return {
        "toolset": pick.toolset or None,
        "choice": arm(pick.choice),
        "sure": pick.sure,
        "best": arm(pick.best),
        "promising": arm(pick.promising),
        "cases_wanted": pick.cases_wanted,
        "level": pick.level,
        "candidates": [_candidate(candidate, toolsets) for candidate in pick.candidates],
        "rivals": [_candidate(candidate, toolsets) for candidate in pick.rivals],
        "idle": [arm(place) for place in pick.never_calls],
        "reasons": list(describe_pick(pick)),
    }


def _candidate(candidate: Candidate, toolsets: dict[int, str]) -> dict[str, Any]:
    figures = _contrast(candidate.contrast) if candidate.contrast is not None else None
    return {
        "arm": candidate.arm,
        "toolset": toolsets[candidate.arm],
        "holds": candidate.holds,
        "overflowing": candidate.overflowing,
        "contrast": figures,
    }


def _contrast(contrast: Contrast) -> dict[str, Any]:
    return {
        "difference": contrast.difference,
        "low": contrast.low,
        "high": contrast.high,
        "p_value": contrast.p_value,
        "adjusted_p": contrast.adjusted_p,
        "verdict": None if contrast.verdict is None else contrast.verdict.value,
        "cases": contrast.cases,
        "clusters": contrast.clusters,
        "planned": contrast.planned,
        "unanswered": contrast.unanswered,
        "method": contrast.method or None,
        "reasons": [describe_reason(reason) for reason in contrast.reasons],
    }
