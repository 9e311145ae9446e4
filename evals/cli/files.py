"""Files that a command writes, and those that it reads, which are not to be the same."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from toolbelt.errors import ToolbeltError

_BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside the file of runs: without its own, a store is short of its latest runs, or broken."""


def keep_apart(read: Mapping[str, str | None], written: Mapping[str, str | None]) -> None:
    """Refuse a command that would overwrite its input or write a file twice, before any work is done.

    Args:
        read: Paths by what they are called in the command (`--store`); `None` for what is no file.
        written: Paths in the same form. A pipe or device, such as /dev/null, may be named more than once.

    Raises:
        ToolbeltError: two paths are the same file, whatever their names; or one belongs to a file of runs.
    """
    taken = {what: path for what, path in read.items() if path}
    for what, path in written.items():
        if not path or (Path(path).exists() and not Path(path).is_file()):
            continue
        for other, known in taken.items():
            if is_same_file(path, known):
                raise ToolbeltError(f"{other} and {what} are the same file, {path!r}; name another.")
            if other == "--store" and any(is_same_file(path, known + ending) for ending in _BESIDE):
                raise ToolbeltError(f"{what}, {path!r}, belongs to the file of runs, {known!r}; name another.")
        taken[what] = path


def is_same_file(path: str, other: str) -> bool:
    """Whether two paths lead to one file; what is not there yet is known by its path alone."""
    try:
        return os.path.realpath(path) == os.path.realpath(other) or os.path.samefile(path, other)  # noqa: PTH121
    except (OSError, ValueError):  # one of them is not there, or can be no path
        return False
