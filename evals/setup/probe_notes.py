"""Notes about probes that contradict the known facts of a run's models."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.errors import ToolbeltError
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.project.project import Project

if TYPE_CHECKING:
    from toolbelt.evals.probing.learned_facts import News


def note_probes(store: Path, plan: Plan, project: Project, reporter: EvalReporter) -> None:
    """One note for each model of a plan whose probe, at the same address, contradicts what is known of it.

    A probe changes nothing about a run: its facts come from the project and the tables, so that a run on another
    machine is the same. A store that does not exist is not created.

    Args:
        store: The file with probes, if it exists. If it cannot be read, the run itself reports that.
        plan: Of the run that is about to begin.
        project: Where facts of models are.
        reporter: Gets the notes.
    """
    if not store.exists():
        return
    from toolbelt.evals.probing.learned_facts import find_news
    from toolbelt.evals.probing.selection import probes_of_run
    from toolbelt.evals.probing.wording import shown_day
    from toolbelt.evals.running.store import RunStore

    try:
        with RunStore(store, must_exist=True) as opened:
            probes = probes_of_run(opened, (arm.model for arm in plan.arms), plan.api_base)
    except ToolbeltError:
        return
    for probe in probes:
        if contradictions := tuple(_describe_contradictions(find_news(probe, project.facts(probe.model)))):
            where = f" at {probe.api_base}" if probe.api_base else ""
            named = shlex.join(("toolbelt", "model", "probes", probe.model, *_store_arguments(store)))
            text = (
                f"{probe.model}: its probe of {shown_day(probe.created)}{where} disagrees with the facts that this "
                f"run uses: {'; '.join(contradictions)}. To use those of the probe, write them under `models` in "
                f"toolbelt.yaml; the entry: {named}"
            )
            reporter.note(RunNote(NoteKind.PROBE, text, (probe.model,)))


def _store_arguments(store: Path) -> tuple[str, ...]:
    from toolbelt.evals.running.store import DEFAULT_FILE

    return () if store == DEFAULT_FILE else ("--store", str(store))


def _describe_contradictions(news: Iterable[News]) -> Iterable[str]:
    """The facts of a probe that affect which tools a model gets."""
    for fact in news:
        known = f" (known: {fact.known:,})" if isinstance(fact.known, int) else ""
        if fact.key == "tool_calling" and fact.seen is False:
            yield "its API takes no tools"
        elif fact.key == "context_window" and (fact.known is None or fact.seen < fact.known):
            yield f"its window is {fact.seen:,} tokens{known or ' (known: nothing)'}"
        elif fact.key == "max_tools":
            how = f"; {fact.note}" if fact.note else ""
            yield f"a request may hold {fact.seen:,} tools{known or ' (known: nothing)'}{how}"
