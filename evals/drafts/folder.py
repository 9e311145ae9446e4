"""The folder that drafts go to, and what a human has done there since: that is never lost.

What was written is remembered in `.toolbelt-drafts`: 64 bits of each line, in a file named by the digest of the cases
that it is about. So a folder is known to be untouched whenever a kill came; and where it is not, a line that differs
from all that was written is a human's, and one that was written and is gone was taken out by one.
"""

from __future__ import annotations

import contextlib
import hashlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolbelt.catalog import Catalog
from toolbelt.catalog.files import format_catalog
from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.evals.cases.case_file import MAX_LINE, Line, open_lines, read_lines
from toolbelt.evals.cases.digests import id_digest, line_digest
from toolbelt.evals.cases.own_layout import parse_case
from toolbelt.evals.cases.references import Names
from toolbelt.evals.drafts.answers import alike_key
from toolbelt.evals.drafts.tool_drafts import stem_of
from toolbelt.findings import Finding, Severity
from toolbelt.stores.catalogs import CASES_FILE, CATALOG_FILES, open_catalog, write_catalog

MEMORY = ".toolbelt-drafts"
"""The folder within it for answers and what was written."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line is.

    Attributes:
        offset: Of its first byte.
        length: In bytes.
        digest: 64 bits of it.
    """

    offset: int
    length: int
    digest: int


@dataclass(eq=False)
class Touched:
    """What a human has done to the cases, and what was left as it was drafted; a few bytes for each line.

    Attributes:
        gone: 64 bits of each line that was written here and was taken out.
        ids: Numbers of a human's lines, by 64 bits of their ids.
        queries: Likewise of their queries.
        places: Where their lines are.
        drafts: Where those are that are as they were drafted, by 64 bits of what their ids begin with.
        is_untouched: Whether the file is as it was last written, however its lines end; or not there.
    """

    gone: set[int] = field(default_factory=set)
    ids: dict[int, int] = field(default_factory=dict)
    queries: set[int] = field(default_factory=set)
    places: list[Place] = field(default_factory=list)
    drafts: dict[int, list[Place]] = field(default_factory=dict)
    is_untouched: bool = True

    @property
    def kept(self) -> int:
        """Lines that are a human's."""
        return len(self.places)

    def add(self, line: Line, digest: int) -> Iterator[Finding]:
        """One more line that is a human's; with what is wrong where its id was there already."""
        self.places.append(Place(line.offset, len(line.raw), digest))
        data = line.data if isinstance(line.data, dict) else {}
        if isinstance(data.get("id"), str):
            first = self.ids.setdefault(id_digest(data["id"]), line.number)
            if first != line.number:
                message = f"The id {data['id']!r} stands in line {first} already."
                yield Finding("duplicate-id", Severity.ERROR, message)
        if isinstance(data.get("query"), str):
            self.queries.add(id_digest(alike_key(data["query"])))

    def add_draft(self, line: Line, digest: int) -> None:
        """One more line that is as it was drafted."""
        stem = id_digest(stem_of(line.data["id"]))
        self.drafts.setdefault(stem, []).append(Place(line.offset, len(line.raw), digest))


class DraftFolder:
    """Where drafts go.

    Args:
        path: Made when it is first written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.memory = path / MEMORY
        self.cases = path / CASES_FILE

    def refuse_files(self) -> None:
        """Raises `ToolbeltError` where a file is in the way of a folder, or a folder of a file."""
        for folder in (self.path, self.memory):
            if folder.exists() and not folder.is_dir():
                raise ToolbeltError(f"{str(folder)!r} is a file; name a folder.")
        for file in (self.cases, self.path / CATALOG_FILES[0]):
            if file.is_dir():
                raise ToolbeltError(f"{str(file)!r} is a folder; name another.")

    def look(self, names: Names | None = None) -> Touched:
        """What a human has done to the cases, in this session or before any earlier one.

        Args:
            names: What a human's lines are held against; without, only whether they can be kept at all is looked at.

        Raises:
            InvalidFileError: with lines of a human's, the cases could not be opened; what is wrong, line by line.
            StorageError: the cases may not be read.
        """
        touched = Touched()
        if not self.cases.exists():
            return touched
        found: list[Finding] = []
        source = str(self.cases)
        with open_lines(source) as handle:
            present = {line_digest(line.raw) for line in read_lines(handle, source)}
            written, touched.is_untouched = self._remembered(present)
            touched.gone = written - present
            for line in read_lines(handle, source):
                digest = line_digest(line.raw)
                if digest not in written:
                    wrong = (*touched.add(line, digest), *_errors_of(line, names))
                    found += (replace(finding, file=source, line=line.number) for finding in wrong)
                elif digest in present:
                    present.remove(digest)  # a draft that was copied is one draft
                    touched.add_draft(line, digest)
        if found:
            raise InvalidFileError(found)
        return touched

    def lines(self, places: Iterable[Place]) -> Iterator[str]:
        """The lines at these places, as they are, one at a time."""
        with contextlib.ExitStack() as held:
            handle = None
            for place in places:
                handle = handle or held.enter_context(open_lines(str(self.cases)))
                handle.seek(place.offset)
                yield handle.read(place.length).decode()

    def remember(self, written: Iterable[int], digest: str) -> None:
        """Note what is about to be written, before cases of that digest take their place.

        Raises:
            StorageError: the disk would not.
        """
        try:
            self.memory.mkdir(parents=True, exist_ok=True)
            self._memory_of(digest).write_bytes(array("Q", written).tobytes())
        except OSError as error:
            raise StorageError(f"Cannot write {str(self.memory)!r}: {error.strerror or error}.") from None

    def forget_others(self) -> None:
        """Drop what was noted of cases that are there no more."""
        current = self._memory_of(_digest(self.cases))
        for file in self.memory.glob("lines-*"):
            if file != current:
                with contextlib.suppress(OSError):
                    file.unlink()

    def put_catalog(self, catalog: Catalog, *, overwrite: bool) -> None:
        """Have the catalog beside the cases.

        Raises:
            ToolbeltError: another is there, and may not be replaced.
            StorageError: the disk would not.
        """
        if self.has_catalog(catalog):
            return
        if not overwrite:
            self.refuse_other_catalog(catalog)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_catalog(catalog, str(self.path / CATALOG_FILES[0]))
            for name in CATALOG_FILES[1:]:  # of the catalog that is replaced
                (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"Cannot write {str(self.path)!r}: {error.strerror or error}.") from None

    def refuse_other_catalog(self, catalog: Catalog) -> None:
        """Raises `ToolbeltError` where another catalog is beside the cases."""
        if any((self.path / name).exists() for name in CATALOG_FILES) and not self.has_catalog(catalog):
            raise ToolbeltError(
                f"{str(self.path)!r} has another catalog. Use --catalog {self.path} to draft over that, --force to "
                "replace it, or another folder."
            )

    def has_catalog(self, catalog: Catalog) -> bool:
        """Whether this catalog is there already, in whatever form."""
        if not any((self.path / name).is_file() for name in CATALOG_FILES):
            return False
        try:
            beside = open_catalog(str(self.path)).catalog
        except ToolbeltError:
            return False
        return format_catalog(beside, "json") == format_catalog(catalog, "json")

    def _remembered(self, present: set[int]) -> tuple[set[int], bool]:
        """The lines that were written here, and whether the cases are as they were then."""
        if (exact := self._memory_of(_digest(self.cases))).exists():
            return _read_memory(exact), True
        # A kill may have left what was about to be written beside what was.
        found = [_read_memory(file) for file in sorted(self.memory.glob("lines-*"))]
        return max(found, key=lambda lines: (len(lines & present), -len(lines)), default=set()), False

    def _memory_of(self, digest: str) -> Path:
        return self.memory / f"lines-{digest[:32]}"


def _read_memory(file: Path) -> set[int]:
    digests = array("Q")
    with contextlib.suppress(OSError, ValueError):
        digests.frombytes(file.read_bytes())
    return set(digests)


def _digest(file: Path) -> str:
    """Of the lines, whatever ends them: an editor may have changed that, and nothing else."""
    digest = hashlib.sha256()
    try:
        with file.open("rb") as handle:
            while chunk := handle.readline(MAX_LINE):
                if raw := chunk.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n"):
                    digest.update(raw + b"\n")
    except OSError as error:
        raise StorageError(f"Cannot read {str(file)!r}: {error.strerror or error}.") from None
    return digest.hexdigest()


def _errors_of(line: Line, names: Names | None) -> Iterator[Finding]:
    """Why a line is no case."""
    if line.findings or names is None:
        yield from line.findings
        return
    yield from (found for found in parse_case(line.data, names).findings if found.severity is Severity.ERROR)
