"""The formats in which a run is exported, one file each; each is a row of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import read_snapshot, summarize
from toolbelt.evals.exports.run_report import Progress, ReportOptions, RunReport, analyze_run
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.evals.viewer.packing import MOST_TRIALS
from toolbelt.evals.views.columns import about_arms, about_trials
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.text import json_text

TABLES = ("trials", "arms")
"""What the rows of a table may be, the default first."""


@dataclass(frozen=True, slots=True)
class ExportJob:
    """What is to be written.

    Attributes:
        store: The file of runs.
        row: The run.
        table: One of `TABLES`.
        models: Where prices are looked up.
        progress: Called with the step that it is at.
    """

    store: RunStore
    row: RunRow
    table: str
    models: ModelTable | None
    progress: Progress

    def analyze_run(self) -> RunReport:
        """All findings of the run."""
        return analyze_run(self.store, self.row, ReportOptions(models=self.models), progress=self.progress)

    def summarize(self) -> RunSummary:
        """The run's measures alone."""
        return summarize(self.store.connection, self.row.run, self.store.find_status(self.row))


@dataclass(frozen=True, slots=True)
class Form:
    """A form.

    Attributes:
        endings: Of files' names, the usual one first.
        write: Writes to a file, opened for text or bytes.
        is_binary: Whether it is bytes, and not for a terminal.
        is_table: Whether it has rows, which may be of trials or of arms.
    """

    endings: tuple[str, ...]
    write: Callable[[ExportJob, IO[Any]], None]
    is_binary: bool = False
    is_table: bool = False


def find_form(name: str | None, output: str | None) -> str:
    """The form by its name, else by the file's ending, else JSON.

    Raises:
        ToolbeltError: the ending is of none, with those there are.
    """
    if name is not None:
        return name
    if output in (None, "-"):
        return "json"
    ending = Path(str(output)).suffix.lower()
    for form, row in FORMS.items():
        if ending in row.endings:
            return form
    endings = ", ".join(ending for row in FORMS.values() for ending in row.endings)
    raise ToolbeltError(
        f"The name {output!r} does not say in which form to write: say it with --format, or let it end in {endings}."
    )


def _write_json(job: ExportJob, file: IO[Any]) -> None:
    file.write(json_text(job.analyze_run().data) + "\n")


def _write_csv(job: ExportJob, file: IO[Any]) -> None:
    from toolbelt.evals.views.frames import write_arms_csv, write_trials

    if job.table == "arms":
        write_arms_csv(job.summarize(), file)
        return
    with job.progress("writing trials", job.row.finished) as advance:
        write_trials(job.store.connection, job.row.run, file, advance=advance)


def _write_parquet(job: ExportJob, file: IO[Any]) -> None:
    from toolbelt.evals.views.frames import write_arms_parquet, write_trials

    summary = job.summarize()
    if job.table == "arms":
        write_arms_parquet(summary, file, about_arms(summary))
        return
    with job.progress("writing trials", job.row.finished) as advance:
        about = about_trials(summary)
        write_trials(job.store.connection, summary.run, None, file, about=about, advance=advance)


def _write_junit(job: ExportJob, file: IO[Any]) -> None:
    from toolbelt.evals.views.junit import write_run_junit

    with job.progress("writing tests", job.row.finished) as advance:
        write_run_junit(job.store.connection, job.row.run, file, advance)


def _write_markdown(job: ExportJob, file: IO[Any]) -> None:
    file.write(job.analyze_run().markdown())


def _write_html(job: ExportJob, file: IO[Any]) -> None:
    findings = job.analyze_run()
    pictures = findings.draw(pngs=False)
    with job.progress("writing the page", min(job.row.finished, MOST_TRIALS)) as advance:
        findings.write_page(job.store.connection, file, pictures, advance)


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "json": Form((".json",), _write_json),
        "csv": Form((".csv",), _write_csv, is_table=True),
        "parquet": Form((".parquet", ".pq"), _write_parquet, is_binary=True, is_table=True),
        "junit": Form((".xml",), _write_junit),
        "markdown": Form((".md", ".markdown"), _write_markdown),
        "html": Form((".html", ".htm"), _write_html),
    }
)
"""Every form by its name."""


def export_run(
    store: RunStore,
    row: RunRow,
    form: str,
    file: IO[Any],
    *,
    table: str,
    models: ModelTable | None,
    progress: Progress,
) -> None:
    """Write a run in one form, whether finished or not; all data are of one moment.

    Args:
        store: The file of runs.
        row: The run.
        form: One of `FORMS`.
        file: Opened for text, with line ends as they are written, or for bytes, as the form is.
        table: One of `TABLES`, for a form that is one.
        models: Where prices are looked up; litellm's table, without a cache, if `None`.
        progress: Called with the step that it is at.

    Raises:
        ToolbeltError: no trial of the run has finished.
    """
    with read_snapshot(store.connection):
        FORMS[form].write(ExportJob(store, row, table, models, progress), file)
