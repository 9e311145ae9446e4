"""The process behind `tests.warm.client`: it imports what commands import, and clones itself when a test starts one.

Run as a script, with one end of a socket pair and how many tests there are, `many` or `few`, as arguments. Once it is
ready, it sends a byte. A request is eight bytes with the three standard streams attached, then that many bytes of
pickle; the answer is the process id, or 0 where nothing could be started.

A clone is a child of whoever started the server, not of the server (`CLONE_PARENT`): the test waits for it, signals it
and reads its exit code as of any process that it started itself.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import os
import pickle
import pkgutil
import platform
import runpy
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import types
from typing import Any, NoReturn

HEAD_BYTES = 8
READY = b"r"
_CLONE_PARENT = 0x00008000
_CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine(), 0)
_OF_TESTS = ("distributed", "jsonschema", "playwright.sync_api", "scipy.stats")
"""What tests import, for the workers of xdist."""
_OTHERS = (
    "aiohttp.web",
    "anyio._backends._asyncio",
    "click.shell_completion",
    "dotenv",
    "encodings.utf_8_sig",
    "filelock",
    "jsonschema_rs",
    "mcp.client.client",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "mcp.server.lowlevel",
    "mcp.server.sse",
    "mcp.server.stdio",
    "mcp.server.streamable_http_manager",
    "rich.console",
    "rich.live",
    "rich.progress",
    "rich.table",
    "tiktoken_ext.openai_public",
    "uvicorn",
    "yaml",
)
"""Libraries that are imported when first needed. None may start a thread, or read variables that tests set."""


def serve(connection: socket.socket, client: Any) -> dict[str, Any]:
    """Answer requests until the other end closes; in a clone, return what it is to run.

    Args:
        connection: To who asks.
        client: The module `tests.warm.client`.
    """
    while True:
        head, streams, _, _ = socket.recv_fds(connection, HEAD_BYTES, 3)
        if not head:
            os._exit(0)
        body = b""
        while len(body) < int.from_bytes(head):
            body += connection.recv(1 << 20)
        request: dict[str, Any] = pickle.loads(body)
        pid = _clone()
        if pid == 0:
            connection.close()
            if request.get("starts_others"):
                ours, connection = socket.socketpair()
                if os.fork() == 0:  # the clone's own server, whose clones are the clone's children
                    ours.close()
                    _close(streams)
                    continue
                connection.close()
            _become(request, streams)
            if request.get("starts_others"):
                client.adopt(ours)
            return request
        _close(streams)
        connection.sendall(max(pid, 0).to_bytes(HEAD_BYTES))


def _close(streams: list[int]) -> None:
    for stream in streams:
        os.close(stream)


def _clone() -> int:
    """As `os.fork`, but the clone's parent is this process's parent."""
    python, libc = ctypes.pythonapi, ctypes.PyDLL(None)
    libc.syscall.restype = ctypes.c_long
    words = (ctypes.c_int * 256).from_address(threading.get_ident())  # in which the C library keeps the thread's number
    own = [place for place, word in enumerate(words) if word == threading.get_native_id()]
    python.PyOS_BeforeFork()
    pid = int(
        libc.syscall(ctypes.c_long(_CLONE), ctypes.c_long(_CLONE_PARENT | signal.SIGCHLD), None, None, None, None)
    )
    if pid == 0:
        if len(own) == 1:  # as `os.fork` does, or signals to this thread would go astray
            words[own[0]] = os.getpid()
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    return pid


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Take over what a new process would start with."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if request["session"]:
        os.setsid()
    if request["terminal"]:
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request["cwd"])
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    tempfile.tempdir = None  # to be read from the environment
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        stream = _open(number, mode)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    paths = [path for path in request["environment"].get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:0] = [request["cwd"] if request["option"] == "-m" else "", *paths]
    importlib.invalidate_caches()
    sys.argv[:] = [request["option"], *request["arguments"]]  # with `-m`, the file's name takes the first place
    sys.orig_argv[1:] = [request["option"], request["run"], *request["arguments"]]
    gc.enable()


def _open(number: int, mode: str) -> Any:
    """A standard stream as the interpreter opens it."""
    is_unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    encoding, _, asked = os.environ.get("PYTHONIOENCODING", "").partition(":")
    errors = asked or ("strict" if encoding else sys.stdout.errors)
    binary: Any = open(number, f"{mode}b", 0 if is_unbuffered and mode == "w" else -1, closefd=False)  # noqa: SIM115
    stream: Any = io.TextIOWrapper(
        binary,
        encoding or "utf-8",
        "backslashreplace" if number == 2 else errors,
        newline="\n",
        line_buffering=not is_unbuffered and (number == 2 or binary.isatty()),
        write_through=is_unbuffered,
    )
    stream.mode = mode
    return stream


def _run(request: dict[str, Any]) -> NoReturn:
    """Run a module or program as Python does, and end without taking the interpreter apart, which would take 0.1 s."""
    code = 0
    try:
        if request["option"] == "-m":
            runpy.run_module(request["run"], run_name="__main__", alter_sys=True)
        else:
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(request["run"], "<string>", "exec"), main.__dict__)
    except SystemExit as error:
        code = _exit_code(error.code)
    except KeyboardInterrupt:
        traceback.print_exc()
        code = -signal.SIGINT
    except BaseException:  # noqa: BLE001  as the interpreter does
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are no daemons
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = code or 120
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code & 0xFF)


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


def _preload(*, for_many: bool) -> None:
    # Or they would start threads, which no clone has.
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
    import toolbelt

    own = [each.name for each in pkgutil.walk_packages(toolbelt.__path__, "toolbelt.")]
    for name in (*own, *_OTHERS):
        if "__main__" not in name:
            importlib.import_module(name)
    # What a process reads once for all that it does: the shipped cases, a tokenizer and a font, 0.5 s of CPU.
    from toolbelt.evals.cases.dataset import open_dataset
    from toolbelt.evals.views.pictures.canvas import text_width
    from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, make_counter

    os.chdir(os.path.dirname(__file__))  # noqa: PTH120  from here, as from most folders, their paths are shown whole
    open_dataset("assistant")
    make_counter(DEFAULT_TOKENIZER).count(["a"])
    text_width("a")
    os.chdir("/")
    if for_many:
        for name in _OF_TESTS:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        # This takes as long as all the rest.
        from toolbelt.providers.litellm_loading import load_litellm

        path = sys.path[:]
        load_litellm()
        sys.path[:] = path  # to which litellm adds a folder by the working directory


def main() -> None:
    """Import, then serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the commands; this ends with its connection
    client = importlib.import_module("client")
    del sys.path[0]  # the folder of this script
    gc.disable()
    _preload(for_many=sys.argv[2] == "many")
    gc.collect()
    gc.freeze()
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.sendall(READY)
    del sys.argv[1:]
    _run(serve(connection, client))


if __name__ == "__main__":
    main()
