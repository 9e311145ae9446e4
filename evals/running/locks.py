"""Locks on runs: one process at a time works on a run, and a killed process releases its lock."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolbelt.errors import StorageError, ToolbeltError


@dataclass(frozen=True, slots=True)
class RunLocks:
    """Locks of the operating system, which end with the process that holds them; the empty files stay.

    Attributes:
        folder: Where they are.
        kind: What is held, in words.
    """

    folder: Path
    kind: str = "run"

    @contextlib.contextmanager
    def claim(self, run: str, shown: str | None = None) -> Iterator[None]:
        """Hold a run, so that no other process works on it; `shown` is its name in messages, if not its id.

        Raises:
            ToolbeltError: another process holds it.
            StorageError: the disk would not.
        """
        from filelock import FileLock, Timeout

        lock, name = FileLock(self._path(run)), shown or repr(run)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            raise ToolbeltError(f"{self.kind.capitalize()} {name} is being worked on by another process.") from None
        except OSError as error:
            raise StorageError(f"Cannot lock {self.kind} {name}: {error.strerror or error}.") from None
        try:
            yield
        finally:
            lock.release()

    def is_held(self, run: str) -> bool:
        """Whether a process works on a run now."""
        from filelock import FileLock, Timeout

        if not self._path(run).exists():
            return False
        try:
            with FileLock(self._path(run)).acquire(timeout=0):
                return False
        except Timeout:
            return True
        except OSError:
            return False

    def _path(self, run: str) -> Path:
        return self.folder / f"{run}.lock"
