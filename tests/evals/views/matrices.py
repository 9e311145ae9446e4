"""Matrices of models × toolsets, written by hand."""

from __future__ import annotations

from typing import Any

from toolbelt.evals.analysis.matrix.cell import Cell, CellProblem, CellReason, CellState
from toolbelt.evals.analysis.matrix.matrix import Candidate, FailedTrials, Matrix, ModelRow, Pick
from toolbelt.evals.analysis.matrix.pick_reasons import ConcreteToolset, NoBest, NothingMeasured, TooLongToolsets
from toolbelt.evals.analysis.summary.run_summary import Rate
from toolbelt.loadouts.fit import FitVerdict

TOOLSETS = ("full", "loadout:auto", "loadout:minimal", "loadout:developer", "tiered")


def scored(toolset: str, arm: int, right: int, of: int = 60, **changes: Any) -> Cell:
    """A cell with an accuracy, half of which is a wide interval; of all asked, what overflowed is not right."""
    share = right / of
    asked = of + changes.get("overflowed", 0)
    values: dict[str, Any] = {
        "right_of_asked": Rate(right, asked, max(0.0, right / asked - 0.1), min(1.0, right / asked + 0.1)),
        "planned": of,
        "scored": of,
        "tools": 12.0,
        "definition_tokens": 1234.0,
        "definition_tokens_total": 1300.0,
        "share": 0.15,
        "state": CellState.SCORED,
    }
    accuracy = Rate(right, of, max(0.0, share - 0.1), min(1.0, share + 0.1))
    return Cell(toolset, arm=arm, verdict=FitVerdict.FITS, accuracy=accuracy, **values | changes)


def left_out(cause: str) -> tuple[CellReason, ...]:
    """A reason of a cell in these words."""
    return (CellReason(CellProblem.LEFT_OUT, cause=cause),)


def small_matrix() -> Matrix:
    """Three models over five toolsets, with every state there is."""
    roomy = (
        scored("full", 0, 51, tools=150.0, definition_tokens=21000.0),
        scored("loadout:auto", 1, 50),
        scored("loadout:minimal", 2, 50, tools=4.0, definition_tokens=400.0),
        scored("loadout:developer", 3, 20),
        scored("tiered", 4, 0),
    )
    tight = (
        Cell("full", CellState.CANNOT_FIT, 5, FitVerdict.REFUSES, planned=60, overflowed=60, tools=150.0,
             definition_tokens=21000.0, share=2.6,
             reasons=left_out("21,000 tokens of definitions leave no room in 8,192.")),
        scored("loadout:auto", 6, 42),
        scored("loadout:minimal", 7, 30, 40, state=CellState.PARTLY, planned=60, overflowed=20,
               reasons=left_out("20 of 60 trials were too long.")),
        Cell("loadout:developer", CellState.UNSCORED, 8, FitVerdict.FITS, planned=60, errors=60,
             reasons=left_out("All 60 failed.")),
        None,
    )  # fmt: skip
    deaf = tuple(
        Cell(toolset, CellState.NO_CHOICE if toolset == "loadout:auto" else CellState.UNSUPPORTED,
             verdict=FitVerdict.UNSUPPORTED, reasons=left_out("It calls no tools."))
        for toolset in TOOLSETS
    )  # fmt: skip
    return Matrix(
        "20260301-120000-abcd", "assistant", "assistant", 60, 0.02, TOOLSETS,
        (
            ModelRow("openai/gpt-5-mini", roomy, Pick(
                "openai/gpt-5-mini", best=0, choice=2, sure=True, toolset="loadout:minimal",
                candidates=(Candidate(2), Candidate(0)),
                reasons=(ConcreteToolset("loadout:auto", "loadout:minimal"),),
            ), 272_000),
            ModelRow("ollama/qwen3:4b", tight, Pick(
                "ollama/qwen3:4b", best=7, choice=7, sure=True, toolset="loadout:minimal",
                candidates=(Candidate(7), Candidate(6)), reasons=(TooLongToolsets((("full", 60),)),),
            ), 8_192),
            ModelRow("local/deaf", deaf, Pick("local/deaf", reasons=(NoBest(NothingMeasured.NO_TOOL_CALLING),))),
        ),
        notes=(FailedTrials(3, 60, "20260301-120000-abcd"),),
    )  # fmt: skip


def big_matrix(models: int, toolsets: int) -> Matrix:
    """Accuracies in a pattern; the toolset with the number of the model's is chosen, the last is best."""
    labels = tuple(f"loadout:team-{number:02}-of-the-catalog" if number % 5 else f"search:k={number}"
                   for number in range(toolsets))  # fmt: skip
    rows = []
    for y in range(models):
        cells = [
            scored(label, y * toolsets + x, (x * 60 // max(1, toolsets - 1) + 7 * y) % 61)
            if (x + y) % 7
            else Cell(label, CellState.CANNOT_FIT, y * toolsets + x, FitVerdict.REFUSES, planned=60, overflowed=60)
            for x, label in enumerate(labels)
        ]
        places = [x for x in range(toolsets) if cells[x].state is CellState.SCORED]
        best = max(places, key=lambda x: cells[x].accuracy.value or 0, default=None)
        model = f"provider-{y % 4}/model-number-{y}-instruct"
        choice = places[y % len(places)] if places else None
        picked = [None if x is None else y * toolsets + x for x in (best, choice)]
        rows.append(
            ModelRow(
                model,
                tuple(cells),
                Pick(
                    model,
                    best=picked[0],
                    choice=picked[1],
                    sure=y % 3 > 0,
                    reasons=(NoBest(NothingMeasured.NOTHING_SCORED),),
                ),
                8192 * (1 + y % 3),
            )
        )
    return Matrix("r", "d", "c", 60, 0.02, labels, tuple(rows))
