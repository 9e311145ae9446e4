"""The files of an import: resolve the user's references, and read the records one at a time.

A file is JSON Lines, a JSON array, a table (CSV, Parquet, or those of a Markdown document), or one document (YAML, or
JSON over several lines). Lines, rows of CSV and Parquet and elements of an array are read one by one, so that memory
does not grow with the file; a document is read whole.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case_file import open_lines, read_lines
from toolbelt.evals.cases.digests import id_digest
from toolbelt.evals.cases.imports.json_array import read_elements
from toolbelt.evals.cases.imports.tables import (
    MAX_MARKDOWN,
    TableRow,
    looks_like_csv,
    looks_like_markdown,
    read_csv,
    read_markdown,
    read_parquet,
)
from toolbelt.findings import Finding, Severity
from toolbelt.sources import Document, decode, parse_json, parse_yaml

MAX_DOCUMENT = 64 * 1024 * 1024
"""Bytes of a document, which is read whole."""
STANDARD_INPUT = "standard-input"
_YAML = (".yaml", ".yml")
_LINES = (".jsonl", ".ndjson")
_MARKDOWN = (".md", ".markdown")
_CSV = (".csv", ".tsv")
_PARQUET = b"PAR1"
_GZIP = b"\x1f\x8b"
_FIRST_LINES = 10
_ENOUGH = 1024 * 1024
"""Bytes at the beginning of a file that decide its syntax."""
Complain = Callable[[tuple[Finding, ...]], None]
"""Called once for every record that cannot be read."""


@dataclass(frozen=True, slots=True)
class Record:
    """The data of one line, one element, one row or one document.

    Attributes:
        source: The file, as the user wrote it.
        line: First line of the record, counted from 1; in Parquet, which has no lines, the number of the row.
        data: Its JSON value; of a row, an object.
        document: The parsed file, with line numbers, if the whole file is the record.
        heading: Of a row in Markdown: the heading above its table, or empty; `None` for everything else.
    """

    source: str
    line: int
    data: Any
    document: Document | None = None
    heading: str | None = None

    @property
    def stem(self) -> str:
        """The file's name without folders and suffixes."""
        return Path(self.source).name.split(".")[0].strip() or "source"

    @property
    def own_id(self) -> str:
        """An id for a record without one: the file's name, and the line."""
        return f"{self.stem}-{self.line}"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that can be read several times.

    Attributes:
        name: As the user wrote it; bytes that are not UTF-8 are replaced.
        path: Its path, for files that it names; `None` for standard input.
    """

    name: str
    path: Path | None
    _handle: BinaryIO

    @property
    def has_lines(self) -> bool:
        """Whether it has a JSON value a line, as our own files of cases do."""
        self._handle.seek(0)
        return _syntax(self.name, self._handle.read(_ENOUGH)) == "lines"

    def records(self, complain: Complain) -> Iterator[Record]:
        """Every readable record; `complain` receives the findings of the others."""
        has_begun = False
        try:
            for record in self._records(complain):
                has_begun = True
                yield record
        except InvalidFileError as error:
            rest = " What follows it was not read." if has_begun else ""
            complain(tuple(replace(finding, message=f"{finding.message}{rest}") for finding in error.findings))

    def _records(self, complain: Complain) -> Iterator[Record]:
        handle = self._handle
        handle.seek(0)
        beginning = handle.read(_ENOUGH)
        if beginning.startswith(_GZIP):
            message = "This is compressed with gzip; unpack it first, with gunzip."
            raise InvalidFileError([Finding("compressed", Severity.ERROR, message, self.name)])
        match _syntax(self.name, beginning):
            case "lines":
                for line in read_lines(handle, self.name):
                    if line.findings:
                        complain(line.findings)
                    else:
                        yield Record(self.name, line.number, line.data)
            case "array":
                handle.seek(0)
                for number, data, findings in read_elements(handle, self.name):
                    if findings:
                        complain(findings)
                    else:
                        yield Record(self.name, number, data)
            case "csv" | "markdown" | "parquet" as syntax:
                row = None
                for row in self._rows(syntax):
                    if row.findings:
                        complain(row.findings)
                    else:
                        yield Record(self.name, row.line, row.cells, heading=row.heading)
                if row is None and beginning.strip():
                    message = "There is no table with a row below its header in this file."
                    raise InvalidFileError([Finding("no-rows", Severity.ERROR, message, self.name)])
            case syntax:
                document = self._document(syntax)
                yield Record(self.name, 1, document.data, document)

    def _rows(self, syntax: str) -> Iterator[TableRow]:
        self._handle.seek(0)
        if syntax == "markdown":
            return read_markdown(self._handle.read(MAX_MARKDOWN + 1), self.name)
        return (read_csv if syntax == "csv" else read_parquet)(self._handle, self.name)

    def _document(self, syntax: str) -> Document:
        self._handle.seek(0)
        raw = self._handle.read(MAX_DOCUMENT + 1)
        if len(raw) > MAX_DOCUMENT:
            message = f"A document of more than {MAX_DOCUMENT // 1024**2} MiB is not read; write a record a line."
            raise InvalidFileError([Finding("too-long", Severity.ERROR, message, self.name)])
        text = decode(raw, self.name)
        if not text.strip():
            raise InvalidFileError([Finding("empty", Severity.ERROR, "There is nothing in this file.", self.name)])
        return parse_yaml(text, self.name, merges=True) if syntax == "yaml" else parse_json(text, self.name)


def open_source(reference: str, stack: ExitStack, standard_input: BinaryIO) -> SourceFile:
    """A file, or `-` for the standard input, which is first copied to a temporary file.

    Args:
        reference: As the user wrote it.
        stack: Closes the file.
        standard_input: Read for the reference `-`.

    Raises:
        NotFoundError: there is no such file.
        InvalidFileError: it is a folder, a pipe or a device.
        StorageError: it cannot be read.
    """
    if reference != "-":
        # The name stands in every case, and a file can hold no name that is not UTF-8.
        name = reference.encode(errors="surrogateescape").decode(errors="replace")
        return SourceFile(name, Path(reference), stack.enter_context(open_lines(reference)))
    copy = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  the stack closes it
    shutil.copyfileobj(standard_input, copy)
    return SourceFile(STANDARD_INPUT, None, copy)


def _syntax(name: str, beginning: bytes) -> str:
    """`lines`, `array`, `json`, `yaml`, `csv`, `markdown` or `parquet`, from the name and the beginning of a file."""
    suffix = Path(name).suffix.lower()
    if beginning.startswith(_PARQUET):
        return "parquet"
    for suffixes, syntax in ((_YAML, "yaml"), (_MARKDOWN, "markdown"), (_CSV, "csv")):
        if suffix in suffixes:
            return syntax
    if suffix in _LINES and beginning.strip():
        return "lines"
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        return "array"
    if not text.startswith(b"{"):
        if (text and suffix == ".json") or _has_record(text):
            return "lines"
        return "markdown" if looks_like_markdown(text) else "csv" if looks_like_csv(text) else "yaml"
    first, _, rest = text.partition(b"\n")
    following = rest.lstrip()[:1]
    is_whole = first.rstrip().endswith(b"}") and following in (b"{", b"")
    # After the first line, an object over several lines has a key; JSON Lines have the next record.
    return "lines" if is_whole or following == b"{" or len(first) >= _ENOUGH else "json"


def _has_record(text: bytes) -> bool:
    """Whether one of the first lines is a JSON object; then the others are broken records, not YAML."""
    lines = [line.strip() for line in text.split(b"\n", _FIRST_LINES)[:_FIRST_LINES]]
    return any(line.startswith(b"{") and line.endswith(b"}") and b'"' in line for line in lines)


_ANSWERS = "possible_answer"
_QUESTIONS = "BFCL_*.json"


def source_names(references: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The files of the user's references, each once, and notes on them.

    A folder stands for the files of the Berkeley leaderboard in it. With a question file of the leaderboard, the file
    of the same name in `possible_answer/` beside it is read, too.

    Args:
        references: As the user wrote them.

    Raises:
        InvalidFileError: a folder without such files.
    """
    files: dict[str, None] = {}
    notes = []
    for reference in references:
        # os.path rather than pathlib: a name the system refuses outright is simply not there.
        if not os.path.isdir(reference):  # noqa: PTH112
            same = _same(reference, files)
            if same is None:
                files[reference] = None
            elif same != reference:
                notes.append(f"{reference} is {same}, and was read once")
        elif questions := sorted(Path(reference).glob(_QUESTIONS)):
            files.update(dict.fromkeys(map(str, questions)))
        else:
            own = next(iter(sorted(Path(reference).glob("*.jsonl"))), "")
            named = f", as {own}" if own else ""
            message = f"This is a folder without files of the leaderboard ({_QUESTIONS}); name the files{named}."
            raise InvalidFileError([Finding("not-a-file", Severity.ERROR, message, reference)])
    for name in list(files):
        answers = Path(name).parent / _ANSWERS / Path(name).name
        if name != "-" and os.path.isfile(answers) and _same(str(answers), files) is None:  # noqa: PTH113
            files[str(answers)] = None
            notes.append(f"read {answers} along with {name}")
    return list(files), tuple(notes)


def _same(reference: str, known: Collection[str]) -> str | None:
    """The known name of the same file; `None` if there is none."""
    real = _real(reference)
    if reference == "-":
        return reference if reference in known else None
    return next((name for name in known if name != "-" and _real(name) == real), None)


def _real(reference: str) -> str:
    try:
        return os.path.realpath(reference)
    except ValueError:  # a NUL in the name; opening the file reports it
        return reference


class RecordsById:
    """Stores values by id in a temporary file, to save memory; of several values with one id, the first counts.

    Attributes:
        repeated: How often an id was repeated.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed when nobody holds this any more
        weakref.finalize(self, self._file.close)
        self._places: dict[int, tuple[int, int]] = {}
        self._unclaimed: set[int] = set()
        self.repeated = 0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def unclaimed(self) -> int:
        """Number of values that were never requested."""
        return len(self._unclaimed)

    def add(self, key: str, value: Any) -> None:
        """Store a value, as JSON."""
        digest = id_digest(key)
        if digest in self._places:
            self.repeated += 1
            return
        raw = json.dumps(value).encode()
        self._places[digest] = (self._file.seek(0, 2), len(raw))
        self._file.write(raw)
        self._unclaimed.add(digest)

    def find(self, key: str) -> tuple[Any] | None:
        """The value of that id, in a tuple; `None` if there is none."""
        digest = id_digest(key)
        if (place := self._places.get(digest)) is None:
            return None
        self._unclaimed.discard(digest)
        self._file.seek(place[0])
        return (json.loads(self._file.read(place[1])),)
