"""Shows the results of a run, at its end and in `toolbelt eval show`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from toolbelt.evals.analysis.comparison.comparison import Comparison, Measure
from toolbelt.evals.analysis.matrix.candidates import has_choice
from toolbelt.evals.analysis.result import find_result
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import summary_data
from toolbelt.evals.probing.results import probe_data
from toolbelt.evals.probing.selection import StandingProbe, standing_probes
from toolbelt.evals.running.notes import read_notes
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.toolsets.suites import COMPATIBILITY
from toolbelt.evals.views.probes import beside_view
from toolbelt.evals.views.result_data import describe_result
from toolbelt.evals.views.run import result_view, run_view
from toolbelt.render.screen import print_json, progress, show_blocks
from toolbelt.views.blocks import Note
from toolbelt.views.cells import Tone
from toolbelt.views.json_values import to_json

if TYPE_CHECKING:
    from toolbelt.evals.analysis.matrix.matrix import Matrix


def show_run(store: RunStore, summary: RunSummary, *, as_json: bool, details: bool) -> None:
    """Print a run: its arms, which toolset goes with which model if that is its suite, what was probed, the result.

    Args:
        store: With the run.
        summary: Of the run.
        as_json: Whether to print one JSON document.
        details: Whether to show every measure of the arms.
    """
    is_suite = summary.suite == COMPATIBILITY
    matrix = _compare_toolsets(store, summary) if is_suite or has_choice(summary) else None
    probes = _probed_beside(store, summary)
    comparison = _compare_arms(store, summary)
    if as_json:
        result = {"result": to_json(describe_result(find_result(summary, comparison, matrix)))}
        print_json(
            {**summary_data(summary), **result, **_probed_data(probes), **_matrix_data(matrix if is_suite else None)}
        )
        return
    notes = read_notes(store.connection, summary.run)
    lines = [Note(f"note{f' on {case}' if case else ''}: {text}", Tone.WARNING) for case, text in notes.items()]
    show_blocks([*lines, *run_view(summary, comparison, details=details)])
    if matrix is not None and is_suite:
        _show_matrix(matrix)
    _show_probed(probes)
    show_blocks([Note(""), *result_view(summary, comparison, matrix)])


_RESULT_MEASURES = (Measure.ACCURACY, Measure.SOLVED, Measure.PROMPT_TOKENS, Measure.COST_USD)
"""Both shares, so that verdicts are those of `toolbelt eval compare`; of the amounts, those that the result names."""


def _compare_arms(store: RunStore, summary: RunSummary) -> Comparison | None:
    """The arms compared with each other, by the run's own margin if it has one; `None` of fewer than two."""
    if sum(bool(arm.scored) for arm in summary.arms) < 2:
        return None
    # numpy and scipy
    from toolbelt.evals.analysis.comparison.compare import compare_arms
    from toolbelt.evals.analysis.comparison.pairing import pair_by_model
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun

    side = StoredRun(store, store.get(summary.run))
    pairing = pair_by_model(side)
    with progress("comparing arms", len(pairing.pairs)) as advance:
        return compare_arms(side, side, pairing, measures=_RESULT_MEASURES, advance=advance)


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


def _show_matrix(matrix: Matrix) -> None:
    from toolbelt.evals.views.matrix import matrix_view, recommended_view

    heading, entries = recommended_view(matrix)
    show_blocks([Note(""), *matrix_view(matrix), Note(""), heading])
    click.echo(entries, nl=False)


def _probed_beside(store: RunStore, summary: RunSummary) -> list[StandingProbe]:
    """The probe that stands for each model of a run, made where the run asked it; others are left out."""
    return standing_probes(store, (arm.asked_as or arm.model for arm in summary.arms), summary.settings.get("api_base"))


def _probed_data(probes: Sequence[StandingProbe]) -> dict[str, Any]:
    """Their key in the run's JSON."""
    return {"probes": [probe_data(probe.result) for probe in probes]}


def _show_probed(probes: Sequence[StandingProbe]) -> None:
    """Show a line for each probed model below the table of the run, and a line for each later unfinished probe."""
    if probes:
        later = [probe.later for probe in probes if probe.later]
        show_blocks([Note(""), *beside_view([probe.result for probe in probes], later)])
