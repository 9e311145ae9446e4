"""Processes of tests that start warm: most of what a short command costs is its imports.

`install` puts a subclass in the place of `subprocess.Popen`. Where the command is `python -m MODULE` of ours, or
`python -c PROGRAM`, with nothing about it that a new interpreter would treat differently, the process is a clone of one
that has imported everything (`tests.warm.server`, which the first such command starts): a child of this process with
its own id, real pipes and a real exit code, 20 ms after the call and not 500 to 2,000 ms. Every other command starts as
ever. So does every one until the server is ready, where a test is marked `cold` (as one of what is imported must be),
with `TOOLBELT_TEST_COLD`, and on other systems than Linux.

The workers of xdist start as such clones, too, so that what tests import is imported once for all of them.
"""

from __future__ import annotations

import atexit
import inspect
import os
import pickle
import platform
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SERVER = Path(__file__).with_name("server.py")
_HEAD_BYTES = 8
_ROOT = str(_SERVER.parents[2])
_READ_EARLY = ("PYTHON", "LD_", "LITELLM_", "MPL", "OPENBLAS_", "OMP_")
"""Variables that the interpreter, or a library when imported, reads: they must be those of the server."""
_READ_LATER = (
    "LITELLM_LOCAL_MODEL_COST_MAP",  # which importing litellm sets, in the test's process, too
    "OMP_NUM_THREADS",  # which Dask sets
    "OPENBLAS_NUM_THREADS",  # which the server sets for itself: a clone has no threads, whatever this and OMP's say
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "PYTHON_KEYRING_BACKEND",
)
_UTF8 = ("", "C", "POSIX", "C.UTF-8", "C.utf8")
"""Locales that are all one to Python."""
_Cold = subprocess.Popen
_PARAMETERS = tuple(inspect.signature(_Cold._execute_child).parameters)[1:]  # type: ignore[attr-defined]
_STARTERS = (["catalog"], ["mcp"], ["serve"])
"""Commands that start MCP servers, which start warm, too."""
_WORKER = ["-u", "-c", "import sys;exec(eval(sys.stdin.readline()))"]
"""How xdist starts a worker."""
_PLAIN: Mapping[str, Any] = {
    "pass_fds": (),
    "shell": False,
    "close_fds": True,
    "gid": None,
    "gids": None,
    "uid": None,
    "umask": -1,
    "process_group": -1,
}
"""What a process must be started with to be cloned."""


def take_terminal() -> None:
    """As `preexec_fn`, with `start_new_session`: standard input is the controlling terminal, so Ctrl-C is a signal."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class _Server:
    """The connection to the server of this process, started when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._owner = 0
        self._process: subprocess.Popen[bytes] | None = None
        self.environment: Mapping[str, str] = {}
        self.is_off = False
        self._is_ready = False

    def start(self, request: Mapping[str, Any], streams: Sequence[int], *, is_awaited: bool) -> int:
        """The id of a clone; 0 where there is none."""
        with self._lock:
            connection = self._open(for_many=is_awaited)
            if connection is None or not self._check_ready(connection, is_awaited):
                return 0
            body = pickle.dumps(request)
            socket.send_fds(connection, [len(body).to_bytes(_HEAD_BYTES)], streams)
            connection.sendall(body)
            return int.from_bytes(connection.recv(_HEAD_BYTES, socket.MSG_WAITALL))

    def is_fit(self, environment: Mapping[str, str]) -> bool:
        """Whether an interpreter with these variables would be as the server's."""
        return _settings(environment) == _settings(self.environment or os.environ)

    def adopt(self, connection: socket.socket, *, is_ready: bool) -> None:
        """Use a server, which may still be importing."""
        self.environment, self._owner, self._connection = dict(os.environ), os.getpid(), connection
        self._is_ready = is_ready

    def wait(self, seconds: float) -> None:
        """Until it is ready."""
        with self._lock:
            if (connection := self._open()) is not None and not self._is_ready:
                select.select([connection], [], [], seconds)

    def _check_ready(self, connection: socket.socket, is_awaited: bool) -> bool:
        """Nobody but workers waits for it: what starts before, starts cold."""
        if not self._is_ready and select.select([connection], [], [], 120 if is_awaited else 0)[0]:
            self._is_ready = connection.recv(1) != b""
        return self._is_ready

    def _open(self, *, for_many: bool = False) -> socket.socket | None:
        if self._connection is None:
            ours, theirs = socket.socketpair()
            self.adopt(ours, is_ready=False)
            with theirs:
                # In the session of this process, as a child of it would be.
                self._process = _Cold(
                    [sys.executable, str(_SERVER), str(theirs.fileno()), "many" if for_many else "few"],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    cwd="/",
                )
            atexit.register(self._close)
        return self._connection if self._owner == os.getpid() else None  # a fork's children would not be its own

    def _close(self) -> None:
        if self._owner == os.getpid() and self._connection is not None and self._process is not None:
            self._connection.close()
            self._process.wait(10)


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    read = {
        name: value for name, value in environment.items() if name.startswith(_READ_EARLY) and name not in _READ_LATER
    }
    locale = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""
    return {**read, "locale": "" if locale in _UTF8 else locale}


_SERVER_OF_THIS_PROCESS = _Server()


class _Popen(_Cold):  # type: ignore[type-arg]
    def _execute_child(self, *values: Any) -> None:
        given = dict(zip(_PARAMETERS, values, strict=True))
        pid = 0 if _SERVER_OF_THIS_PROCESS.is_off else _start_warm(given)
        if pid == 0:
            super()._execute_child(*values)  # type: ignore[misc]
            return
        self.pid = pid
        self._child_created = True
        pipes = (given[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite"))
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def _start_warm(given: Mapping[str, Any]) -> int:
    """The id of the process; 0 where it has to start cold."""
    command, environment = given["args"], given["env"]
    environment = os.environ if environment is None else environment
    folder = os.fspath(given["cwd"] or _folder())
    has_terminal = given["preexec_fn"] is take_terminal
    is_worker = isinstance(command, list) and command[1:] == _WORKER
    if is_worker:
        command = [command[0], *command[2:]]  # a worker opens its streams anew, so `-u` is all one to it
    is_plain = (
        isinstance(command, (list, tuple))
        and len(command) > 2
        and all(isinstance(word, str) for word in command)
        and command[0] == sys.executable
        and (command[1] == "-c" or (command[1] == "-m" and command[2].split(".")[0] in ("toolbelt", "tests")))
        and given["executable"] is None
        and (given["preexec_fn"] is None or has_terminal)
        and all(given[name] == value for name, value in _PLAIN.items())
        and environment.get("PYTHONPATH", _ROOT) == _ROOT
        and os.path.isdir(folder)  # noqa: PTH112  a string
        and _SERVER_OF_THIS_PROCESS.is_fit(environment)
    )
    pipes = (given["p2cread"], given["c2pwrite"], given["errwrite"])
    streams = [number if pipe == -1 else pipe for number, pipe in enumerate(pipes)]
    if not is_plain or not all(map(_is_open, streams)):
        return 0
    request = {
        "option": command[1],
        "run": command[2],
        "arguments": [*command[3:]],
        "environment": dict(environment),
        "cwd": folder,
        "umask": _umask(),
        "session": given["start_new_session"],
        "terminal": has_terminal,
        "starts_others": is_worker or ([*command[1:3]] == ["-m", "toolbelt"] and [*command[3:4]] in _STARTERS),
    }
    return _SERVER_OF_THIS_PROCESS.start(request, streams, is_awaited=is_worker)


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  a string
    except FileNotFoundError:
        return ""


def _umask() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("Umask:")[2].split()[0], 8)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def install() -> None:
    """Start processes warm from now on, where that is possible."""
    is_possible = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
    if is_possible and set(_PLAIN) < set(_PARAMETERS) and not os.environ.get("TOOLBELT_TEST_COLD"):
        subprocess.Popen = _Popen  # type: ignore[misc]


def adopt(connection: socket.socket) -> None:
    """Start processes warm in a clone, whose server is at the other end."""
    sys.modules["tests.warm.client"] = sys.modules[__name__]  # for a worker of xdist, which imports it by that name
    _SERVER_OF_THIS_PROCESS.adopt(connection, is_ready=True)
    subprocess.Popen = _Popen  # type: ignore[misc]


def wait_until_ready(seconds: float = 120.0) -> None:
    """Until processes start warm."""
    _SERVER_OF_THIS_PROCESS.wait(seconds)


def set_cold(is_cold: bool) -> None:
    """Start every process cold from now on, or no longer."""
    _SERVER_OF_THIS_PROCESS.is_off = is_cold
