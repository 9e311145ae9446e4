"""The audit log of the gateway: who called what, and with which result (rule M10).

JSON Lines, mode 0600, in numbered files. A record is appended in one write, so that several gateways share a file and
no line of one breaks a line of another. A thread writes, because neither a slow disk nor counting tokens may delay a
call. The records:

- `session`: a client connected; the loadout or agent, the digest, and the tools that it is offered with their tokens.
- `started`: a call is about to run; written only if the audit log is required, and before anything runs.
- `call`: a call ended; status, latency, size of the answer; arguments only if that was asked for.
- `guard`: the decision of a guard (rule K7).
- `lost`: how many records could not be written before this one.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.errors import StorageError
from toolbelt.mcp.configs.secrets import without_secrets
from toolbelt.stores.files import state_folder

FILE_PATTERN = "audit-*.jsonl"
MAX_FILE_BYTES = 10_000_000
"""A file that would grow beyond this is closed, and the next one begun."""
MAX_FILES = 10
"""The oldest files beyond this number are deleted."""
MAX_COUNTED_CHARS = 1_000_000
"""Characters of an answer whose tokens are counted; of a longer one only the bytes are recorded."""
MAX_ARGUMENTS_CHARS = 50_000
_MAX_WAITING = 10_000
_MAX_NAME_CHARS = 200
_CLOSE_SECONDS = 2.0


def audit_folder(environment: Mapping[str, str]) -> Path:
    """Where gateways write their audit log: one for all projects of a user."""
    return state_folder(environment) / "audit"


class CallStatus(StrEnum):
    """How a call ended."""

    OK = "ok"
    TOOL_ERROR = "tool_error"
    """The tool ran and answered with `isError`."""
    PROTOCOL_ERROR = "protocol_error"
    """The server answered with a JSON-RPC error."""
    SERVER_FAILED = "server_failed"
    """The server did not start, died, or sent too much."""
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    REFUSED = "refused"
    """The tool did not run; the reason is in the record."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool in the client's list.

    Attributes:
        name: Its wire name.
        server: Its server; empty for a meta-tool or a Python tool.
        tokens: Of its definition.
    """

    name: str
    server: str
    tokens: int


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A client that connected.

    Attributes:
        session: Its id in this log; random, and no id of the protocol.
        client: As the client names itself.
        client_version: Likewise.
        protocol: The protocol version.
        loadout: What is served; empty where an agent is.
        agent: Likewise; empty where a loadout is.
        digest: Of the tools that it is offered (rule M5).
        offered: These tools, meta-tools included.
        tokenizer: What counted the tokens.
    """

    session: str
    client: str
    client_version: str
    protocol: str
    loadout: str
    agent: str
    digest: str
    offered: Sequence[OfferedTool]
    tokenizer: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call that ended.

    Attributes:
        session: Of its client.
        tool: The wire name of the tool; for a name that does not exist, as the client wrote it.
        server: The server of the tool; empty for a meta-tool, a Python tool or an unknown name.
        status: How it ended.
        seconds: From the request to the answer.
        reason: Why it was refused, in a word.
        via: The meta-tool through which it was called; empty for a direct call.
        answer: Texts of the answer, whose tokens are counted.
        bytes: Of the answer as JSON; `None` if there is none.
        arguments: As the client sent them; recorded only if the log was made for that.
    """

    session: str
    tool: str
    server: str
    status: CallStatus
    seconds: float
    reason: str = ""
    via: str = ""
    answer: Sequence[str] = ()
    bytes: int | None = None
    arguments: Mapping[str, Any] | None = None


Record = dict[str, Any]


class AuditLog:
    """Writes the audit log.

    If a record cannot be written, that is reported once, and calls go on; records are written again as soon as that is
    possible, after one that states how many were lost.

    Attributes:
        required: Whether a call must not run if it cannot be recorded; see `admit`.

    Args:
        folder: Of the log; created with mode 0700.
        report: Gets a sentence for standard error, once, if something cannot be written.
        count: Counts tokens, in the writing thread.
        required: As above.
        log_arguments: Whether arguments are recorded. Values that look like secrets never are.
        max_file_bytes: As `MAX_FILE_BYTES`.
        max_files: As `MAX_FILES`.
        clock: Seconds since 1970.
    """

    def __init__(
        self,
        folder: Path,
        *,
        report: Callable[[str], None],
        count: TokenCounter,
        required: bool = False,
        log_arguments: bool = False,
        max_file_bytes: int = MAX_FILE_BYTES,
        max_files: int = MAX_FILES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.required = required
        self._report = report
        self._count = count
        self._log_arguments = log_arguments
        self._clock = clock
        self._file = AuditFile(folder, max_file_bytes, max_files)
        self._waiting: queue.Queue[Callable[[], Record] | None] = queue.Queue(_MAX_WAITING)
        self._lost = 0
        self._has_reported = False
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Open the log, so that a log that cannot be written is reported before the first call.

        Raises:
            StorageError: it is required, and cannot be written.
        """
        try:
            self._file.open()
        except OSError as error:
            if self.required:
                message = f"Cannot write the audit log in {str(self._file.folder)!r}: {_describe(error)}."
                raise StorageError(message) from None
            self._complain(_describe(error))

    def write_session(self, make: Callable[[], SessionRecord]) -> None:
        """Record a client that connected.

        Args:
            make: Called in the writing thread, since it may count tokens.
        """
        moment = self._now()

        def describe() -> Record:
            record = make()
            data: Record = {"record": "session", "time": moment, "session": record.session}
            data["client"] = {"name": _short(record.client), "version": _short(record.client_version)}
            data["protocol"] = record.protocol
            data |= {"agent": record.agent} if record.agent else {"loadout": record.loadout}
            data |= {"digest": record.digest, "tokens": sum(tool.tokens for tool in record.offered)}
            data["tokenizer"] = record.tokenizer
            data["offered"] = [
                {"name": tool.name, "server": tool.server, "tokens": tool.tokens} for tool in record.offered
            ]
            return data

        self._put(describe)

    def admit(self, session: str, tool: str) -> bool:
        """Whether a call may run: always, unless the log is required and this cannot be recorded.

        With a required log, a record of the call is on the disk before the tool runs.
        """
        if not self.required:
            return True
        data = {"record": "started", "time": self._now(), "session": session, "tool": _short(tool)}
        return self._write(data)

    def write_call(self, record: CallRecord) -> None:
        """Record a call that ended."""
        data: Record = {"record": "call", "time": self._now(), "session": record.session}
        data |= {"tool": _short(record.tool), "server": record.server, "status": record.status.value}
        if record.reason:
            data["reason"] = _short(record.reason)
        if record.via:
            data["via"] = record.via
        data |= {"milliseconds": round(record.seconds * 1000, 3), "bytes": record.bytes}
        if self._log_arguments and record.arguments is not None:
            data |= _logged(record.arguments)
        is_counted = sum(map(len, record.answer)) <= MAX_COUNTED_CHARS
        answer = tuple(record.answer) if is_counted else None
        self._put(lambda: data | {"tokens": None if answer is None else sum(self._count.count(answer))})

    def write_guard(self, session: str, tool: str, verdict: str, *, allowed: bool, reason: str) -> None:
        """Record the decision of a guard (rule K7)."""
        data: Record = {"record": "guard", "time": self._now(), "session": session, "tool": _short(tool)}
        data |= {"verdict": verdict, "allowed": allowed} | ({"reason": _short(reason)} if reason else {})
        self._put(lambda: data)

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Write what waits, for at most that long, and close the file."""
        thread = self._thread
        if thread is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put(None, timeout=seconds)
            thread.join(seconds)
        with self._lock:
            self._file.close()

    def _put(self, make: Callable[[], Record]) -> None:
        """Leave a record to the writing thread, which makes it."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="toolbelt audit", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(make)
        except queue.Full:
            self._lost += 1
            self._complain("the disk is too slow")

    def _run(self) -> None:
        while (make := self._waiting.get()) is not None:
            try:
                data = make()
            except Exception as error:  # noqa: BLE001  a tokenizer may fail in any way; the thread has to go on
                self._lost += 1
                self._complain(str(error) or type(error).__name__)
            else:
                self._write(data)

    def _write(self, data: Record) -> bool:
        with self._lock:
            try:
                if self._lost:
                    self._file.append(_line({"record": "lost", "time": self._now(), "count": self._lost}))
                    self._lost = 0
                self._file.append(_line(data))
            except OSError as error:
                self._lost += 1
                self._complain(_describe(error))
                return False
            return True

    def _complain(self, reason: str) -> None:
        if not self._has_reported:
            self._has_reported = True
            then = "Calls are refused until it can be." if self.required else "Calls go on without a record."
            self._report(f"The audit log in {str(self._file.folder)!r} cannot be written: {reason}. {then}")

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class AuditFile:
    """The numbered files of an audit log, which several processes append to.

    Attributes:
        folder: Of the files.
    """

    def __init__(self, folder: Path, max_bytes: int, max_files: int) -> None:
        self.folder = folder
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._descriptor: int | None = None
        self._is_torn = False

    def open(self, size: int = 0) -> None:
        """Open the newest file if it takes `size` bytes more, or begin one.

        Raises:
            OSError: that is not possible.
        """
        self.close()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        files = find_files(self.folder)
        number = _number(files[-1]) if files else 1
        if files and self._is_over(files[-1].stat(), size):
            number += 1
        path = self.folder / f"audit-{number:06}.jsonl"
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(path, flags, 0o600)
        if os.name == "posix":
            os.fchmod(self._descriptor, 0o600)
            length = os.fstat(self._descriptor).st_size
            # A disk that was full, for whichever gateway, cut a line short.
            self._is_torn = length > 0 and os.pread(self._descriptor, 1, length - 1) != b"\n"
        for old in find_files(self.folder)[: -self._max_files]:
            with contextlib.suppress(OSError):
                old.unlink()

    def append(self, line: bytes) -> None:
        """Append a line in one write, to the next file if this one is full.

        Raises:
            OSError: it could not be written, or not whole.
        """
        if self._descriptor is None or self._is_over(os.fstat(self._descriptor), len(line)):
            self.open(len(line))
        descriptor = self._descriptor
        if descriptor is None:
            raise OSError("there is no file")
        written = os.write(descriptor, b"\n" + line if self._is_torn else line)
        self._is_torn = written < len(line)
        if self._is_torn:
            raise OSError("no space left on the device")

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _is_over(self, state: os.stat_result, size: int) -> bool:
        """Whether a file takes no more, or has been deleted."""
        return state.st_nlink == 0 or (state.st_size > 0 and state.st_size + size > self._max_bytes)


def find_files(folder: Path) -> list[Path]:
    """The files of an audit log, the oldest first; none if the folder does not exist."""
    return sorted((path for path in folder.glob(FILE_PATTERN) if _number(path)), key=_number)


def _number(path: Path) -> int:
    digits = path.stem.removeprefix("audit-")
    return int(digits) if digits.isdecimal() else 0


def _line(data: Record) -> bytes:
    """JSON in ASCII, so that nothing in it obeys a terminal or hides in one."""
    return json.dumps(data, separators=(",", ":"), default=str).encode("ascii") + b"\n"


def _logged(arguments: Mapping[str, Any]) -> Record:
    masked = without_secrets(arguments)
    is_short = len(json.dumps(masked, default=str)) <= MAX_ARGUMENTS_CHARS
    return {"arguments": masked} if is_short else {"arguments_left_out": True}


def _short(text: str) -> str:
    return text if len(text) <= _MAX_NAME_CHARS else f"{text[:_MAX_NAME_CHARS]}…"


def _describe(error: OSError) -> str:
    return error.strerror or str(error)
