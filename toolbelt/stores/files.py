"""Writing files so that nothing is ever half-written, and where toolbelt keeps its own."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from toolbelt.errors import StorageError, ToolbeltError


def write_text(path: str | os.PathLike[str], text: str, *, overwrite: bool = True) -> None:
    """Replace a file as a whole: readers see the old text or the new one, whatever happens meanwhile.

    Args:
        path: A link is followed, so that its target is replaced; the mode of an existing file is kept.
        text: Written as UTF-8.
        overwrite: Whether a file that is there may be replaced.

    Raises:
        ToolbeltError: it is there and may not be replaced, or is a folder.
        StorageError: the disk would not; what was there is untouched.
    """
    given = Path(path)
    if given.is_dir():
        raise ToolbeltError(f"{str(path)!r} is a folder; name a file.")
    if given.exists() and not given.is_file():
        _write_through(given, text)  # a pipe or device such as /dev/stdout cannot be replaced, and loses nothing
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not overwrite:
        raise ToolbeltError(f"{str(path)!r} exists already; use --force to replace it, or another name.")
    import tempfile  # most commands write nothing

    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise _refused(path, error) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode_for(target))
        if overwrite:
            Path(temporary).replace(target)
        else:
            _move_where_nothing_is(Path(temporary), target)
    except FileExistsError:
        _discard(temporary)
        raise ToolbeltError(f"{str(path)!r} exists already; use --force to replace it, or another name.") from None
    except OSError as error:
        _discard(temporary)
        raise _refused(path, error) from None
    except BaseException:
        _discard(temporary)
        raise


def make_way_for(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse before any work is done what could not be written after it.

    Raises:
        ToolbeltError: a file is there and may not be replaced, or it is a folder.
    """
    if Path(path).is_dir():
        raise ToolbeltError(f"{str(path)!r} is a folder; name a file.")
    if os.path.lexists(path) and not overwrite:
        raise ToolbeltError(f"{str(path)!r} exists already; use --force to replace it, or another name.")


def _move_where_nothing_is(temporary: Path, target: Path) -> None:
    try:
        os.link(temporary, target)  # unlike a rename, fails if somebody was quicker
    except FileExistsError:
        raise
    except OSError:
        if target.exists():  # a file system without hard links, where this look is the best there is
            raise FileExistsError from None
        temporary.replace(target)
        return
    temporary.unlink()


def shown_path(path: Path, folder: Path | None = None) -> str:
    """`path` as a user in `folder` (the working directory if `None`) would write it."""
    base = Path.cwd() if folder is None else folder
    absolute = path if path.is_absolute() else base / path
    shown = os.path.relpath(absolute, base)
    return str(absolute) if shown.startswith(os.path.join("..", "..")) else shown  # noqa: PTH118


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where what can be made again is kept: `TOOLBELT_CACHE_DIR`, else the user's cache folder."""
    if chosen := environment.get("TOOLBELT_CACHE_DIR"):
        return Path(chosen)
    base = environment.get("XDG_CACHE_HOME") or environment.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "toolbelt"


def _write_through(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _refused(target, error) from None


def _mode_for(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _discard(temporary: str) -> None:
    with contextlib.suppress(OSError):
        Path(temporary).unlink()


def _refused(path: str | os.PathLike[str], error: OSError) -> StorageError:
    return StorageError(f"Cannot write {str(path)!r}: {error.strerror or error}. Nothing was changed.")
