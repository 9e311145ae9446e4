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
from toolbelt.evals.cases.split import Split, SplitSide
from toolbelt.findings import Finding, Severity
from toolbelt.stores.catalogs import CASES_FILE, CATALOG_FILES, write_catalog
from toolbelt.stores.files import make_way_for

_BESIDE = (*CATALOG_FILES, LOADOUTS_FILE)
_WORKPLACE = ".split."
"""Beginning of the name of a folder whose files are not complete yet."""


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part that was written.

    Attributes:
        folder: Of the part, which is a dataset.
        digest: Of its cases and grading (rule E7).
        cases: Number of cases.
        groups: Number of groups.
        kinds: Number of cases by kind.
        drafts: Number of cases that nobody has reviewed yet.
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
) -> Mapping[SplitSide, WrittenPart]:
    """Write both parts, each a folder with its cases, the catalog and the loadouts beside them.

    Lines are copied byte for byte, in their order. Lines of excluded cases go to neither part. Files get their final
    names only after both parts were read again and each case was found equal to that of the whole dataset.

    Args:
        dataset: The dataset that was split.
        split: Of this dataset.
        folder: Gets a folder for each part.
        overwrite: Whether existing parts may be replaced.
        progress: Called with the number of cases written so far.

    Raises:
        ToolbeltError: a part exists and may not be replaced, or its cases would have another meaning on their own.
        InvalidFileError: the file was changed since it was opened.
        StorageError: the disk would not.
    """
    if Path(folder).exists() and Path(folder).samefile(Path(dataset.source).parent):
        raise ToolbeltError(f"{folder!r} is what is being split; name another folder.")
    for part in SplitSide:
        target = Path(folder) / part
        if file := next((path for path in (Path(folder), target) if path.exists() and not path.is_dir()), None):
            raise ToolbeltError(f"{str(file)!r} is a file; name another folder.")
        for name in (CASES_FILE, *_BESIDE):
            make_way_for(target / name, overwrite=overwrite)
        if (target / CASES_FILE).exists() and (target / CASES_FILE).samefile(dataset.source):
            raise ToolbeltError(f"{str(target)!r} is what is being split; name another folder.")
    try:
        with _workplace(Path(folder)) as staging:
            for part in SplitSide:
                (staging / part).mkdir()
                _copy_surroundings(dataset, staging / part)
            _copy_cases(dataset, split, staging, progress)
            written = {part: _verify_part(dataset, split, staging, Path(folder), part) for part in SplitSide}
            for part in SplitSide:
                _move(staging / part, Path(folder) / part)
    except OSError as error:
        raise StorageError(f"Cannot write {folder!r}: {error.strerror or error}.") from None
    return written


@contextlib.contextmanager
def _workplace(folder: Path) -> Iterator[Path]:
    """A temporary folder within `folder`; afterwards, folders that this created and that are empty are removed.

    A lock of the operating system, which ends with its process, protects the temporary folder while it is in use. A
    temporary folder without a lock was left by a killed process, and is removed.
    """
    from filelock import FileLock, Timeout

    new = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for left in folder.glob(f"{_WORKPLACE}*"):
            with contextlib.suppress(Timeout, OSError), FileLock(left / "lock", timeout=0):
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_WORKPLACE, dir=folder) as name, FileLock(Path(name) / "lock"):
            yield Path(name)
    finally:
        for parent in new:
            with contextlib.suppress(OSError):  # there is something in it
                parent.rmdir()


def _copy_surroundings(dataset: Dataset, target: Path) -> None:
    """Copy the catalog under its own name, which decides the layout of the cases, and the loadouts if there are any."""
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


def _copy_cases(dataset: Dataset, split: Split, staging: Path, progress: Callable[[int], None] | None) -> None:
    position = 0
    with (
        open_lines(dataset.source) as source,
        (staging / SplitSide.DEVELOPMENT / CASES_FILE).open("wb") as development,
        (staging / SplitSide.HELD_OUT / CASES_FILE).open("wb") as held,
    ):
        for line in read_lines(source, dataset.source):
            if position == len(dataset) or line.number != dataset.line(position):
                continue  # an excluded case
            (held if split.parts[position] else development).write(line.raw + b"\n")
            position += 1
            if progress is not None and position % 200 == 0:
                progress(position)
    if position != len(dataset):
        raise _changed(dataset)


def _verify_part(dataset: Dataset, split: Split, staging: Path, folder: Path, part: SplitSide) -> WrittenPart:
    """Open a part as a dataset, and compare each case with that of the whole dataset."""
    try:
        reopened = open_dataset(str(staging / part))
    except InvalidFileError as error:
        raise _read_otherwise(part, str(error.findings[0].message)) from None
    try:
        positions = (position for position in range(len(dataset)) if split.part(position) is part)
        for index, position in zip(range(len(reopened)), positions, strict=True):
            copied, original = reopened.case(index), dataset.case(position)
            if copied.id != original.id:
                raise _changed(dataset)
            if copied != original:
                raise _read_otherwise(part, f"line {reopened.line(index)} would mean something else.")
        return WrittenPart(
            str(folder / part), reopened.digest, len(reopened), split.groups[part], reopened.kinds, reopened.drafts
        )
    except ValueError:
        raise _read_otherwise(part, "not all of its cases would be read.") from None
    finally:
        reopened.close()


def _changed(dataset: Dataset) -> InvalidFileError:
    message = "This file was changed while it was in use; run the command again."
    return InvalidFileError([Finding("changed", Severity.ERROR, message, dataset.source)])


def _read_otherwise(part: SplitSide, why: str) -> ToolbeltError:
    return ToolbeltError(
        f"The cases of {part} would be read in another way on their own than in the whole file: {why} "
        "Put the catalog beside the cases in the form that they came with, or bring the cases into one layout."
    )


def _move(source: Path, target: Path) -> None:
    """Move the files of a part to their place, the cases last; remove an old catalog of another form."""
    target.mkdir(exist_ok=True)
    for name in _BESIDE:
        if (source / name).exists():
            (source / name).replace(target / name)
        else:
            (target / name).unlink(missing_ok=True)
    (source / CASES_FILE).replace(target / CASES_FILE)


def counts_by_kind(parts: Mapping[SplitSide, WrittenPart]) -> Iterator[tuple[str, Mapping[SplitSide, int]]]:
    """Every kind, with the number of its cases in each part."""
    for kind in dict.fromkeys(kind for written in parts.values() for kind in written.kinds):
        yield kind, {part: written.kinds.get(kind, 0) for part, written in parts.items()}
