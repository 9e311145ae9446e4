"""The probes of a run's models, a line a model beside its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from toolbelt.console.screen import show_view
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.probing.results import probe_data
from toolbelt.evals.probing.selection import StandingProbe, standing_probes
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.views.probes import beside_view


def probed_beside(store: RunStore, summary: RunSummary) -> list[StandingProbe]:
    """The probe that stands for each model of a run, made where the run asked it; others are left out."""
    return standing_probes(store, (arm.model for arm in summary.arms), summary.settings.get("api_base"))


def probed_data(probes: Sequence[StandingProbe]) -> dict[str, Any]:
    """The key that they have in the run's JSON."""
    return {"probes": [probe_data(probe.result) for probe in probes]}


def show_probed(probes: Sequence[StandingProbe], screen: Console) -> None:
    """A line a model, beneath the table of the run, and one for what was begun later; nothing where none was probed."""
    if probes:
        show_view("", screen)
        show_view(
            beside_view([probe.result for probe in probes], [probe.later for probe in probes if probe.later]), screen
        )
