"""Holding a part of a dataset out: which cases go where, and the two parts as datasets of their own.

Cases that belong together stay together: paraphrases of one task (`cluster`), or all that one tool is the answer to
(`tool`). Groups are drawn within each kind, by a hash of their names and the seed: of a kind with `n` groups as many
are held out as come nearest to the share, at least one and at most `n - 1`; a kind with a single group stays in the
development part. So a kind's share of groups is off by less than half a group wherever the two bounds do not hold it.

Further cases of a group go to where the group is. For each new group at most one other of its kind changes sides, the
one that stands at the border of the draw; the order in the file changes nothing.
"""

from __future__ import annotations

import hashlib
import math
import shutil
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.cases.lines import open_lines, read_lines
from toolbelt.evals.cases.loadouts import LOADOUTS_FILE
from toolbelt.findings import Finding, Severity
from toolbelt.stores.catalogs import CATALOG_FILES, write_catalog
from toolbelt.stores.files import make_way_for
from toolbelt.stores.shipped import CASES_FILE

_BESIDE = (*CATALOG_FILES, LOADOUTS_FILE)


class Part(StrEnum):
    """A side of a split; its value is the name of its folder."""

    DEVELOPMENT = "dev"
    HELD_OUT = "held-out"


class Grouping(StrEnum):
    """What stays on one side."""

    CLUSTER = "cluster"
    """Cases that share a `cluster`."""
    TOOL = "tool"
    """Cases that share a tool of a right answer, or a cluster; so do those that are linked by others."""


@dataclass(frozen=True, eq=False)
class Split:
    """Which case goes where.

    Attributes:
        parts: By position in the dataset, 1 for a case that is held out.
        groups: How many there are on each side.
        single: Kinds that have one group, which stays in the development part.
    """

    parts: bytearray
    groups: Mapping[Part, int]
    single: tuple[str, ...]

    def part(self, position: int) -> Part:
        """The side of the case at a position."""
        return Part.HELD_OUT if self.parts[position] else Part.DEVELOPMENT


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part that was written.

    Attributes:
        folder: Where; a dataset.
        digest: Of its cases and grading (rule E7).
        cases: How many.
        groups: How many that belong together.
        kinds: Cases by kind.
    """

    folder: str
    digest: str
    cases: int
    groups: int
    kinds: Mapping[str, int]


def draw_split(
    dataset: Dataset,
    held_out: float,
    *,
    by: Grouping = Grouping.CLUSTER,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Split:
    """Which cases are held out.

    Args:
        dataset: Its cases are read one at a time; a few bytes are kept of each.
        held_out: The share of groups, between 0 and 1.
        by: What stays together.
        seed: Another seed draws others.
        progress: Called with the number of cases looked at so far.

    Raises:
        ToolbeltError: the share is none, or every kind has a single group, so that nothing can be held out.
        InvalidFileError: the file was changed since it was opened.
    """
    if not 0 < held_out < 1:
        raise ToolbeltError(f"The share held out lies between 0 and 1, and is neither; {held_out} does not.")
    groups = _Groups(seed.to_bytes(16, signed=True))
    for position in range(len(dataset)):
        groups.add(dataset.case(position), by)
        if progress is not None and position % 200 == 0:
            progress(position)
    split = groups.split(held_out)
    if not split.groups[Part.HELD_OUT]:
        what = "cluster" if by is Grouping.CLUSTER else "group of cases that share no tool with the others"
        raise ToolbeltError(f"Nothing can be held out: no kind of case has more than one {what}.")
    return split


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
    for part in Part:
        target = Path(folder) / part
        if file := next((one for one in (Path(folder), target) if one.exists() and not one.is_dir()), None):
            raise ToolbeltError(f"{str(file)!r} is a file; name another folder.")
        for name in (CASES_FILE, *_BESIDE):
            make_way_for(target / name, overwrite=overwrite)
        if (target / CASES_FILE).exists() and (target / CASES_FILE).samefile(dataset.source):
            raise ToolbeltError(f"{str(target)!r} is what is being split; name another folder.")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".split.", dir=folder) as made:
            for part in Part:
                (Path(made) / part).mkdir()
                _copy_surroundings(dataset, Path(made) / part)
            _copy_cases(dataset, split, Path(made), progress)
            written = {part: _look_again(dataset, split, Path(made), Path(folder), part) for part in Part}
            for part in Part:
                _move(Path(made) / part, Path(folder) / part)
    except OSError as error:
        raise StorageError(f"Cannot write {folder!r}: {error.strerror or error}.") from None
    return written


class _Groups:
    """Groups of cases: every name is a 64-bit hash, and names that one case has are linked."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._numbers: dict[int, int] = {}
        self._links = array("I")
        self._hashes = array("Q")
        self._is_tool = bytearray()
        self._cases = array("I")
        self._kinds: dict[str, int] = {}
        self._kind_of_case = array("I")

    def add(self, case: Case, by: Grouping) -> None:
        """One more case."""
        first = self._number("c", case.cluster)
        if by is Grouping.TOOL:
            for tool in sorted({tool for answer in case.answers for call in answer for tool in call.tools}):
                self._link(first, self._number("t", tool))
        self._cases.append(first)
        self._kind_of_case.append(self._kinds.setdefault(case.kind, len(self._kinds)))

    def split(self, share: float) -> Split:
        """Draw within each kind; a group of several kinds is drawn with the one that it has most of."""
        counted: dict[int, Counter[int]] = {}
        for name, kind in zip(self._cases, self._kind_of_case, strict=True):
            counted.setdefault(self._root(name), Counter())[kind] += 1
        draws = self._draws()
        by_kind: dict[int, list[tuple[int, int]]] = {}
        names = list(self._kinds)
        for root, kinds in counted.items():
            most = min(kinds, key=lambda kind: (-kinds[kind], names[kind]))
            by_kind.setdefault(most, []).append((draws[root], root))
        held: set[int] = set()
        for drawn in by_kind.values():
            count = _nearest_count(len(drawn), share)
            held.update(root for _, root in sorted(drawn)[:count])
        parts = bytearray(self._root(name) in held for name in self._cases)
        single = tuple(names[kind] for kind, drawn in by_kind.items() if len(drawn) == 1)
        return Split(parts, {Part.DEVELOPMENT: len(counted) - len(held), Part.HELD_OUT: len(held)}, single)

    def _draws(self) -> dict[int, int]:
        """What each group is drawn by: the least hash of its tools, or of its cluster, where it has none."""
        draws: dict[int, tuple[bool, int]] = {}
        for number, hashed in enumerate(self._hashes):
            root, found = self._root(number), (not self._is_tool[number], hashed)
            draws[root] = min(draws.get(root, found), found)
        return {root: hashed for root, (_, hashed) in draws.items()}

    def _number(self, sort: str, name: str) -> int:
        digest = hashlib.blake2b(f"{sort}{name}".encode(errors="surrogatepass"), key=self._key, digest_size=8).digest()
        hashed = int.from_bytes(digest)
        if (number := self._numbers.get(hashed)) is None:
            number = self._numbers[hashed] = len(self._links)
            self._links.append(number)
            self._hashes.append(hashed)
            self._is_tool.append(sort == "t")
        return number

    def _root(self, number: int) -> int:
        while (above := self._links[number]) != number:
            self._links[number] = number = self._links[above]
        return number

    def _link(self, one: int, other: int) -> None:
        self._links[self._root(other)] = self._root(one)


def _nearest_count(groups: int, share: float) -> int:
    """How many of so many groups are held out."""
    return 0 if groups < 2 else min(max(math.floor(groups * share + 0.5), 1), groups - 1)


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
        return WrittenPart(str(folder / part), read.digest, len(read), split.groups[part], read.kinds)
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
