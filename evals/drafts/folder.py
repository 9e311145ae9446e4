"""The folder of drafts, and the changes that a human has made in it; such changes are never lost.

`.toolbelt-drafts` stores 64 bits of each written line, in a file named by the digest of the cases. So an unchanged
folder is recognised, even after a kill. In a changed folder, a line that was never written is a human's, and a written
line that is missing was taken out by a human.
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
from toolbelt.evals.cases.case_file import MAX_LINE, CaseLine, open_lines, read_lines
from toolbelt.evals.cases.digests import id_digest, line_digest
from toolbelt.evals.cases.index import FileFindings
from toolbelt.evals.cases.own_layout import parse_own_case
from toolbelt.evals.cases.references import ToolNames
from toolbelt.evals.drafts.answers import normalized_query
from toolbelt.evals.drafts.tool_drafts import stem_of
from toolbelt.findings import Finding, Severity
from toolbelt.stores.catalogs import CASES_FILE, CATALOG_FILES, open_catalog, write_catalog

MEMORY = ".toolbelt-drafts"
"""The folder inside it for the answers and for the digests of written lines."""


@dataclass(frozen=True, slots=True)
class LinePlace:
    """Where a line is.

    Attributes:
        offset: Of its first byte.
        length: In bytes.
        digest: 64 bits.
    """

    offset: int
    length: int
    digest: int


@dataclass(eq=False)
class FolderState:
    """What a human has changed in the cases, and which drafts are unchanged; a few bytes for each line.

    Attributes:
        gone: Digest of each line that was written here and was taken out.
        ids: Numbers of a human's lines, by the digest of their ids.
        queries: Digests of the queries of a human's lines.
        places: Where a human's lines are.
        drafts: Where unchanged drafts are, by the digest of the stem of their ids.
        is_untouched: Whether the file is as it was last written, except for line ends, or is not there.
    """

    gone: set[int] = field(default_factory=set)
    ids: dict[int, int] = field(default_factory=dict)
    queries: set[int] = field(default_factory=set)
    places: list[LinePlace] = field(default_factory=list)
    drafts: dict[int, list[LinePlace]] = field(default_factory=dict)
    is_untouched: bool = True

    @property
    def human_lines(self) -> int:
        """Number of lines that are a human's."""
        return len(self.places)

    def add(self, line: CaseLine, digest: int) -> Iterator[Finding]:
        """Add a human's line; gives a finding where its id occurred before."""
        self.places.append(LinePlace(line.offset, len(line.raw), digest))
        data = line.data if isinstance(line.data, dict) else {}
        if isinstance(data.get("id"), str):
            first = self.ids.setdefault(id_digest(data["id"]), line.number)
            if first != line.number:
                message = f"The id {data['id']!r} is also in line {first}."
                yield Finding("duplicate-id", Severity.ERROR, message)
        if isinstance(data.get("query"), str):
            self.queries.add(id_digest(normalized_query(data["query"])))

    def add_draft(self, line: CaseLine, digest: int) -> None:
        """Add a line that is unchanged."""
        stem = id_digest(stem_of(line.data["id"]))
        self.drafts.setdefault(stem, []).append(LinePlace(line.offset, len(line.raw), digest))


class DraftFolder:
    """A folder of drafts.

    Args:
        path: Created when it is first written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.memory = path / MEMORY
        self.cases = path / CASES_FILE

    def check_paths(self) -> None:
        """Raises `ToolbeltError` where a file is in the way of a folder, or a folder of a file."""
        for folder in (self.path, self.memory):
            if folder.exists() and not folder.is_dir():
                raise ToolbeltError(f"{str(folder)!r} is a file; name a folder.")
        for file in (self.cases, self.path / CATALOG_FILES[0]):
            if file.is_dir():
                raise ToolbeltError(f"{str(file)!r} is a folder; name another.")

    def read_state(self, names: ToolNames | None = None) -> FolderState:
        """What a human has changed in the cases since they were written.

        Args:
            names: Resolves the tools in a human's lines; without it, the lines only have to be JSON.

        Raises:
            InvalidFileError: with a human's lines, the cases could not be opened; every mistake, line by line.
            StorageError: the cases may not be read.
        """
        state = FolderState()
        if not self.cases.exists():
            return state
        findings = FileFindings()
        source = str(self.cases)
        with open_lines(source) as handle:
            present = {line_digest(line.raw) for line in read_lines(handle, source)}
            written, state.is_untouched = self._remembered(present)
            state.gone = written - present
            for line in read_lines(handle, source):
                digest = line_digest(line.raw)
                if digest not in written:
                    mistakes = (*state.add(line, digest), *_errors_of(line, names))
                    for finding in mistakes:
                        findings.add(replace(finding, file=source, line=line.number))
                elif digest in present:
                    present.remove(digest)  # a copied draft counts once
                    state.add_draft(line, digest)
        if findings.errors:
            raise InvalidFileError(findings.listed(source))
        return state

    def lines(self, places: Iterable[LinePlace]) -> Iterator[str]:
        """The lines at these places, one at a time."""
        with contextlib.ExitStack() as stack:
            handle = None
            for place in places:
                handle = handle or stack.enter_context(open_lines(str(self.cases)))
                handle.seek(place.offset)
                yield handle.read(place.length).decode()

    def remember(self, written: Iterable[int], digest: str) -> None:
        """Remember the lines that are about to be written.

        Args:
            written: Their digests.
            digest: Of the whole file of cases.

        Raises:
            StorageError: the disk would not.
        """
        try:
            self.memory.mkdir(parents=True, exist_ok=True)
            self._memory_of(digest).write_bytes(array("Q", written).tobytes())
        except OSError as error:
            raise StorageError(f"Cannot write {str(self.memory)!r}: {error.strerror or error}.") from None

    def forget_others(self) -> None:
        """Forget lines of cases that were replaced."""
        current = self._memory_of(_digest(self.cases))
        for file in self.memory.glob("lines-*"):
            if file != current:
                with contextlib.suppress(OSError):
                    file.unlink()

    def put_catalog(self, catalog: Catalog, *, overwrite: bool) -> None:
        """Write the catalog beside the cases, unless it is there.

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
        """Whether this catalog is there, in any form."""
        if not any((self.path / name).is_file() for name in CATALOG_FILES):
            return False
        try:
            beside = open_catalog(str(self.path)).catalog
        except ToolbeltError:
            return False
        return format_catalog(beside, "json") == format_catalog(catalog, "json")

    def _remembered(self, present: set[int]) -> tuple[set[int], bool]:
        """Digests of the lines that were written here, and whether the cases are unchanged since."""
        if (exact := self._memory_of(_digest(self.cases))).exists():
            return _read_memory(exact), True
        # After a kill there may be a second file, of cases that were never written.
        candidates = [_read_memory(file) for file in sorted(self.memory.glob("lines-*"))]
        return max(candidates, key=lambda lines: (len(lines & present), -len(lines)), default=set()), False

    def _memory_of(self, digest: str) -> Path:
        return self.memory / f"lines-{digest[:32]}"


def _read_memory(file: Path) -> set[int]:
    digests = array("Q")
    with contextlib.suppress(OSError, ValueError):
        digests.frombytes(file.read_bytes())
    return set(digests)


def _digest(file: Path) -> str:
    """Digest of the lines without line ends, which an editor may change."""
    digest = hashlib.sha256()
    try:
        with file.open("rb") as handle:
            while chunk := handle.readline(MAX_LINE):
                if raw := chunk.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n"):
                    digest.update(raw + b"\n")
    except OSError as error:
        raise StorageError(f"Cannot read {str(file)!r}: {error.strerror or error}.") from None
    return digest.hexdigest()


def _errors_of(line: CaseLine, names: ToolNames | None) -> Iterator[Finding]:
    """Why a line is not a case."""
    if line.findings or names is None:
        yield from line.findings
        return
    yield from (finding for finding in parse_own_case(line.data, names).findings if finding.severity is Severity.ERROR)
