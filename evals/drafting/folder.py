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
from dataclasses import dataclass, field
from pathlib import Path

from toolbelt.catalog import Catalog
from toolbelt.catalog.files import format_catalog
from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.evals.cases.index import id_digest
from toolbelt.evals.cases.lines import Line, line_digest, open_lines, read_lines
from toolbelt.evals.drafting.reading import alike_key
from toolbelt.stores.catalogs import CATALOG_FILES, open_catalog, write_catalog
from toolbelt.stores.shipped import CASES_FILE

MEMORY = ".toolbelt-drafts"
"""The folder within it for answers and what was written."""
_NOT_KEPT = ("not-utf8", "too-long")
"""What is wrong with lines that could not be written again as they are."""


@dataclass(eq=False)
class Touched:
    """What a human has done to the cases; a few bytes for each line.

    Attributes:
        gone: 64 bits of each line that was written here and was taken out.
        ids: Likewise of the ids of a human's lines.
        queries: Likewise of their queries.
        places: Where their lines begin, in bytes, and how long each is.
        is_untouched: Whether the file is as it was last written, or not there.
    """

    gone: set[int] = field(default_factory=set)
    ids: set[int] = field(default_factory=set)
    queries: set[int] = field(default_factory=set)
    places: array[int] = field(default_factory=lambda: array("Q"))
    is_untouched: bool = True

    @property
    def kept(self) -> int:
        """Lines that are a human's."""
        return len(self.places) // 2

    def add(self, line: Line) -> None:
        """One more line that is a human's."""
        self.places.extend((line.offset, len(line.raw)))
        data = line.data if isinstance(line.data, dict) else {}
        if isinstance(data.get("id"), str):
            self.ids.add(id_digest(data["id"]))
        if isinstance(data.get("query"), str):
            self.queries.add(id_digest(alike_key(data["query"])))


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

    def look(self) -> Touched:
        """What a human has done to the cases, in this session or before any earlier one.

        Raises:
            InvalidFileError: a line is not UTF-8, or longer than any case.
            StorageError: the cases may not be read.
        """
        if not self.cases.exists():
            return Touched()
        with open_lines(str(self.cases)) as handle:
            present = {line_digest(line.raw) for line in read_lines(handle, str(self.cases))}
            written, is_untouched = self._remembered(present)
            touched = Touched(written - present, is_untouched=is_untouched)
            for line in read_lines(handle, str(self.cases)):
                if unreadable := [found for found in line.findings if found.rule in _NOT_KEPT]:
                    raise InvalidFileError(unreadable)
                if line_digest(line.raw) not in written:
                    touched.add(line)
        return touched

    def lines(self, touched: Touched) -> Iterator[str]:
        """A human's lines, as they are, one at a time."""
        if not touched.kept:
            return
        with open_lines(str(self.cases)) as handle:
            for offset, length in zip(touched.places[::2], touched.places[1::2], strict=True):
                handle.seek(offset)
                yield handle.read(length).decode()

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
        except OSError as error:
            raise StorageError(f"Cannot write {str(self.path)!r}: {error.strerror or error}.") from None
        write_catalog(catalog, str(self.path / CATALOG_FILES[0]))

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
    try:
        with file.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise StorageError(f"Cannot read {str(file)!r}: {error.strerror or error}.") from None
