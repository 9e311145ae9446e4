"""Files written as a whole: one, or all of a report."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from toolbelt.errors import StorageError, ToolbeltError

Open = Callable[[str, str], contextlib.AbstractContextManager[IO[Any]]]
"""Opens a file by its name and mode: `w` for text in UTF-8 with line ends as they are written, `wb` for bytes."""
_STAGE = ".writing-"
_ABANDONED_SECONDS = 86_400
"""By then nobody writes there any more."""


@contextlib.contextmanager
def replacing(path: Path, mode: str) -> Iterator[IO[Any]]:
    """A file to write to that takes the place of `path` at the end, if nothing fails meanwhile.

    Args:
        path: What is to be replaced, or made. A link is followed; a pipe or device is written to as it is.
        mode: `w` for text in UTF-8, `wb` for bytes.

    Raises:
        ToolbeltError: it is a folder.
        StorageError: the disk would not; what was there is untouched.
    """
    if path.is_dir():
        raise _no_file(path, "name a file")
    if path.exists() and not path.is_file():
        with _telling(path), path.open(mode, **_how(mode)) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    with _telling(path, target.parent):
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, mode, **_how(mode)) as file:
                yield file
                _keep(file)
            temporary.chmod(_mode_for(target))
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing_all(folder: Path) -> Iterator[Open]:
    """A way to write files of a folder, which takes their place there at the end, if nothing fails meanwhile.

    Args:
        folder: Made if need be; other files in it are left alone.

    Yields:
        A function to open each by its name.

    Raises:
        ToolbeltError: a file is to have the name of a folder there.
        StorageError: the disk would not; what was there is untouched, and no new folder is left behind.
    """
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    with _telling(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _clear_abandoned(folder)
            stage = Path(tempfile.mkdtemp(prefix=_STAGE, suffix=".tmp", dir=folder))
            names: dict[str, None] = {}
            try:
                yield lambda name, mode: _staged(stage, folder, names, name, mode)
                for name in names:
                    (stage / name).replace(folder / name)
            finally:
                shutil.rmtree(stage, ignore_errors=True)
        except BaseException:
            for parent in made:
                with contextlib.suppress(OSError):
                    parent.rmdir()
            raise


def _clear_abandoned(folder: Path) -> None:
    """Remove what a killed process left behind."""
    for left in folder.glob(f"{_STAGE}*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(left, ignore_errors=True)


@contextlib.contextmanager
def _staged(stage: Path, folder: Path, names: dict[str, None], name: str, mode: str) -> Iterator[IO[Any]]:
    if (folder / name).is_dir():  # which would be found only when the files before it are in their places
        raise _no_file(folder / name, "move it away")
    with _telling(folder / name, stage), (stage / name).open(mode, **_how(mode)) as file:
        yield file
        _keep(file)
    names[name] = None


def _no_file(path: Path, do: str) -> ToolbeltError:
    return ToolbeltError(f"{str(path)!r} is a folder; {do}.")


@contextlib.contextmanager
def _telling(path: Path, *folders: Path) -> Iterator[None]:
    """With what the system refuses told of that path, whatever it is called meanwhile.

    Args:
        path: What is to be written.
        folders: Where else files are made on the way to it.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:  # which a failed write does not have: else it may be of what is read meanwhile
            named = Path(os.fsdecode(error.filename))
            if named not in (path, *path.parents) and named.parent not in (path, path.parent, *folders):
                raise
        raise StorageError(f"Cannot write {str(path)!r}: {error.strerror or error}.") from None


def _how(mode: str) -> dict[str, Any]:
    return {} if "b" in mode else {"encoding": "utf-8", "newline": ""}


def _keep(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _mode_for(target: Path) -> int:
    with contextlib.suppress(OSError):
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
