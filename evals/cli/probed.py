"""What was found out of a run's models by probing them, shown beside the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from toolbelt.console.screen import show_view
from toolbelt.evals.probing.data import probe_data
from toolbelt.evals.probing.finding import probes_of_run
from toolbelt.evals.probing.probe import ProbeResult
from toolbelt.evals.report.probe_view import beside_view
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.summary.measures import RunSummary


def probed_beside(store: RunStore, summary: RunSummary) -> list[ProbeResult]:
    """The last probe of each model of a run, made where the run asked it; models that were not probed are left out."""
    return probes_of_run(store, (arm.model for arm in summary.arms), summary.settings.get("api_base"))


def probed_data(probes: Sequence[ProbeResult]) -> dict[str, Any]:
    """The key that they have in the run's JSON."""
    return {"probes": [probe_data(one) for one in probes]}


def show_probed(probes: Sequence[ProbeResult], screen: Console) -> None:
    """A line a model, beneath the table of the run; nothing where none was probed."""
    if probes:
        show_view("", screen)
        show_view(beside_view(probes), screen)
