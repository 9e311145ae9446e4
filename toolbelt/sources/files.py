"""Texts and documents from the disk."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from toolbelt.errors import InvalidDefinitionError, InvalidFileError, NotFoundError, StorageError
from toolbelt.findings import Finding, Severity
from toolbelt.sources.document import Document
from toolbelt.sources.json_text import parse_json
from toolbelt.sources.yaml_text import parse_yaml
from toolbelt.text import show_value

MAX_BYTES = 256 * 1024 * 1024
"""Bytes of a file that is read whole; a catalog of 100,000 tools has less."""


def refuse_special(path: str | os.PathLike[str]) -> None:
    """Refuse what is no regular file, before it is opened: a pipe would be waited for, a device never ends.

    Raises:
        InvalidFileError: a folder, a pipe, a socket or a device.
        OSError, ValueError: as `os.stat`.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116  of a path as it was given
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe or device; put what it gives into a file"
        raise InvalidFileError([Finding("not-a-file", Severity.ERROR, f"This is {what}.", os.fspath(path))])


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a UTF-8 file (a byte-order mark is dropped).

    Raises:
        NotFoundError: no such file.
        InvalidDefinitionError: the path is no path.
        InvalidFileError: it is a folder, a pipe, a device or larger than 256 MiB, or not UTF-8 (with the line of the
            first bad byte).
        StorageError: it may not be read.
    """
    given: object = path
    if not isinstance(given, str | os.PathLike):
        raise InvalidDefinitionError(f"The path of a file must be text or a path, not {show_value(given)}.")
    file = Path(path)
    try:
        refuse_special(file)
        with file.open("rb") as handle:
            is_too_long = os.fstat(handle.fileno()).st_size > MAX_BYTES
            raw = b"" if is_too_long else handle.read()
    except FileNotFoundError:
        siblings = _names_beside(file)
        raise NotFoundError("file", str(path), siblings) from None
    except (OSError, ValueError) as error:
        # A NUL in the name, a name too long, a file in the place of a folder: nothing can be there.
        if isinstance(error, ValueError) or error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP):
            raise NotFoundError("file", str(path)) from None
        raise StorageError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None
    if is_too_long:
        message = f"This has more than {MAX_BYTES >> 20} MiB, and is read whole; give a smaller file."
        raise InvalidFileError([Finding("too-long", Severity.ERROR, message, str(path))])
    return decode(raw, str(path))


def decode(raw: bytes, source: str) -> str:
    """UTF-8 bytes as text.

    Raises:
        InvalidFileError: not UTF-8.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        hint = " It looks like UTF-16; save it as UTF-8." if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        message = f"Not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}.{hint}"
        raise InvalidFileError([Finding("not-utf8", Severity.ERROR, message, source, line)]) from None


def read_document(path: str | os.PathLike[str]) -> Document:
    """A `.json` file as JSON, anything else as YAML.

    Raises:
        NotFoundError: no such file.
        InvalidFileError: its mistakes.
    """
    text = read_text(path)
    return parse_json(text, str(path)) if str(path).lower().endswith(".json") else parse_yaml(text, str(path))


def _names_beside(file: Path) -> tuple[str, ...]:
    try:
        return tuple(str(file.parent / entry.name) for entry in file.parent.iterdir())
    except OSError:
        return ()
