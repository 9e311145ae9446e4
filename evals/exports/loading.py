"""Loads a run's trials for notebooks, from a store, a report or a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.running.run_names import LATEST, is_file_name
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore, find_store
from toolbelt.evals.views.columns import make_about
from toolbelt.evals.views.frames import load_trials, read_trials_csv, read_trials_parquet
from toolbelt.sources import refuse_special
from toolbelt.stores.sqlite_files import is_sqlite_file

if TYPE_CHECKING:
    import pandas as pd

_TRIALS = ("trials.parquet", "trials.csv")
_SUMMARY = "summary.json"
_ENDINGS = (".db", ".sqlite", ".parquet", ".csv")
_PARQUET = b"PAR1"


def load_run(run: str | Path = LATEST, *, store: str | Path | None = None) -> pd.DataFrame:
    """The finished trials of a run, one a row, as a `pandas.DataFrame`.

    The columns, with types and units, are those of `docs/data.md`; the frame is the same wherever the run is read from.
    `frame.attrs` has `schema` (name and version of the columns), `run`, `dataset` and `digest` (of its cases and their
    grading); the latter two are empty for a `trials.csv` without its `summary.json` beside it, which does not say.

    Example:
        >>> from toolbelt.evals import load_run, run_eval
        >>> run = run_eval("assistant", toolsets=["full", "oracle"], limit=20)
        >>> load_run(run.id).groupby("toolset").size().to_dict()
        {'full': 20, 'oracle': 20}

    Args:
        run: A run of the store: its id, the beginning of one, or `latest`. Or a path: of a file of runs, whose latest
            is read; of a report's folder; of a `trials.parquet` or `trials.csv`. `~` is the home folder. Where a run
            has the name of a file, it is the run; the file is `./NAME`.
        store: The file of runs; `TOOLBELT_STORE`, else `.toolbelt/runs.db`, if `None`.

    Raises:
        NotFoundError: there is no such run or file, with the nearest names (also a `LookupError`).
        ToolbeltError: several runs begin so; or the file holds no trials, or those of another version.
        StorageError: it cannot be read.
    """
    if store is None and (isinstance(run, Path) or is_file_name(run, _ENDINGS)):
        return _load_path(_at_home(run))
    try:
        return _load_stored(find_store(store), str(run))
    except NotFoundError:
        if store is None and os.path.exists(run):  # noqa: PTH110   as among reports, whose folders are called as their runs
            return _load_path(Path(run))
        raise


def _at_home(path: str | Path) -> Path:
    """Expands `~` as a shell does: in a notebook no shell does it."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  pathlib's fails where there is no such user


def _load_stored(path: Path, name: str) -> pd.DataFrame:
    with RunStore(path, must_exist=True) as opened:
        row = opened.get(name)
        frame = load_trials(opened.connection, row.run)
    frame.attrs = make_about(row.run, row.plan.dataset_name, row.plan.digest)
    return frame


def _load_path(path: Path) -> pd.DataFrame:
    if path.is_dir():
        return _load_folder(path)
    if not path.exists():
        folder = path.parent
        raise NotFoundError("file", str(path), _beside(folder.iterdir() if folder.is_dir() else ()))
    try:
        refuse_special(path)
        begin = b""
        if not (is_store := is_sqlite_file(path)):
            with path.open("rb") as file:
                begin = file.read(len(_PARQUET))
    except OSError as error:
        raise ToolbeltError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None
    if is_store:
        return _load_stored(path, LATEST)
    if begin == _PARQUET:
        return read_trials_parquet(path)
    frame = read_trials_csv(path)
    frame.attrs = _about_csv(path, str(frame["run"].iloc[0]) if len(frame) else "")
    return frame


def _load_folder(folder: Path) -> pd.DataFrame:
    for name in _TRIALS:
        if (folder / name).is_file():
            return _load_path(folder / name)
    inside = {path.parent for name in _TRIALS for path in folder.glob(f"*/{name}")}
    inside |= {path for name in (f"*{DEFAULT_FILE.suffix}", f"*/{DEFAULT_FILE.name}") for path in folder.glob(name)}
    hint = "" if inside else f"It holds neither {' nor '.join(_TRIALS)}; write them with: toolbelt eval report"
    raise NotFoundError("report in the folder", str(folder), _beside(inside), hint)


def _beside(paths: Iterable[Path]) -> list[str]:
    return sorted(map(str, paths))[:1000]


def _about_csv(path: Path, run: str) -> dict[str, str]:
    """What the report's `summary.json` beside the file says, if it is of the same run."""
    try:
        data: Any = json.loads(path.with_name(_SUMMARY).read_text(encoding="utf-8"))
        stored, dataset = data["run"], data["dataset"]
        if run in ("", stored):
            return make_about(str(stored), str(dataset["name"]), str(dataset["digest"]))
    except (OSError, ValueError, LookupError, TypeError):
        pass  # the file of trials stands for itself
    return make_about(run, "", "")
