"""What a run reports, shown on standard error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from toolbelt.evals.setup.reporting import NoteKind
from toolbelt.render.screen import notify, progress

if TYPE_CHECKING:
    from toolbelt.evals.running.client import Budget
    from toolbelt.evals.running.pace import Pace
    from toolbelt.evals.running.plan import Plan
    from toolbelt.evals.running.runner import RunWatcher
    from toolbelt.evals.running.store import RunStore
    from toolbelt.evals.setup.reporting import RunNote


class EvalConsoleReporter:
    """An `EvalReporter` for the command line."""

    def note(self, note: RunNote) -> None:
        """A line; a finding names its file, line and severity itself."""
        label = "" if note.kind is NoteKind.FINDING else "warning" if note.is_warning else "note"
        notify(note.text, label)

    def progress(self, label: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """A line that is rewritten, once the work takes over a second."""
        return progress(label, total)

    def watch(
        self, run: str, plan: Plan, store: RunStore, budget: Budget, paces: Sequence[Pace] = ()
    ) -> AbstractContextManager[RunWatcher]:
        """A table that is alive on a terminal, a line now and then elsewhere."""
        from toolbelt.evals.cli.watching import watch  # rich's live display, which reading a dataset does without

        return watch(plan, store.connection, run, budget, paces)
