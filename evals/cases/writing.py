"""Writing cases as they come, with nothing under their name before all of them are there."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.stores.files import make_way_for


class CasesWriter:
    """A file of cases being written, in toolbelt's own layout.

    Used in a `with` statement. The file takes its name in `finish`; left without it, nothing has changed.

    Args:
        path: Its folder is made if it is not there.
        overwrite: Whether a file that is there may be replaced.

    Attributes:
        path: As given.
        count: Cases added so far.

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
        with contextlib.suppress(OSError):  # also where it has its name already
            Path(self._temporary).unlink()

    def add_line(self, line: str) -> None:
        """One more case, as its line was written; raises `StorageError` where the disk would not."""
        try:
            self._file.write(f"{line}\n")
        except OSError as error:
            raise self._refused(error) from None
        self.count += 1

    def finish(self) -> None:
        """Give the file its name.

        Raises:
            ToolbeltError: meanwhile somebody else wrote it.
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
    """A case as a line of a file: JSON, with lone surrogates escaped, which UTF-8 has no bytes for.

    Raises:
        ToolbeltError: a value that JSON has no word for.
    """
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ToolbeltError(f"Case {row.get('id')!r} cannot be written as JSON: {error}.") from None
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return json.dumps(row, allow_nan=False)
