"""A run's report: a folder of files, none of which is replaced before all are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolbelt.console.text import json_text
from toolbelt.evals.analysis.summary.summarize import read_snapshot
from toolbelt.evals.exports.about import about_trials
from toolbelt.evals.exports.findings import Findings, Wanted, find_out
from toolbelt.evals.exports.progress import Progress, untold
from toolbelt.evals.exports.writing import replacing_all
from toolbelt.evals.running.store import RunRow, RunStore


@dataclass(frozen=True, slots=True)
class Report:
    """What was reported.

    Attributes:
        findings: What is said of the run.
        files: Those written, the page first.
    """

    findings: Findings
    files: tuple[Path, ...]


def write_report(
    store: RunStore, row: RunRow, folder: Path, wanted: Wanted | None = None, *, progress: Progress = untold
) -> Report:
    """Write a run's report: a page, Markdown, JSON, JUnit XML, CSV and Parquet, pictures as SVG and PNG.

    Args:
        store: The file of runs.
        row: The run; it may be going on: all files are of one moment.
        folder: Made if need be; files of these names in it are replaced when all are written, others left alone.
        wanted: What is to be said beyond the measures of each arm.
        progress: Told how far it is.

    Raises:
        ToolbeltError: no trial of the run has finished; or a folder or device stands where a file is to be.
        NotFoundError: no model or arm has a name given.
        StorageError: the disk would not; it says whether anything was changed.
    """
    # pandas takes a second to import, and most commands do without.
    from toolbelt.evals.views.frames import write_arms_csv, write_trials
    from toolbelt.evals.views.junit import write_run_junit

    connection, run, trials = store.connection, row.run, row.finished
    with read_snapshot(connection), replacing_all(folder) as opened:
        findings = find_out(store, row, wanted, progress=progress)
        pictures = findings.draw()
        with opened("report.html", "w") as file, progress("writing the page", trials) as advance:
            findings.write_page(connection, file, pictures, advance)
        with opened("report.md", "w") as file:
            file.write(findings.markdown(pictures))
        with opened("summary.json", "w") as file:
            file.write(json_text(findings.data) + "\n")
        with opened("junit.xml", "w") as file, progress("writing tests", trials) as advance:
            write_run_junit(connection, run, file, advance)
        with opened("arms.csv", "w") as file:
            write_arms_csv(findings.summary, file)
        with (
            opened("trials.csv", "w") as csv,
            opened("trials.parquet", "wb") as parquet,
            progress("writing trials", trials) as advance,
        ):
            about = about_trials(findings.summary)
            write_trials(connection, run, csv, parquet, about=about, advance=advance)
        for picture in pictures:
            for ending, content in (("svg", picture.svg), ("png", picture.png)):
                with opened(f"{picture.name}.{ending}", "wb") as file:
                    file.write(content)
    names = ["report.html", "report.md", "summary.json", "junit.xml", "arms.csv", "trials.csv", "trials.parquet"]
    names += [f"{picture.name}.{ending}" for picture in pictures for ending in ("svg", "png")]
    return Report(findings, tuple(folder / name for name in names))
