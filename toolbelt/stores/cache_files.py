"""Large values by a key, such as search indexes, each in a file of a folder (rule S2).

It is only a cache: if it cannot be read or written, the value is made again. What a file holds is for its reader to
check.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolbelt.errors import ToolbeltError
from toolbelt.stores.files import replacing

KEPT = 8
"""Number of files that are kept: those that were used last."""


@dataclass(frozen=True, slots=True)
class CacheFiles:
    """A folder of values.

    Attributes:
        folder: Where they are; made if need be.
        suffix: How the names of their files end.
        kept: Number of files that are kept.
    """

    folder: Path
    suffix: str = ".npz"
    kept: int = KEPT

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
        """Keep a value in place of the one that is there, and remove those that were not used for longest."""
        self.write_parts(key, (data,))

    def write_parts(self, key: str, parts: Iterable[bytes]) -> None:
        """As `write`, of a value whose parts are made one by one; what they raise is raised, and nothing is kept."""
        with contextlib.suppress(OSError, ToolbeltError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(self._path(key), "wb") as file:
                file.writelines(parts)
            for path in sorted(self._paths(), key=lambda path: path.stat().st_mtime_ns, reverse=True)[self.kept :]:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{self.suffix}"

    def _paths(self) -> Iterator[Path]:
        """All files, with what a process that was killed left behind."""
        yield from self.folder.glob(f"*{self.suffix}")
        yield from self.folder.glob(".*.tmp")
