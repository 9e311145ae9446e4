"""Probes of a run's models: what contradicts the known facts before the run, and a line a model beside its result."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from toolbelt.console.screen import notify, show_view
from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.probing.learned import News, find_news
from toolbelt.evals.probing.results import probe_data
from toolbelt.evals.probing.selection import Picked, picked_of_run, probes_of_run
from toolbelt.evals.probing.wording import shown_day
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore
from toolbelt.evals.views.probes import beside_view
from toolbelt.project.workspace import Workspace


def probed_beside(store: RunStore, summary: RunSummary) -> list[Picked]:
    """The probe that stands for each model of a run, made where the run asked it; others are left out."""
    return picked_of_run(store, (arm.model for arm in summary.arms), summary.settings.get("api_base"))


def probed_data(probes: Sequence[Picked]) -> dict[str, Any]:
    """The key that they have in the run's JSON."""
    return {"probes": [probe_data(one.result) for one in probes]}


def show_probed(probes: Sequence[Picked], screen: Console) -> None:
    """A line a model, beneath the table of the run, and one for what was begun later; nothing where none was probed."""
    if probes:
        show_view("", screen)
        show_view(beside_view([one.result for one in probes], [one.later for one in probes if one.later]), screen)


def warn_contradicted_facts(store: Path, plan: Plan, workspace: Workspace) -> None:
    """Notify, once for each model of a plan, where its probe at the same place contradicts the known facts.

    A probe changes nothing of a run: the known facts are those of the project and the tables, so that a run on another
    machine does the same. A store that is not there is not made.

    Args:
        store: Where probes are kept, if they are; a file that cannot be read is for the run to refuse.
        plan: Of the run that is about to begin.
        workspace: Where facts of models are.
    """
    if not store.exists():
        return
    try:
        with RunStore(store, must_exist=True) as opened:
            probes = probes_of_run(opened, (arm.model for arm in plan.arms), plan.api_base)
    except ToolbeltError:
        return
    for probe in probes:
        if contradictions := tuple(_describe_contradictions(find_news(probe, workspace.facts(probe.model)))):
            where = f" at {probe.api_base}" if probe.api_base else ""
            command = shlex.join(("toolbelt", "model", "probes", probe.model, *_store_arguments(store)))
            notify(
                f"{probe.model}: its probe of {shown_day(probe.created)}{where} says otherwise than what is known, by "
                f"which this run goes: {'; '.join(contradictions)}. To go by the probe, say so under `models` in "
                f"toolbelt.yaml; the entry: {command}"
            )


def _store_arguments(store: Path) -> tuple[str, ...]:
    return () if store == DEFAULT_FILE else ("--store", str(store))


def _describe_contradictions(news: Iterable[News]) -> Iterable[str]:
    """What of it makes a difference to which tools a model is sent."""
    for one in news:
        known = f" (known: {one.known:,})" if isinstance(one.known, int) else ""
        if one.key == "tool_calling" and one.seen is False:
            yield "its API takes no tools"
        elif one.key == "context_window" and (one.known is None or one.seen < one.known):
            yield f"its window is {one.seen:,} tokens{known or ' (known: nothing)'}"
        elif one.key == "max_tools":
            how = f"; {one.note}" if one.note else ""
            yield f"a request may hold {one.seen:,} tools{known or ' (known: nothing)'}{how}"
