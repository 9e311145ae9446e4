"""Every picture of a run."""

from __future__ import annotations

from collections.abc import Sequence

from toolbelt.evals.analysis.economics import ArmEconomics
from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.result import RunResult
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.views.pictures.bars import draw_accuracy, draw_tokens
from toolbelt.evals.views.pictures.canvas import own_settings
from toolbelt.evals.views.pictures.economics import draw_economics
from toolbelt.evals.views.pictures.heat_map import draw_heat_map
from toolbelt.evals.views.pictures.scaling import draw_scaling
from toolbelt.evals.views.pictures.tradeoff import draw_tradeoff
from toolbelt.views.blocks import Picture


def draw_pictures(
    summary: RunSummary,
    *,
    economics: Sequence[ArmEconomics] = (),
    matrix: Matrix | None = None,
    result: RunResult | None = None,
    pngs: bool = True,
) -> tuple[Picture, ...]:
    """The pictures that have something to show; the same summary gives the same bytes.

    Importing this takes about a second, as it brings matplotlib along.

    Args:
        summary: Of the run.
        economics: One an arm, in their order; without them there is no picture of what a solved case costs.
        matrix: The run as models × toolsets; without it, or of one model, there is no heat map.
        result: What the run comes to; without it no arrow leads to the arm to take.
        pngs: Whether they are wanted beside the SVGs; they take twice as long.
    """
    with own_settings():
        drawn = (
            # Of one model, bars say it better.
            None if matrix is None or len(matrix.rows) < 2 else draw_heat_map(matrix, pngs=pngs),
            draw_tradeoff(summary, result, pngs=pngs),
            draw_accuracy(summary, pngs=pngs),
            draw_tokens(summary, pngs=pngs),
            draw_economics(summary, economics, pngs=pngs),
            draw_scaling(summary, pngs=pngs),
        )
        return tuple(picture for picture in drawn if picture is not None)
