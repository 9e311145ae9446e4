"""Writing files so that nothing is ever half-written, and where toolbelt keeps its own."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from toolbelt.errors import StorageError, ToolbeltError

LOADOUT_SUFFIXES = (".loadout.yaml", ".loadout.yml")
"""How the name of a file with one loadout ends."""
_UNTOUCHED = "Nothing was changed."


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
    with replacing(path, "w", overwrite=overwrite) as file:
        file.write(text)


@contextlib.contextmanager
def replacing(
    path: str | os.PathLike[str], mode: str, *, overwrite: bool = True, is_private: bool = False
) -> Iterator[IO[Any]]:
    """A file to write to that takes the place of `path` at the end, if nothing fails meanwhile.

    Args:
        path: What is to be replaced, or made. A link is followed; a pipe or device is written to as it is.
        mode: `w` for text in UTF-8 with line ends as they are written, `wb` for bytes.
        overwrite: Whether a file that is there may be replaced, at the end as at the beginning.
        is_private: Whether only the user may read and write it, whatever the mode of one that is there.

    Raises:
        ToolbeltError: it is there and may not be replaced, or is a folder.
        StorageError: the disk would not; what was there is untouched.
    """
    target = Path(path)
    if target.is_dir():
        raise ToolbeltError(f"{str(path)!r} is a folder; name a file.")
    if target.exists() and not target.is_file():  # such as /dev/stdout, which cannot be replaced, and loses nothing
        with _naming_the_path(target, ""), target.open(mode, **_how(mode)) as file:
            yield file
        return
    staged = StagedFile(target)
    if staged.target.exists() and not overwrite:
        raise _exists(path)
    try:
        with staged.open(mode, is_private=is_private) as file:
            yield file
        staged.take_place(overwrite=overwrite)
    finally:
        staged.discard()


class StagedFile:
    """A file that is written beside its place, and moved there at the end.

    Args:
        path: What it is to replace, or to be; a link is followed.
        folder: Where it is written: on the same file system. Beside its place if `None`.
    """

    def __init__(self, path: Path, folder: Path | None = None) -> None:
        self.path = path
        self.target = Path(os.path.realpath(path))
        self._folder = folder or self.target.parent
        self._temporary: Path | None = None

    @contextlib.contextmanager
    def open(self, mode: str, *, is_private: bool = False) -> Iterator[IO[Any]]:
        """To be written, once; on the disk when it is closed, readable for the user alone if it is private.

        Raises:
            StorageError: the disk would not.
        """
        import tempfile  # most commands write nothing

        with _naming_the_path(self.path, _UNTOUCHED, self._folder):
            prefix = f".{self.target.name[:40]}."
            handle, name = tempfile.mkstemp(prefix=prefix, suffix=".tmp", dir=self._folder)
            self._temporary = Path(name)
            with os.fdopen(handle, mode, **_how(mode)) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            self._temporary.chmod(0o600 if is_private else _mode_for(self.target))

    def take_place(self, *, overwrite: bool = True, after: str = _UNTOUCHED) -> None:
        """Be the file from now on, with the mode of the one that was there.

        Args:
            overwrite: Whether to replace what is there.
            after: A sentence for the error: what has changed already.

        Raises:
            ValueError: it has not been written.
            ToolbeltError: something is there, and may not be replaced.
            StorageError: the disk would not.
        """
        if self._temporary is None:
            raise ValueError(f"{str(self.path)!r} has not been written.")
        with _naming_the_path(self.path, after, self._folder):
            if overwrite:
                self._temporary.replace(self.target)
                return
            try:
                _move_where_nothing_is(self._temporary, self.target)
            except FileExistsError:
                raise _exists(self.path) from None

    def discard(self) -> None:
        """Remove what was written, unless it has taken its place."""
        if self._temporary is not None:
            with contextlib.suppress(OSError):
                self._temporary.unlink(missing_ok=True)


def make_way_for(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse before any work is done what could not be written after it.

    Raises:
        ToolbeltError: a file is there and may not be replaced, or it is a folder.
    """
    if Path(path).is_dir():
        raise ToolbeltError(f"{str(path)!r} is a folder; name a file.")
    if os.path.lexists(path) and not overwrite:
        raise _exists(path)


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


def portable_path(path: Path, folder: Path) -> str:
    """A file as a file in `folder` refers to it for every user: relative, or from the user's folder (`~/…`)."""
    absolute, base = Path(os.path.abspath(path)), Path(os.path.abspath(folder))  # noqa: PTH100  links stay links
    if absolute.is_relative_to(base):
        return absolute.relative_to(base).as_posix()
    if absolute.is_relative_to(Path.home()):
        return f"~/{absolute.relative_to(Path.home()).as_posix()}"
    return str(absolute)


OWN_FOLDER = ".toolbelt"
"""Where a project keeps its runs, responses and sessions."""


def make_folder(folder: Path) -> None:
    """Make a folder, with its parents; `.toolbelt`, which holds nothing to commit, with a `.gitignore` that says so.

    Raises:
        OSError: the disk would not.
    """
    is_new = folder.name == OWN_FOLDER and not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if is_new:
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder for caches: `TOOLBELT_CACHE_DIR`, else the user's cache folder."""
    if chosen := environment.get("TOOLBELT_CACHE_DIR"):
        return Path(chosen)
    base = environment.get("XDG_CACHE_HOME") or environment.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "toolbelt"


def state_folder(environment: Mapping[str, str]) -> Path:
    """The user's folder for what must last and belongs to no project: approvals, logs, tokens of servers.

    `TOOLBELT_STATE_DIR`, else the user's state folder. Never from a `.env`, by which a project could approve itself.
    """
    if chosen := environment.get("TOOLBELT_STATE_DIR"):
        return Path(chosen)
    base = environment.get("XDG_STATE_HOME") or environment.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".local" / "state") / "toolbelt"


@contextlib.contextmanager
def _naming_the_path(path: Path, after: str, *folders: Path) -> Iterator[None]:
    """Errors of the system name that path, not the temporary file.

    Args:
        path: The file that is written.
        after: A sentence about the state of the file that was there.
        folders: Other folders with temporary files.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:  # which a failed write does not have: else it may be of what is read meanwhile
            named = Path(os.fsdecode(error.filename))
            places = {path.parent, Path(os.path.realpath(path)).parent, *folders}
            if named not in (path, *path.parents) and named.parent not in places:
                raise
        raise StorageError(f"Cannot write {str(path)!r}: {error.strerror or error}. {after}".rstrip()) from None


def _how(mode: str) -> dict[str, Any]:
    return {} if "b" in mode else {"encoding": "utf-8", "newline": ""}


def _mode_for(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def _exists(path: str | os.PathLike[str]) -> ToolbeltError:
    return ToolbeltError(f"{os.fspath(path)!r} exists already; use --force to replace it, or another name.")
