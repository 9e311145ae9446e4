"""Read and write a file of cases, line by line; a mistake in the JSON is a finding of its line."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError, ToolbeltError
from toolbelt.findings import Finding, Severity
from toolbelt.sources import decode, parse_json, refuse_special
from toolbelt.stores.files import make_way_for

MAX_LINE = 16 * 1024 * 1024
"""Bytes of a line that are read."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One line that is not blank.

    Attributes:
        number: Counted from 1.
        offset: Position of its first byte in the file.
        raw: Its bytes, without the line end.
        data: Its JSON value.
        findings: The reasons if it has no usable value.
    """

    number: int
    offset: int
    raw: bytes
    data: Any
    findings: tuple[Finding, ...] = ()


def open_lines(path: str) -> BinaryIO:
    """Open a file of cases for reading at any position.

    Raises:
        NotFoundError: the file does not exist.
        InvalidFileError: it is a folder, a pipe or a device.
        StorageError: it cannot be read.
    """
    try:
        refuse_special(path)  # cases are read more than once, too
        return Path(path).open("rb")
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last for a NUL in the name
        raise NotFoundError("file", path) from None
    except OSError as error:
        raise StorageError(f"Cannot read {path!r}: {error.strerror or error}.") from None


def read_lines(handle: BinaryIO, source: str) -> Iterator[CaseLine]:
    """Every line that is not blank, from the beginning.

    Args:
        handle: A file from `open_lines`.
        source: The path as the user wrote it.

    Raises:
        InvalidFileError: the file is UTF-16.
    """
    handle.seek(0)
    offset, number = 0, 0
    while chunk := handle.readline(MAX_LINE + 1):
        number += 1
        start, offset = offset, offset + len(chunk)
        if number == 1:
            if chunk.startswith(_UTF16):
                decode(chunk, source)  # raises, and says which encoding it is
            if chunk.startswith(_BYTE_ORDER_MARK):
                start, chunk = start + 3, chunk[3:]
        if len(chunk) > MAX_LINE and not chunk.endswith(b"\n"):
            offset += _skip_line(handle)
            message = f"A line of more than {MAX_LINE // 1024**2} MiB is no case."
            yield CaseLine(number, start, b"", None, (Finding("too-long", Severity.ERROR, message, source, number),))
            continue
        raw = chunk.rstrip(b"\r\n")
        if raw.strip():
            yield _read_line(raw, number, start, source)


def _read_line(raw: bytes, number: int, offset: int, source: str) -> CaseLine:
    if b"\0" in raw:
        message = "There are NUL bytes in this line; it is binary, or not UTF-8."
        return CaseLine(number, offset, raw, None, (Finding("not-utf8", Severity.ERROR, message, source, number),))
    try:
        return CaseLine(number, offset, raw, parse_json(decode(raw, source), source).data)
    except InvalidFileError as error:
        return CaseLine(number, offset, raw, None, tuple(replace(finding, line=number) for finding in error.findings))


def _skip_line(handle: BinaryIO) -> int:
    skipped = 0
    while chunk := handle.readline(MAX_LINE):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return skipped


class CasesWriter:
    """Writes a file of cases, in toolbelt's own layout, under a temporary name.

    Used in a `with` statement. `finish` gives the file its name; without it, nothing is changed.

    Args:
        path: Its folder is created if it is not there.
        overwrite: Whether an existing file may be replaced.

    Attributes:
        path: As given.
        count: Cases written so far.

    Raises:
        ToolbeltError: the file is there and may not be replaced, or its name is a folder's.
        StorageError: the disk would not.
    """

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        self.path = path
        self.count = 0
        self._overwrite = overwrite
        self._target = Path(os.path.realpath(path))
        make_way_for(path, overwrite=overwrite)
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            handle, self._temporary = tempfile.mkstemp(
                prefix=f".{path.name[:40]}.", suffix=".tmp", dir=self._target.parent
            )
        except OSError as error:
            raise self._refused(error) from None
        self._file = os.fdopen(handle, "w", encoding="utf-8", newline="\n")

    def __enter__(self) -> CasesWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):  # after `finish` it is not there any more
            Path(self._temporary).unlink()

    def add_line(self, line: str) -> None:
        """Write one line; raises `StorageError` if the disk fails."""
        try:
            self._file.write(f"{line}\n")
        except OSError as error:
            raise self._refused(error) from None
        self.count += 1

    def finish(self) -> None:
        """Give the file its name.

        Raises:
            ToolbeltError: another process wrote it meanwhile.
            StorageError: the disk would not.
        """
        make_way_for(self.path, overwrite=self._overwrite)
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            umask = os.umask(0)
            os.umask(umask)
            Path(self._temporary).chmod(0o666 & ~umask)
            Path(self._temporary).replace(self._target)
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: OSError) -> StorageError:
        return StorageError(f"Cannot write {str(self.path)!r}: {error.strerror or error}. Nothing was changed.")


def case_line(row: Mapping[str, Any]) -> str:
    """A case as a line of JSON; lone surrogates, which UTF-8 cannot encode, are escaped.

    Raises:
        ToolbeltError: a value that JSON cannot represent.
    """
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ToolbeltError(f"Case {row.get('id')!r} cannot be written as JSON: {error}.") from None
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return json.dumps(row, allow_nan=False)
