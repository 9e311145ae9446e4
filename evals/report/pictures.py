"""Every picture of a run."""

from __future__ import annotations

from toolbelt.evals.report.bars import draw_accuracy, draw_tokens
from toolbelt.evals.report.canvas import own_settings
from toolbelt.evals.report.picture import Picture
from toolbelt.evals.report.scaling import draw_scaling
from toolbelt.evals.report.tradeoff import draw_tradeoff
from toolbelt.evals.summary.measures import RunSummary

_ALL = (draw_tradeoff, draw_accuracy, draw_tokens, draw_scaling)


def draw_pictures(summary: RunSummary) -> tuple[Picture, ...]:
    """Those for which there is something to show; the same bytes for the same summary.

    Importing this takes about a second, as it brings matplotlib along.
    """
    with own_settings():
        return tuple(picture for draw in _ALL if (picture := draw(summary)) is not None)
