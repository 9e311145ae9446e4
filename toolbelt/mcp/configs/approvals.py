"""Which definitions a user has approved: stored per user, outside every project, by digest (rule M2)."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.mcp.configs.servers import approval_digest
from toolbelt.servers.spec import Approvable
from toolbelt.stores.files import replacing
from toolbelt.stores.locks import locked

FILE_NAME = "approvals.json"
_VERSION = 1
_Kind = TypeVar("_Kind", bound=Approvable)


@dataclass(frozen=True)
class Approvals:
    """The approvals of one user.

    Attributes:
        folder: Where they are; `stores.files.state_folder`. Made, for the user alone, when there is something to keep.
    """

    folder: Path

    def missing(self, specs: Iterable[_Kind], environment: Mapping[str, str]) -> tuple[_Kind, ...]:
        """Those that are not approved as they are now, in their order.

        Raises:
            StorageError: the approvals cannot be read, are damaged, or could be another user's.
        """
        approved = self._read()
        return tuple(spec for spec in specs if approval_digest(spec, environment) not in approved)

    def add(self, specs: Iterable[Approvable], environment: Mapping[str, str]) -> None:
        """Approve definitions as they are now; several processes may do so at once.

        Raises:
            StorageError: the approvals cannot be written.
        """
        entries = {approval_digest(spec, environment): {"name": spec.name, "source": spec.source} for spec in specs}
        path = self.folder / FILE_NAME
        with locked(self.folder / f"{FILE_NAME}.lock", repr(str(path))):
            approved = {**self._read(), **entries}
            text = json.dumps({"version": _VERSION, "approved": approved}, indent=1, sort_keys=True) + "\n"
            with replacing(path, "w", is_private=True) as file:
                file.write(text)

    def _read(self) -> dict[str, Any]:
        path = self.folder / FILE_NAME
        try:
            refuse_unsafe_file(path)
            data = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(f"Cannot read {str(path)!r}: {error.strerror or error}.") from None
        except ValueError:
            data = None
        approved = data.get("approved") if isinstance(data, dict) else None
        if not isinstance(approved, dict):
            raise StorageError(f"{str(path)!r} is damaged. Delete it; you will be asked to approve servers again.")
        return approved


def refuse_unsafe_files(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Refuse files that somebody else may have written; raises as `refuse_unsafe_file`, for the first of them.

    A file that is not there is not refused: whoever reads it will notice.
    """
    for path in dict.fromkeys(os.fspath(path) for path in paths):
        try:
            refuse_unsafe_file(path)
        except OSError:
            continue


def refuse_unsafe_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file that another user owns or everybody may write, or whose folder lets everybody replace it.

    Of a link, the file that it leads to and the folder in which it stands count. root may own anything: root can
    change anything. Windows has other permissions, and is not checked.

    Raises:
        ToolbeltError: it is unsafe; the message has the command that corrects it.
        OSError: it is not there.
    """
    if os.name == "nt":
        return
    absolute = Path(path).absolute()
    real = Path(os.path.realpath(absolute))
    for place in dict.fromkeys((absolute, real, absolute.parent, real.parent)):
        status = place.lstat() if place == absolute else place.stat()
        if status.st_uid not in (os.getuid(), 0):
            owner = _owner_name(status.st_uid)
            hint = f"copy it, or take it over with: chown {_owner_name(os.getuid())} {str(place)!r}"
            raise ToolbeltError(f"{str(place)!r} belongs to {owner}, who could start programs as you; {hint}")
        if stat.S_ISLNK(status.st_mode) or not status.st_mode & stat.S_IWOTH:
            continue
        if not (stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX):
            raise ToolbeltError(
                f"Everybody may write {str(place)!r}, and so could start programs as you; "
                f"correct it with: chmod o-w {str(place)!r}"
            )


def _owner_name(uid: int) -> str:
    import pwd  # which Windows lacks

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
