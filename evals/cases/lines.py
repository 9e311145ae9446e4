"""The lines of a case file, one at a time: strict JSON, with every mistake by its line."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError
from toolbelt.findings import Finding, Severity
from toolbelt.sources import decode, parse_json

MAX_LINE = 16 * 1024 * 1024
"""Bytes of a line that are read."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds something.

    Attributes:
        number: Counted from 1.
        offset: Of its first byte in the file.
        raw: Its bytes, without what ends it.
        data: What it holds.
        findings: Why it holds nothing that can be used.
    """

    number: int
    offset: int
    raw: bytes
    data: Any
    findings: tuple[Finding, ...] = ()


def open_lines(path: str) -> BinaryIO:
    """A case file, opened to be read from where one likes.

    Raises:
        NotFoundError: there is none.
        InvalidFileError: it is a folder, a pipe or a device.
        StorageError: it may not be read.
    """
    try:
        mode = Path(path).stat().st_mode  # before opening, which would wait for who writes into a pipe
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or device; cases are read more than once"
            message = f"This is {kind}. Give a file of cases, a line each."
            raise InvalidFileError([Finding("not-a-file", Severity.ERROR, message, path)])
        return Path(path).open("rb")
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last for a NUL in the name
        raise NotFoundError("file", path) from None
    except OSError as error:
        raise StorageError(f"Cannot read {path!r}: {error.strerror or error}.") from None


def read_lines(handle: BinaryIO, source: str) -> Iterator[Line]:
    """Every line that is not blank, from the beginning.

    Args:
        handle: As `open_lines` gives it.
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
                decode(chunk, source)  # says what it is
            if chunk.startswith(_BYTE_ORDER_MARK):
                start, chunk = start + 3, chunk[3:]
        if len(chunk) > MAX_LINE and not chunk.endswith(b"\n"):
            offset += _skip_line(handle)
            message = f"A line of more than {MAX_LINE // 1024**2} MiB is no case."
            yield Line(number, start, b"", None, (Finding("too-long", Severity.ERROR, message, source, number),))
            continue
        raw = chunk.rstrip(b"\r\n")
        if raw.strip():
            yield _read(raw, number, start, source)


def line_digest(raw: bytes) -> int:
    """64 bits that tell whether a line is still the same."""
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest())


def _read(raw: bytes, number: int, offset: int, source: str) -> Line:
    if b"\0" in raw:
        message = "There are NUL bytes in this line; it is binary, or not UTF-8."
        return Line(number, offset, raw, None, (Finding("not-utf8", Severity.ERROR, message, source, number),))
    try:
        return Line(number, offset, raw, parse_json(decode(raw, source), source).data)
    except InvalidFileError as error:
        return Line(number, offset, raw, None, tuple(replace(found, line=number) for found in error.findings))


def _skip_line(handle: BinaryIO) -> int:
    skipped = 0
    while chunk := handle.readline(MAX_LINE):
        skipped += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return skipped
