"""The two parts of a split, as datasets of their own."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.evals.cases.case_file import open_lines, read_lines
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.cases.loadouts_file import LOADOUTS_FILE
from toolbelt.evals.cases.split import Part, Split
from toolbelt.findings import Finding, Severity
from toolbelt.stores.catalogs import CASES_FILE, CATALOG_FILES, write_catalog
from toolbelt.stores.files import make_way_for

_BESIDE = (*CATALOG_FILES, LOADOUTS_FILE)
_WORKPLACE = ".split."
"""How the name of a folder begins for what is not ready yet."""


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part that was written.

    Attributes:
        folder: Where; a dataset.
        digest: Of its cases and grading (rule E7).
        cases: How many.
        groups: How many that belong together.
        kinds: Cases by kind.
        drafts: Cases that no human has read yet.
    """

    folder: str
    digest: str
    cases: int
    groups: int
    kinds: Mapping[str, int]
    drafts: int


def write_split(
    dataset: Dataset,
    split: Split,
    folder: str,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Mapping[Part, WrittenPart]:
    """Write both parts, each a folder with its cases, the catalog and the loadouts beside them.

    Lines are copied byte for byte, in their order. Lines of excluded cases go to neither part. Nothing has its name
    before both parts were read again and found to hold the cases as they are in the whole.

    Args:
        dataset: As it was drawn from.
        split: Of the same dataset.
        folder: Gets a folder for each part.
        overwrite: Whether parts that are there may be replaced.
        progress: Called with the number of cases written so far.

    Raises:
        ToolbeltError: a part is there and may not be replaced, or would be read in another way on its own.
        InvalidFileError: the file was changed since it was opened.
        StorageError: the disk would not.
    """
    if Path(folder).exists() and Path(folder).samefile(Path(dataset.source).parent):
        raise ToolbeltError(f"{folder!r} is what is being split; name another folder.")
    for part in Part:
        target = Path(folder) / part
        if file := next((one for one in (Path(folder), target) if one.exists() and not one.is_dir()), None):
            raise ToolbeltError(f"{str(file)!r} is a file; name another folder.")
        for name in (CASES_FILE, *_BESIDE):
            make_way_for(target / name, overwrite=overwrite)
        if (target / CASES_FILE).exists() and (target / CASES_FILE).samefile(dataset.source):
            raise ToolbeltError(f"{str(target)!r} is what is being split; name another folder.")
    try:
        with _workplace(Path(folder)) as made:
            for part in Part:
                (made / part).mkdir()
                _copy_surroundings(dataset, made / part)
            _copy_cases(dataset, split, made, progress)
            written = {part: _look_again(dataset, split, made, Path(folder), part) for part in Part}
            for part in Part:
                _move(made / part, Path(folder) / part)
    except OSError as error:
        raise StorageError(f"Cannot write {folder!r}: {error.strerror or error}.") from None
    return written


@contextlib.contextmanager
def _workplace(folder: Path) -> Iterator[Path]:
    """A folder within `folder` for what is not ready; of `folder` itself nothing is left that was not there, or used.

    It is locked while it is in use, by a lock of the system, which ends with the process that holds it: what a kill
    left of an earlier one is known by having none.
    """
    from filelock import FileLock, Timeout

    new = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for left in folder.glob(f"{_WORKPLACE}*"):
            with contextlib.suppress(Timeout, OSError), FileLock(left / "lock", timeout=0):
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_WORKPLACE, dir=folder) as made, FileLock(Path(made) / "lock"):
            yield Path(made)
    finally:
        for one in new:
            with contextlib.suppress(OSError):  # there is something in it
                one.rmdir()


def _copy_surroundings(dataset: Dataset, target: Path) -> None:
    """The catalog under its own name, which tells how cases are written; the loadouts where they are beside."""
    beside = Path(dataset.source).parent
    own = next((name for name in CATALOG_FILES if (beside / name).is_file()), None)
    if own is None or dataset.catalog_is_fallback or not _is_own(dataset, beside / own):
        write_catalog(dataset.catalog_file.catalog, str(target / CATALOG_FILES[0]))
        return
    shutil.copyfile(beside / own, target / own)
    if (beside / LOADOUTS_FILE).is_file():
        shutil.copyfile(beside / LOADOUTS_FILE, target / LOADOUTS_FILE)


def _is_own(dataset: Dataset, file: Path) -> bool:
    source = Path(dataset.catalog_file.source)
    return source.exists() and source.samefile(file)


def _copy_cases(dataset: Dataset, split: Split, made: Path, progress: Callable[[int], None] | None) -> None:
    position = 0
    with (
        open_lines(dataset.source) as source,
        (made / Part.DEVELOPMENT / CASES_FILE).open("wb") as kept,
        (made / Part.HELD_OUT / CASES_FILE).open("wb") as held,
    ):
        for line in read_lines(source, dataset.source):
            if position == len(dataset) or line.number != dataset.line(position):
                continue  # an excluded case
            (held if split.parts[position] else kept).write(line.raw + b"\n")
            position += 1
            if progress is not None and position % 200 == 0:
                progress(position)
    if position != len(dataset):
        raise _changed(dataset)


def _look_again(dataset: Dataset, split: Split, made: Path, folder: Path, part: Part) -> WrittenPart:
    """Read a part as whoever runs it will, and hold each case against the one in the whole."""
    try:
        read = open_dataset(str(made / part))
    except InvalidFileError as error:
        raise _read_otherwise(part, str(error.findings[0].message)) from None
    try:
        positions = (position for position in range(len(dataset)) if split.part(position) is part)
        for mine, position in zip(range(len(read)), positions, strict=True):
            found, whole = read.case(mine), dataset.case(position)
            if found.id != whole.id:
                raise _changed(dataset)
            if found != whole:
                raise _read_otherwise(part, f"line {read.line(mine)} would mean something else.")
        return WrittenPart(str(folder / part), read.digest, len(read), split.groups[part], read.kinds, read.drafts)
    except ValueError:
        raise _read_otherwise(part, "not all of its cases would be read.") from None
    finally:
        read.close()


def _changed(dataset: Dataset) -> InvalidFileError:
    message = "This file was changed while it was in use; run the command again."
    return InvalidFileError([Finding("changed", Severity.ERROR, message, dataset.source)])


def _read_otherwise(part: Part, why: str) -> ToolbeltError:
    return ToolbeltError(
        f"The cases of {part} would be read in another way on their own than in the whole file: {why} "
        "Put the catalog beside the cases in the form that they came with, or bring the cases into one layout."
    )


def _move(made: Path, target: Path) -> None:
    """Give the files of a part their names, the cases last; a catalog of another form would be taken in their place."""
    target.mkdir(exist_ok=True)
    for name in _BESIDE:
        if (made / name).exists():
            (made / name).replace(target / name)
        else:
            (target / name).unlink(missing_ok=True)
    (made / CASES_FILE).replace(target / CASES_FILE)


def counts_by_kind(parts: Mapping[Part, WrittenPart]) -> Iterator[tuple[str, Mapping[Part, int]]]:
    """Every kind, with how many cases each part has of it."""
    for kind in dict.fromkeys(kind for written in parts.values() for kind in written.kinds):
        yield kind, {part: written.kinds.get(kind, 0) for part, written in parts.items()}
