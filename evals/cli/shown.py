"""What a run came to, as it is shown at its end and whenever it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolbelt.console.screen import make_screen, print_json, progress, show_blocks, show_view
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import summary_data
from toolbelt.evals.cli.run_probes import probed_beside, probed_data, show_probed
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.toolsets.suites import COMPATIBILITY
from toolbelt.evals.views.run import run_view

if TYPE_CHECKING:
    from rich.console import Console

    from toolbelt.evals.analysis.matrix.matrix import Matrix


def show_run(store: RunStore, summary: RunSummary, *, as_json: bool) -> None:
    """Print a run: its arms, which toolset goes with which model if that is its suite, and what was probed.

    Args:
        store: Where it is kept.
        summary: What it came to.
        as_json: Whether to print one JSON document.
    """
    matrix = _compare_toolsets(store, summary) if summary.suite == COMPATIBILITY else None
    probes = probed_beside(store, summary)
    if as_json:
        print_json({**summary_data(summary), **probed_data(probes), **_matrix_data(matrix)})
        return
    screen = make_screen()
    show_blocks(run_view(summary))
    if matrix is not None:
        _show_matrix(matrix, screen)
    show_probed(probes, screen)


def _compare_toolsets(store: RunStore, summary: RunSummary) -> Matrix:
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun
    from toolbelt.evals.analysis.matrix.build_matrix import (
        build_matrix,  # the statistics, where there is something to compare
    )
    from toolbelt.evals.analysis.matrix.recommendation import models_at

    row = store.get(summary.run)
    with progress("comparing toolsets", None) as advance:
        return build_matrix(summary, StoredRun(store, row), own_models=models_at(row.plan.config), advance=advance)


def _matrix_data(matrix: Matrix | None) -> dict[str, Any]:
    if matrix is None:
        return {}
    from toolbelt.evals.analysis.matrix.matrix_json import matrix_data

    return {"compatibility": matrix_data(matrix)}


def _show_matrix(matrix: Matrix, screen: Console) -> None:
    from toolbelt.evals.views.matrix import matrix_view, recommended_view

    show_view("", screen)
    show_view(matrix_view(matrix, screen), screen)
    show_view(recommended_view(matrix), screen, whole_lines=True)
