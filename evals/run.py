"""A run and its results: summary, trials, comparisons and report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.running.runner import RunEnd
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.evals.setup.reporting import RunNote

if TYPE_CHECKING:
    import pandas as pd

    from toolbelt.evals.analysis.comparison.comparison import Comparison
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun
    from toolbelt.evals.exports.run_report import Progress
    from toolbelt.providers.litellm_table import ModelTable


@dataclass(frozen=True, eq=False)
class Run:
    """A run in the store, after a session of it.

    Attributes:
        id: Its id.
        store: The file of runs.
        end: How the session ended: `finished`, or `incomplete` where something is left to be resumed.
        reason: Why it is incomplete; empty if it is finished.
        notes: What should be known of it.
        not_recorded: Trials left unscored by an offline execution, as a response of theirs was not recorded.
        models: Where prices are looked up for a report; litellm's table, without a cache, if `None`.
    """

    id: str
    store: Path
    end: RunEnd
    reason: str = ""
    notes: tuple[RunNote, ...] = ()
    not_recorded: int = 0
    models: ModelTable | None = None

    def __repr__(self) -> str:
        try:
            summary = self.summary
        except ToolbeltError:  # the file of runs was removed
            return f"<Run {self.id}: {self.end}>"
        reason = f" ({self.reason})" if self.reason else ""
        return f"<Run {self.id} of {summary.dataset}: {self.end}{reason}, {summary.outline}>"

    @property
    def summary(self) -> RunSummary:
        """The measures of each arm, as far as the run has come."""
        with self._open() as (store, row):
            return summarize(store.connection, row.run, store.find_status(row))

    @property
    def trials(self) -> pd.DataFrame:
        """The finished trials, one a row, as `load_run` gives them."""
        from toolbelt.evals.exports.loading import load_run  # pandas takes a second

        return load_run(self.id, store=self.store)

    def compare(
        self,
        old: Run | None = None,
        *,
        against: str | None = None,
        arms: str | Sequence[str] = (),
        margin: float | None = None,
        seed: int = 0,
    ) -> Comparison:
        """The arms of this run against each other, or against those of the same name in another run.

        Args:
            old: What the arms are compared with; with `None`, each arm is compared with one of its own model.
            against: The arm that all are compared with.
            arms: Only these.
            margin: Accuracy that may be lost, a fraction; 0.02 if `None`, or what the run was decided by.
            seed: Of what is drawn for intervals.

        Raises:
            NotFoundError: no arm has a name given.
            ToolbeltError: there is nothing to compare.
        """
        # numpy and scipy
        from toolbelt.evals.analysis.comparison.compare import compare_runs

        with self.open_side() as new, nullcontext() if old is None else old.open_side() as before:
            sides = (new, None) if before is None else (before, new)
            return compare_runs(
                *sides, against=against, arms=(arms,) if isinstance(arms, str) else arms, margin=margin, seed=seed
            )

    def report(self, folder: str | Path | None = None, *, progress: Progress | None = None) -> tuple[Path, ...]:
        """Write a page, Markdown, tables and pictures, as `toolbelt eval report` does.

        Args:
            folder: Where; `reports/ID` if `None`. It is made, with its parents.
            progress: Gets how far it is.

        Returns:
            The files, the page first.

        Raises:
            ToolbeltError: no trial has finished.
            StorageError: the disk would not.
        """
        from toolbelt.evals.exports.report import write_report  # matplotlib and pandas
        from toolbelt.evals.exports.run_report import ReportOptions, no_progress

        target = Path("reports") / self.id if folder is None else Path(folder)
        with self._open() as (store, row):
            return write_report(
                store, row, target, ReportOptions(models=self.models), progress=progress or no_progress
            ).files

    @contextmanager
    def _open(self) -> Iterator[tuple[RunStore, RunRow]]:
        with RunStore(self.store, must_exist=True) as store:
            yield store, store.get(self.id)

    @contextmanager
    def open_side(self) -> Iterator[StoredRun]:
        """The run case by case, as comparisons read it."""
        from toolbelt.evals.analysis.evidence.stored_run import StoredRun

        with self._open() as (store, row):
            yield StoredRun(store, row)
