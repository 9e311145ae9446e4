"""The files of a report, each replaced as a whole."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from toolbelt.console.text import json_text
from toolbelt.errors import StorageError
from toolbelt.evals.report.markdown import report_markdown
from toolbelt.evals.summary.summarize import at_one_moment, summarize, summary_data
from toolbelt.stores.files import write_text


def write_report(
    connection: sqlite3.Connection,
    run: str,
    folder: Path,
    advance: Callable[[int], object] | None = None,
    status: str | None = None,
) -> tuple[Path, ...]:
    """Write a run's report: Markdown, JSON, CSV of arms and trials, pictures as SVG and PNG.

    Args:
        connection: To the file of runs.
        run: Its id.
        folder: Made if need be; files of these names in it are replaced one by one, others left alone.
        advance: Told how many trials are written.
        status: What to tell instead of the status kept, as `summarize` takes it.

    Returns:
        What was written, the Markdown first.

    Raises:
        NotFoundError: there is no such run.
        StorageError: the disk would not; no file is left half-written.
    """
    # pandas and matplotlib take seconds to import, and most commands need neither.
    from toolbelt.evals.report.frames import write_arms_csv, write_trials_csv
    from toolbelt.evals.report.pictures import draw_pictures

    arms, trials, data, report = (folder / name for name in ("arms.csv", "trials.csv", "summary.json", "report.md"))
    with at_one_moment(connection):
        summary = summarize(connection, run, status)
        _make_folder(folder)
        with replacing(trials, "w") as file:
            write_trials_csv(connection, run, file, advance=advance)
    with replacing(arms, "w") as file:
        write_arms_csv(summary, file)
    write_text(data, json_text(summary_data(summary)) + "\n")
    pictures = draw_pictures(summary)
    drawn: list[Path] = []
    for picture in pictures:
        for ending, content in (("svg", picture.svg), ("png", picture.png)):
            drawn.append(folder / f"{picture.name}.{ending}")
            with replacing(drawn[-1], "wb") as file:
                file.write(content)
    write_text(report, report_markdown(summary, pictures))
    return (report, data, arms, trials, *drawn)


@contextlib.contextmanager
def replacing(path: Path, mode: str) -> Iterator[IO[Any]]:
    """A file to write to that takes the place of `path` at the end, if nothing fails meanwhile.

    Args:
        path: What is to be replaced, or made.
        mode: `w` for text in UTF-8, `wb` for bytes.

    Raises:
        StorageError: the disk would not; what was there is untouched.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise _refused(path, error) from None
    temporary = Path(name)
    try:
        how: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
        with os.fdopen(handle, mode, **how) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(folder, error) from None


def _refused(path: Path, error: OSError) -> StorageError:
    return StorageError(f"Cannot write {str(path)!r}: {error.strerror or error}.")
