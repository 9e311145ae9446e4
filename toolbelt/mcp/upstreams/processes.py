"""A stdio server as a process: its pipes, what it may send, and its end.

The SDK's own `stdio_client` reads without a limit, takes quadratic time for a long line, leaves standard error to the
caller, and does not look for what a server that ended well has left behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import anyio
from anyio.abc import AsyncResource, ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import jsonrpc_message_adapter

from toolbelt.mcp.logs.limited_log import LimitedLog
from toolbelt.mcp.upstreams.mending import mend
from toolbelt.mcp.upstreams.orphans import OrphanWatch
from toolbelt.text import visible

ReadStream = MemoryObjectReceiveStream[SessionMessage | Exception]
WriteStream = MemoryObjectSendStream[SessionMessage]

_CHUNK = 1 << 16
_LAST_WORDS_SECONDS = 0.5
"""How long a pipe is read after its process ended: a child may hold it open for ever."""
_FIRST_POLL_SECONDS = 0.005
_LAST_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class ProcessLimits:
    """What one server may do to the gateway.

    Attributes:
        message_bytes: The longest message; a longer one ends the server.
        log_lines: Lines of it that are logged in `log_seconds`; the others are counted.
        log_seconds: A period of the log.
        noise_bytes: Bytes of standard error, and of standard output that are no message, that are read in a second. A
            server that writes more waits, and nobody else does.
        exit_seconds: From the end of its input until it is asked to terminate.
        terminate_seconds: From then until it is killed.
    """

    message_bytes: int = 64 << 20
    log_lines: int = 100
    log_seconds: float = 10.0
    noise_bytes: int = 4 << 20
    exit_seconds: float = 1.0
    terminate_seconds: float = 1.0


class ServerEnd(StrEnum):
    """Why a server's connection is over."""

    EXITED = "exited"
    TOO_LARGE = "message_too_large"
    CLOSED = "closed"
    """By the gateway."""


class ServerProcess:
    """One stdio server, from its start to the end of the last process it started, on POSIX systems.

    Args:
        command: The program and its arguments.
        environment: All that it is given.
        folder: In which it runs; the gateway's if empty.
        log: Receives lines for the gateway's log, made safe to show.
        limits: What it may do.
        orphans: Ends it if the gateway is killed.

    Attributes:
        end: Why it is over; `None` while it runs.
        exit_code: Of the process; negative for a signal, `None` while it runs.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: str = "",
        log: Callable[[str], None],
        limits: ProcessLimits | None = None,
        orphans: OrphanWatch | None = None,
    ) -> None:
        self.end: ServerEnd | None = None
        self._command = [*command]
        self._environment = {**environment}
        self._folder = folder or None
        self._limits = limits or ProcessLimits()
        self._log = LimitedLog(log, self._limits.log_lines, self._limits.log_seconds)
        self._noise = 0
        self._orphans = orphans
        self._process: Process | None = None
        self._is_forced = False
        self._written = anyio.Event()

    @property
    def exit_code(self) -> int | None:
        """Of the process; negative for a signal, `None` while it runs."""
        return None if self._process is None else self._process.returncode

    @property
    def pid(self) -> int | None:
        """Of the process, which leads a session and a process group of its own; `None` before the start."""
        return None if self._process is None else self._process.pid

    def terminate(self) -> None:
        """Do not wait until the server ends by itself, now or when the connection is closed."""
        self._is_forced = True
        if self._process is not None and self._process.returncode is None:
            _signal_group(self._process.pid, signal.SIGTERM)

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[tuple[ReadStream, WriteStream]]:
        """Start the server; on leaving, nothing of it remains. A transport for the SDK's `Client`.

        Raises:
            OSError: it cannot be started.
        """
        process = await anyio.open_process(
            self._command, env=self._environment, cwd=self._folder, start_new_session=True
        )
        self._process = process
        # No await from here to the task group: a cancellation in between would leave the process behind.
        received, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, to_send = anyio.create_memory_object_stream[SessionMessage](0)
        if self._orphans is not None:
            self._orphans.add(process.pid)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, process, received)
                tasks.start_soon(self._write, process, to_send, received)
                tasks.start_soon(self._drain_errors, process)
                tasks.start_soon(self._watch_exit, process, received)
                try:
                    yield read_stream, write_stream
                finally:
                    self.end = self.end or ServerEnd.CLOSED
                    with anyio.CancelScope(shield=True):  # every wait within is bounded
                        read_stream.close()
                        write_stream.close()
                        await self._stop(process)
                    tasks.cancel_scope.cancel()
        finally:
            if self._orphans is not None:
                self._orphans.remove(process.pid)
            _close_transport(process)

    async def _read(self, process: Process, received: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        assert process.stdout is not None  # noqa: S101
        async with received:
            async for line in self._lines(process.stdout, process.pid):
                if not await self._pass_on(line, received):
                    break
        with anyio.CancelScope(shield=True):  # a server that flushes into a full pipe could not end by itself
            async for _ in _chunks(process.stdout):
                pass

    async def _lines(self, stdout: ByteReceiveStream, pid: int) -> AsyncIterator[bytes]:
        buffered = bytearray()
        async for chunk in _chunks(stdout):
            first, *others = chunk.split(b"\n")
            buffered += first
            for part in others:
                yield bytes(buffered)
                buffered = bytearray(part)
            if len(buffered) > self._limits.message_bytes:
                self.end = self.end or ServerEnd.TOO_LARGE
                self._log.add(f"sent a message of more than {self._limits.message_bytes:,} bytes; it is ended.")
                _signal_group(pid, signal.SIGKILL)
                return

    async def _pass_on(self, line: bytes, received: MemoryObjectSendStream[SessionMessage | Exception]) -> bool:
        """Give a line to the session; False if that is gone."""
        if not line.strip():
            return True
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            if (mended := mend(line)) is None:
                self._log.add(f"printed on standard output what is no message: {_shown(line)}")
                await self._hold_up(len(line))
                return True
            message = jsonrpc_message_adapter.validate_python(mended, by_name=False)
        try:
            await received.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True

    async def _hold_up(self, noise: int) -> None:
        """Read so many bytes of noise in a second, and no more."""
        self._noise += noise
        if self._noise >= self._limits.noise_bytes // 10:
            self._noise = 0
            await anyio.sleep(0.1)

    async def _write(
        self,
        process: Process,
        to_send: MemoryObjectReceiveStream[SessionMessage],
        received: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        assert process.stdin is not None  # noqa: S101
        try:
            async with to_send:
                async for item in to_send:
                    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(text.encode() + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            await received.aclose()  # so that no request waits for an answer that cannot come
        finally:
            self._written.set()

    async def _drain_errors(self, process: Process) -> None:
        assert process.stderr is not None  # noqa: S101
        buffered = b""
        async for chunk in _chunks(process.stderr):
            *lines, buffered = (buffered + chunk).split(b"\n")
            for line in lines:
                self._log.add(_shown(line))
            buffered = buffered[:_CHUNK]
            await self._hold_up(len(chunk))
        if buffered:
            self._log.add(_shown(buffered))

    async def _watch_exit(self, process: Process, received: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Close the connection when the process ends, even if a child of it holds its pipes open."""
        await _wait_for_exit(process)
        self.end = self.end or ServerEnd.EXITED
        await anyio.sleep(_LAST_WORDS_SECONDS)
        received.close()

    async def _stop(self, process: Process) -> None:
        limits = self._limits
        if not self._is_forced:
            with anyio.move_on_after(_LAST_WORDS_SECONDS):  # a cancellation may be on its way
                await self._written.wait()
        await _close(process.stdin)
        if self.end is not ServerEnd.TOO_LARGE and not self._is_forced:
            await _until(lambda: process.returncode is not None or self._is_forced, limits.exit_seconds)
        # Also when it ended by itself: what it started may run on.
        if has_processes(process.pid):
            _signal_group(process.pid, signal.SIGTERM)
            if not await _until(lambda: not has_processes(process.pid), limits.terminate_seconds):
                _signal_group(process.pid, signal.SIGKILL)
        if not await _until(lambda: process.returncode is not None, limits.terminate_seconds):
            self._log.add(f"process {process.pid} cannot be killed; it is left behind.")
        await _close(process.stdout)  # what escaped may hold them open, and be read for ever
        await _close(process.stderr)


async def _chunks(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    with contextlib.suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        while True:
            yield await stream.receive(_CHUNK)


async def _close(stream: AsyncResource | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await stream.aclose()


def _shown(line: bytes) -> str:
    return visible(line[:2000].decode("utf-8", "replace"))[:500]


async def _wait_for_exit(process: Process) -> None:
    # `process.wait()` waits for the end of the pipes, too, which a child may hold open.
    if hasattr(os, "pidfd_open"):
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            pass  # it is gone, or the system has none left
        else:
            try:
                await anyio.wait_readable(descriptor)
            finally:
                os.close(descriptor)
    while process.returncode is None:
        await anyio.sleep(_LAST_POLL_SECONDS)


async def _until(is_true: Callable[[], bool], seconds: float) -> bool:
    """Whether something becomes true within that time."""
    deadline, pause = time.monotonic() + seconds, _FIRST_POLL_SECONDS
    while not is_true():
        if time.monotonic() >= deadline:
            return False
        await anyio.sleep(pause)
        pause = min(2 * pause, _LAST_POLL_SECONDS)
    return True


def _signal_group(leader: int, number: signal.Signals) -> None:
    """Signal every process of the session that `leader` began, which has its id."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    for pid in _session_processes(leader):  # also those that made a group of their own
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def has_processes(leader: int) -> bool:
    """Whether anything of the session that `leader` began is running; what waits to be reaped is not."""
    if os.path.exists("/proc/self/stat"):  # noqa: PTH110
        return bool(_session_processes(leader))
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _session_processes(leader: int) -> list[int]:
    """Running processes of a session; empty where there is no `/proc`."""
    running = []
    try:
        names = os.listdir("/proc")  # noqa: PTH208  pathlib takes ten times as long, and all clients wait for this
    except OSError:
        return []
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                # pid (name) state ppid pgrp session; a name may contain blanks and brackets.
                state, _, _, session = file.read().rpartition(b") ")[2].split(maxsplit=4)[:4]
        except (OSError, ValueError):
            continue  # it ended meanwhile
        if int(session) == leader and state not in (b"Z", b"X"):
            running.append(int(name))
    return running


def _close_transport(process: Process) -> None:
    """Close asyncio's side of pipes that a process which escaped still holds open; nothing public does."""
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with contextlib.suppress(PermissionError):
            transport.close()
