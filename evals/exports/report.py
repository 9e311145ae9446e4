"""The folder of a run's report: all files are written to a temporary folder and moved into place together."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.analysis.summary.summarize import read_snapshot
from toolbelt.evals.exports.run_report import Progress, ReportOptions, RunReport, analyze_run, no_progress
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.evals.viewer.packing import MOST_TRIALS
from toolbelt.evals.views.columns import about_trials
from toolbelt.stores.files import StagedFile
from toolbelt.text import json_text

if TYPE_CHECKING:
    from filelock import FileLock


@dataclass(frozen=True, slots=True)
class Report:
    """What was reported.

    Attributes:
        findings: What is known of the run.
        files: Those written, the page first.
    """

    findings: RunReport
    files: tuple[Path, ...]


def write_report(
    store: RunStore,
    row: RunRow,
    folder: Path,
    options: ReportOptions | None = None,
    *,
    progress: Progress = no_progress,
) -> Report:
    """Write a run's report: a page, Markdown, JSON, JUnit XML, CSV and Parquet, pictures as SVG and PNG.

    Args:
        store: The file of runs.
        row: The run; it may be going on: all files are of one moment.
        folder: Made if need be; files of these names in it are replaced when all are written, others left alone.
        options: What is to be said beyond the measures of each arm.
        progress: Called with the step that it is at.

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
        findings = analyze_run(store, row, options, progress=progress)
        pictures = findings.draw()
        with opened("report.html", "w") as file, progress("writing the page", min(trials, MOST_TRIALS)) as advance:
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
            for name, content in picture.files.items():
                with opened(name, "wb") as file:
                    file.write(content)
    names = ["report.html", "report.md", "summary.json", "junit.xml", "arms.csv", "trials.csv", "trials.parquet"]
    names += [name for picture in pictures for name in picture.files]
    return Report(findings, tuple(folder / name for name in names))


Open = Callable[[str, str], contextlib.AbstractContextManager[IO[Any]]]
"""Opens a file by its name and mode: `w` for text in UTF-8 with line ends as they are written, `wb` for bytes."""
_STAGE = ".writing-"
_LOCK = "lock"
"""A file in the temporary folder whose lock ends with its process: without one, a killed process left the folder."""
_ABANDONED_SECONDS = 86_400
"""After this time no process writes in a folder without the file any more."""


@contextlib.contextmanager
def replacing_all(folder: Path) -> Iterator[Open]:
    """Writes files of a folder, which appear there together at the end, if nothing fails before.

    Each is replaced as a whole, and none before all of them are written. They are moved one after the other: should a
    move fail, those before it are new, and the error says how many.

    Args:
        folder: Made if need be; other files in it are left alone. Links in it are followed.

    Yields:
        A function to open each by its name.

    Raises:
        ToolbeltError: where a file is to be, there is a folder, or a device.
        StorageError: the disk would not; no new folder is left behind.
    """
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        stage, lock = _make_stage(folder)
        files: dict[str, StagedFile] = {}
        try:
            yield lambda name, mode: _staged(stage, folder, files, name, mode)
            for moved, file in enumerate(files.values()):
                changed = f"{moved} of {len(files)} files have been replaced" if moved else "Nothing was changed"
                file.take_place(after=f"{changed}.")
        finally:
            for file in files.values():
                file.discard()
            lock.release()
            shutil.rmtree(stage, ignore_errors=True)
    except BaseException:
        for parent in missing:
            with contextlib.suppress(OSError):
                parent.rmdir()
        raise


def _make_stage(folder: Path) -> tuple[Path, FileLock]:
    """A folder in `folder` for what is being written, and the lock on it."""
    from filelock import FileLock  # only who writes a report pays for it

    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear_abandoned(folder)
        stage = Path(tempfile.mkdtemp(prefix=_STAGE, suffix=".tmp", dir=folder))
        lock = FileLock(stage / _LOCK)
        lock.acquire()
    except OSError as error:
        raise StorageError(f"Cannot write {str(folder)!r}: {error.strerror or error}. Nothing was changed.") from None
    return stage, lock


def _clear_abandoned(folder: Path) -> None:
    """Remove what a killed process left behind, in this folder and in those of other runs beside it."""
    from filelock import FileLock, Timeout

    name = f"{_STAGE}*.tmp"
    for left in (*folder.glob(name), *folder.parent.glob(f"*/{name}")):
        with contextlib.suppress(OSError, Timeout):
            if (left / _LOCK).exists():
                with FileLock(left / _LOCK, timeout=0):
                    shutil.rmtree(left, ignore_errors=True)
            elif time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def _staged(stage: Path, folder: Path, files: dict[str, StagedFile], name: str, mode: str) -> Iterator[IO[Any]]:
    path = folder / name
    if path.exists() and not path.is_file():  # which would be found only when the files before it are in their places
        raise ToolbeltError(f"{str(path)!r} is {'a folder' if path.is_dir() else 'no plain file'}; move it away.")
    # A link may lead to another disk, from which nothing can be moved here as a whole: its file is written over there.
    is_here = os.path.realpath(path.parent) == os.path.dirname(os.path.realpath(path))  # noqa: PTH120  texts
    staged = StagedFile(path, stage if is_here else None)
    try:
        with staged.open(mode) as file:
            yield file
    except BaseException:
        staged.discard()
        raise
    files[name] = staged
