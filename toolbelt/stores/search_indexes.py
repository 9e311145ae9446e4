"""Search indexes of large catalogs, kept on disk by their content (rule S2).

It is only a cache: if it cannot be read or written, the index is built again. What a file holds is for its reader to
check.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolbelt.errors import ToolbeltError
from toolbelt.stores.files import replacing

KEPT = 8
"""Number of indexes that are kept: those that were used last."""


@dataclass(frozen=True, slots=True)
class SearchIndexes:
    """A folder of indexes.

    Attributes:
        folder: Where they are; made if need be.
    """

    folder: Path

    def read(self, key: str) -> bytes | None:
        """What was written last under a key; `None` if nothing is there, or it cannot be read."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        with contextlib.suppress(OSError):
            path.touch()  # so that it counts as used
        return data

    def write(self, key: str, data: bytes) -> None:
        """Keep an index in place of the one that is there, and remove those that were not used for longest."""
        with contextlib.suppress(OSError, ToolbeltError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self._path(key), "wb") as file:
                file.write(data)
            for path in sorted(self._paths(), key=lambda path: path.stat().st_mtime_ns, reverse=True)[KEPT:]:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"

    def _paths(self) -> Iterator[Path]:
        """All files, with what a process that was killed left behind."""
        yield from self.folder.glob("*.npz")
        yield from self.folder.glob(".*.tmp")
