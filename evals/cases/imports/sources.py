"""The files that cases come from, one record at a time, whatever holds the records together.

A file is JSON Lines, a JSON array, or one document (YAML, or JSON over several lines). Lines and the elements of an
array are read one by one, so that memory does not grow with the file; a document is read whole.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.imports.elements import read_elements
from toolbelt.evals.cases.imports.foreign_yaml import parse_foreign_yaml
from toolbelt.evals.cases.lines import open_lines, read_lines
from toolbelt.findings import Finding, Severity
from toolbelt.sources import Document, decode, parse_json

MAX_DOCUMENT = 64 * 1024 * 1024
"""Bytes of a document, which is read whole."""
STANDARD_INPUT = "standard-input"
_YAML = (".yaml", ".yml")
_LINES = (".jsonl", ".ndjson")
_GZIP = b"\x1f\x8b"
_FIRST_LINES = 10
_ENOUGH = 1024 * 1024
"""Bytes that tell how a file is written."""
Complain = Callable[[tuple[Finding, ...]], None]
"""Told of every record that could not be read, once each."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one line, one element or one document holds.

    Attributes:
        source: The file, as the user wrote it.
        line: Where the record begins, counted from 1.
        data: As JSON.
        document: With lines of its own, where the whole file is the record.
    """

    source: str
    line: int
    data: Any
    document: Document | None = None

    @property
    def own_id(self) -> str:
        """An id for what has none: the file's name without folders and endings, and the line."""
        return f"{Path(self.source).name.split('.')[0].strip() or 'source'}-{self.line}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that can be read from the beginning as often as needed.

    Attributes:
        name: As the user wrote it, with what is no UTF-8 replaced.
        path: Where it is, for files that it names; `None` for standard input.
    """

    name: str
    path: Path | None
    _handle: BinaryIO

    def records(self, complain: Complain) -> Iterator[Record]:
        """Every record that can be read; what cannot is complained of."""
        try:
            yield from self._records(complain)
        except InvalidFileError as error:
            complain(error.findings)

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
            case syntax:
                document = self._document(syntax)
                yield Record(self.name, 1, document.data, document)

    def _document(self, syntax: str) -> Document:
        self._handle.seek(0)
        raw = self._handle.read(MAX_DOCUMENT + 1)
        if len(raw) > MAX_DOCUMENT:
            message = f"A document of more than {MAX_DOCUMENT // 1024**2} MiB is not read; write a record a line."
            raise InvalidFileError([Finding("too-long", Severity.ERROR, message, self.name)])
        text = decode(raw, self.name)
        if not text.strip():
            raise InvalidFileError([Finding("empty", Severity.ERROR, "There is nothing in this file.", self.name)])
        return parse_foreign_yaml(text, self.name) if syntax == "yaml" else parse_json(text, self.name)


def open_source(reference: str, stack: ExitStack, standard_input: BinaryIO) -> Source:
    """A file, or `-` for the standard input, which is first copied to a temporary file.

    Args:
        reference: As the user wrote it.
        stack: Closes it.
        standard_input: Read where `-` is asked for.

    Raises:
        NotFoundError: there is no such file.
        InvalidFileError: it is a folder, a pipe or a device.
        StorageError: it may not be read.
    """
    if reference != "-":
        # The name stands in every case, and a file can hold no name that is not UTF-8.
        name = reference.encode(errors="surrogateescape").decode(errors="replace")
        return Source(name, Path(reference), stack.enter_context(open_lines(reference)))
    copy = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  the stack closes it
    shutil.copyfileobj(standard_input, copy)
    return Source(STANDARD_INPUT, None, copy)


def _syntax(name: str, beginning: bytes) -> str:
    """`lines`, `array`, `json` or `yaml`, from the name and what the file begins with."""
    suffix = Path(name).suffix.lower()
    if suffix in _YAML:
        return "yaml"
    if suffix in _LINES and beginning.strip():
        return "lines"
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"["):
        return "array"
    if not text.startswith(b"{"):
        return "lines" if (text and suffix == ".json") or _has_record(text) else "yaml"
    first, _, rest = text.partition(b"\n")
    following = rest.lstrip()[:1]
    is_whole = first.rstrip().endswith(b"}") and following in (b"{", b"")
    # An object that is spread over lines goes on with a key; a record goes on with the next record.
    return "lines" if is_whole or following == b"{" or len(first) >= _ENOUGH else "json"


def _has_record(text: bytes) -> bool:
    """Whether one of the first lines is an object of its own, so that the others are broken records, and no YAML."""
    lines = [line.strip() for line in text.split(b"\n", _FIRST_LINES)[:_FIRST_LINES]]
    return any(line.startswith(b"{") and line.endswith(b"}") and b'"' in line for line in lines)
