"""Bytes that are too many to hold in memory."""

from __future__ import annotations

import tempfile
import weakref
from typing import IO


class TemporaryBytes:
    """Bytes in a temporary file, which is made when it is first needed and goes with this object."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def add(self, data: bytes | memoryview) -> int | None:
        """Write bytes behind the others; where they start, or `None` where there is no folder or no room for them."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  closed with this object
                weakref.finalize(self, self._file.close)
            start = self._file.seek(0, 2)
            return start if self._file.write(data) == len(data) else None
        except OSError:
            return None

    def read(self, start: int, count: int) -> bytes:
        """So many of the bytes."""
        assert self._file is not None  # noqa: S101  something was added
        self._file.seek(start)
        return self._file.read(count)
