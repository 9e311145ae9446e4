"""Putting the gateway into a client's file in place of the servers that it stands for, and back (rule M9).

Before a client's file is replaced, a copy of it and the entries that leave it are in the user's state folder, for the
user alone. So nothing is lost if the process ends at any point: the file is the old one or the new one, and
`undo_change` knows both. `from` in `toolbelt.yaml` finds the entries there (`find_moved`).

A client's file in the project is everybody's who has the project: the entries that leave it go into a file beside
`toolbelt.yaml` as well, with variables for secrets.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.mcp.configs.client_configs import find_server_places, read_client_config
from toolbelt.mcp.configs.shared_servers import SHARED, share_entries, unshare_entries
from toolbelt.servers.spec import ServerSpec
from toolbelt.sources import blank_comments, decode, parse_json
from toolbelt.sources.json_editing import edit_object
from toolbelt.stores.files import replacing, state_folder

FOLDER = "client-backups"
_LOCK_SECONDS = 30
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, repr=False)
class ClientChange:
    """What becomes of a client's file.

    Attributes:
        file: The client's file, links followed.
        before: Its bytes; `None` where there is none yet.
        after: Its bytes afterwards.
        removed: Names of the entries that leave it.
        kept: Names of entries that stay although the gateway stands for them.
        differing: Names of entries that stay because the project's server of that name is another one.
        moved: The entries that leave it, as a client's file of their own; they may hold secrets.
        shared: The file in the project that gets them, too, without secrets; `None` for a user's own file.
    """

    file: Path
    before: bytes | None
    after: bytes
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    differing: tuple[str, ...]
    moved: Mapping[str, Any]
    shared: Path | None = None


def shared_entry(arguments: Sequence[str], *, with_type: bool) -> dict[str, Any]:
    """As `gateway_entry`, for whoever has the project, and toolbelt on their PATH."""
    return ({"type": "stdio"} if with_type else {}) | {"command": "toolbelt", "args": ["serve", *arguments]}


def gateway_entry(arguments: Sequence[str], environment: Mapping[str, str], *, with_type: bool) -> dict[str, Any]:
    """The entry that starts `toolbelt serve`, with absolute paths, whatever a client's PATH and folder are.

    Args:
        arguments: After `toolbelt serve`.
        environment: Where it moves the state folder, the gateway is given that folder, or it would miss the approvals.
        with_type: Whether the client wants `type`.
    """
    folder = Path(os.path.abspath(sys.executable)).parent  # noqa: PTH100  a link is what makes a virtual environment
    program = next((path for name in ("toolbelt", "toolbelt.exe") if (path := folder / name).is_file()), None)
    # -P: a file `toolbelt.py` in the folder in which a client starts this must not be what runs.
    command = [str(program)] if program else [str(folder / Path(sys.executable).name), "-P", "-m", "toolbelt"]
    entry: dict[str, Any] = {"type": "stdio"} if with_type else {}
    entry |= {"command": command[0], "args": [*command[1:], "serve", *arguments]}
    if environment.get("TOOLBELT_STATE_DIR") or environment.get("XDG_STATE_HOME"):
        entry["env"] = {"TOOLBELT_STATE_DIR": str(state_folder(environment).absolute())}
    return entry


def plan_change(
    file: Path,
    servers: Sequence[ServerSpec],
    entry: Mapping[str, Any],
    *,
    name: str,
    folder: Path,
    new_key: str,
    keep_originals: bool = False,
    is_shared: bool = False,
) -> ClientChange:
    """What a client's file becomes; nothing is written.

    Args:
        file: Of the client; it need not be there.
        servers: Those that the gateway stands for.
        entry: The gateway's.
        name: The gateway's, in the file.
        folder: The project.
        new_key: Under which a new file has its servers.
        keep_originals: Whether the servers' own entries stay.
        is_shared: Whether the file belongs to the project, not to the user.

    Raises:
        InvalidFileError: the file has mistakes.
        ToolbeltError: it has another entry of that name, or cannot be changed without a loss.
        StorageError: it cannot be read.
    """
    real = Path(os.path.realpath(file))
    before = _read_bytes(real)
    text = decode(before or b"", str(file))
    document = parse_json(blank_comments(text if text.strip() else "{}"), str(file))
    if not isinstance(document.data, dict):
        raise InvalidFileError([document.finding("wrong-type", "A client's file is a JSON object.")])
    config = read_client_config(file, folder) if before is not None and text.strip() else None
    gateways = config.gateways if config is not None else ()
    _, places = find_server_places(document, folder)
    present = {key for place in places for key in _at(document.data, place)}
    if name in present and name not in gateways:
        raise ToolbeltError(f"{str(file)!r} has another server named {name!r}; choose a name with --entry.")
    own = {spec.name: spec for spec in config.servers if not spec.disabled} if config is not None else {}
    replaced = [spec.name for spec in servers if spec.name in own and _is_same(spec, own[spec.name], real)]
    differing = [spec.name for spec in servers if spec.name in own and spec.name not in replaced]
    place = next((each for each in places if any(key in _at(document.data, each) for key in replaced)), None)
    target = place if place is not None else places[-1] if places else (new_key,)
    members = _at(document.data, target)
    leaving = () if keep_originals else tuple(key for key in replaced if key in members)
    after = _edit(text, document.data, target, {*leaving, *gateways}, name, entry, file)
    moved: dict[str, Any] = {"mcpServers": {key: members[key] for key in leaving}}
    if "inputs" in document.data:
        moved["inputs"] = document.data["inputs"]
    bom = _BOM if (before or b"").startswith(_BOM) else b""
    return ClientChange(
        real,
        before,
        bom + after.encode(),
        leaving,
        tuple(key for key in replaced if key not in leaving),
        tuple(differing),
        FrozenDict(moved),
        folder / SHARED if is_shared and leaving else None,
    )


def write_change(change: ClientChange, state: Path) -> Path | None:
    """Replace the client's file, after a copy of it is safe.

    A file that is still as toolbelt wrote it keeps the copy from before that, to which `undo_change` returns.

    Returns:
        The folder with the copy; `None` where the file is right already.

    Raises:
        ToolbeltError: the file changed since the change was planned.
        StorageError: the disk would not; the client's file is as it was.
    """
    with _locked(state):
        if _read_bytes(change.file) != change.before:
            raise ToolbeltError(f"Another program changed {str(change.file)!r} meanwhile; run the command again.")
        if change.after == change.before:
            return None
        earlier = next(iter(_folders(state, change.file)), None)
        if earlier is not None and _digest(change.before or b"") not in _read_record(earlier)["written"]:
            earlier = None
        folder = _next_folder(state, change.file)
        _write_copy(change, folder, earlier)
        if change.shared is not None:
            share_entries(change.shared, change.moved)
        change.file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(change.file, "wb") as file:
            file.write(change.after)
        if earlier is not None:
            _remove_copy(earlier)
        return folder


def _write_copy(change: ClientChange, folder: Path, earlier: Path | None) -> None:
    """The file before the change, or before an earlier one; the copy counts once its record is there."""
    original, moved = change.before or b"", dict(change.moved)
    record: dict[str, Any] = {"existed": change.before is not None, "removed": [], "written": []}
    if earlier is not None:
        record = _read_record(earlier)
        original, old = _read_original(earlier, record), _read_copy(earlier, "moved.json", {"mcpServers": dict})
        moved = {**old, **moved, "mcpServers": {**old["mcpServers"], **moved["mcpServers"]}}
    _write_private(folder / "original", original)
    _write_private(folder / "moved.json", _to_json(moved))
    record |= {
        "version": 1,
        "file": str(change.file),
        "original": _digest(original),
        "written": [*record["written"], _digest(change.after)],
        "removed": list(dict.fromkeys([*record["removed"], *change.removed])),
        "shared": str(change.shared or record.get("shared") or ""),
    }
    _write_private(folder / "record.json", _to_json(record))


@dataclass(frozen=True)
class Undone:
    """What `undo_change` did.

    Attributes:
        file: The client's file.
        restored: Names of the entries that are back.
        deleted: Whether the file is gone, as it was before.
        was_original: Whether the file was as before already, so that only the copy was removed.
    """

    file: Path
    restored: tuple[str, ...]
    deleted: bool
    was_original: bool


def undo_change(file: Path, state: Path) -> Undone:
    """Restore a client's file as it was before the last change, byte for byte.

    Raises:
        ToolbeltError: there is nothing to restore, or the file was changed since; the message names the copy.
        StorageError: the disk would not.
    """
    real = Path(os.path.realpath(file))
    with _locked(state):
        folder = next(iter(_folders(state, real)), None)
        if folder is None:
            raise ToolbeltError(f"toolbelt has not changed {str(file)!r}; there is nothing to restore.")
        record = _read_record(folder)
        original, now = _read_original(folder, record), _read_bytes(real)
        existed = bool(record["existed"])
        was_original = (now is not None) == existed and _digest(now or b"") == record["original"]
        if not was_original and (now is None or _digest(now) not in record["written"]):
            raise ToolbeltError(
                f"{str(file)!r} was changed after toolbelt wrote it, and restoring it would lose that change. "
                f"The file as it was before is {str(folder / 'original')!r}; take what you need from it by hand, then "
                f"delete {str(folder)!r}."
            )
        if not was_original and existed:
            with replacing(real, "wb") as handle:
                handle.write(original)
        elif not was_original:
            real.unlink()
        if record.get("shared"):
            unshare_entries(Path(record["shared"]), record["removed"])
        _remove_copy(folder)
        return Undone(real, tuple(record["removed"]), not existed, was_original)


def find_moved(file: Path, state: Path) -> tuple[Path, ...]:
    """Files with the entries that left a client's file, as clients' files of their own; the newest first."""
    return tuple(folder / "moved.json" for folder in _folders(state, Path(os.path.realpath(file))))


def _edit(
    text: str,
    data: Mapping[str, Any],
    target: tuple[Any, ...],
    leaving: set[str],
    name: str,
    entry: Mapping[str, Any],
    file: Path,
) -> str:
    """The text with the gateway at one place, and without what leaves there; checked against the data."""
    expected = json.loads(json.dumps(data))
    holder = expected
    for key in target:
        holder = holder.setdefault(key, {})
    for key in leaving:
        holder.pop(key, None)
    holder[name] = dict(entry)
    source = text if text.strip() else "{}\n"
    edited = edit_object(source, [str(key) for key in target], remove=leaving, key=name, value=dict(entry))
    try:
        is_right = parse_json(blank_comments(edited), "").data == expected
        is_plain = _is_plain(edited) or not _is_plain(source)
    except InvalidFileError:
        is_right = is_plain = False
    if not (is_right and is_plain):
        raise ToolbeltError(f"{str(file)!r} cannot be changed without a loss; paste the entry by hand.")
    return edited


def _is_plain(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_same(spec: ServerSpec, own: ServerSpec, file: Path) -> bool:
    """Whether a server of the project is an entry of a client's file: read from it, or of the same definition."""
    if str(file) in (os.path.realpath(each) for each in spec.files):
        return True
    return (spec.transport, spec.command, spec.args, spec.url) == (own.transport, own.command, own.args, own.url)


def _at(data: Mapping[str, Any], place: Sequence[Any]) -> Mapping[str, Any]:
    for key in place:
        data = data.get(key, {})
    return data if isinstance(data, dict) else {}


def _read_bytes(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"Cannot read {str(file)!r}: {error.strerror or error}.") from None


def _folder_of(state: Path, file: Path) -> Path:
    return state / FOLDER / hashlib.sha256(os.fsencode(file)).hexdigest()[:16]


def _folders(state: Path, file: Path) -> Iterator[Path]:
    """The folders with copies of a file, the newest first."""
    folders = (path.parent for path in _folder_of(state, file).glob("*/record.json"))
    return iter(sorted(folders, key=lambda folder: folder.name, reverse=True))


def _read_record(folder: Path) -> dict[str, Any]:
    return _read_copy(folder, "record.json", {"existed": bool, "original": str, "written": list, "removed": list})


def _read_copy(folder: Path, name: str, keys: Mapping[str, type]) -> dict[str, Any]:
    try:
        data = json.loads(_read_bytes(folder / name) or b"")
    except ValueError:
        data = None
    if not isinstance(data, dict) or not all(isinstance(data.get(key), kind) for key, kind in keys.items()):
        raise _damaged(folder, name)
    return data


def _read_original(folder: Path, record: Mapping[str, Any]) -> bytes:
    original = _read_bytes(folder / "original")
    if original is None or _digest(original) != record["original"]:
        raise _damaged(folder, "original")
    return original


def _damaged(folder: Path, name: str) -> StorageError:
    return StorageError(
        f"{str(folder / name)!r} is damaged, so nothing was changed; take what you need from {str(folder)!r} by hand, "
        "then delete that folder."
    )


def _remove_copy(folder: Path) -> None:
    (folder / "record.json").unlink()  # what is left of the folder no longer counts
    shutil.rmtree(folder, ignore_errors=True)


def _next_folder(state: Path, file: Path) -> Path:
    newest = next(_folders(state, file), None)
    folder = _folder_of(state, file) / f"{int(newest.name) + 1 if newest else 1:04d}"
    shutil.rmtree(folder, ignore_errors=True)  # of a process that ended before its copy counted
    for path in (folder.parent, folder):
        path.mkdir(mode=0o700, exist_ok=True)
    return folder


def _write_private(path: Path, content: bytes) -> None:
    with replacing(path, "wb", is_private=True) as file:
        file.write(content)


def _to_json(data: Mapping[str, Any]) -> bytes:
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout  # only what writes waits for others

    try:
        for path in (state, state / FOLDER):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(state / FOLDER / "lock", timeout=_LOCK_SECONDS, mode=0o600):
            yield
    except Timeout:
        raise StorageError("Another process is changing a client's file; try again.") from None
    except OSError as error:
        raise StorageError(f"Cannot write: {error.strerror or error} ({error.filename}).") from None
