"""Runs the function of a tool in a process of its own, which can be killed whatever it does (rule R7).

The process gets the function by its module and name, and the arguments, by pickle over its standard input; it writes
the result to what was its standard output. Both are replaced before anything of the tool is imported, so that nothing
it prints comes between. Where the program that started it ends, so does the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing import spawn
from typing import Any, BinaryIO

from toolbelt.runtime.output_capture import CapturedOutput
from toolbelt.runtime.results import FailureCode, ToolResult, describe_error, make_result

_SIZE_BYTES = 8


def find_isolation_problem(function: Callable[..., Any]) -> str | None:
    """Why a function cannot be run in a process of its own; `None` if it can."""
    try:
        pickle.dumps(function)
    except Exception as error:  # noqa: BLE001  someone else's object: anything may go wrong
        return describe_error(error)
    return None


class IsolatedCall:
    """One call in a process of its own.

    Args:
        tool_name: For messages.
        function: Sync or async; of a module, not local to a function.
        arguments: By name.
    """

    def __init__(self, tool_name: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
        self._tool_name = tool_name
        self._job = function, arguments
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_killed = False

    def run(self) -> ToolResult:
        """Start the process and wait for its result."""
        job = pickle.dumps(self._job)
        preparation = spawn.get_preparation_data(self._tool_name)
        del preparation["authkey"]  # which may not be pickled, and is of no use there
        if b"__main__" not in job:  # then the program itself is not imported again
            preparation = {key: value for key, value in preparation.items() if not key.startswith("init_main")}
        payload = pickle.dumps(preparation) + pickle.dumps(self._tool_name) + job
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        with self._lock:
            if self._is_killed:
                return self._fail("its process was killed")
            self._process = process = subprocess.Popen(  # noqa: S603  Python itself
                [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        answer = _exchange(process, payload)
        self.kill()  # and what it has started
        with self._lock:
            code_of_exit = process.wait()
            self._process = None  # its number may be another's from now on
        try:
            result = pickle.loads(answer)  # noqa: S301  of a tool of this agent
        except Exception:  # noqa: BLE001  nothing, or the beginning of something
            return self._fail(f"its process ended with exit code {code_of_exit}")
        return result if isinstance(result, ToolResult) else self._fail("its process gave no result")

    def kill(self) -> None:
        """End the process, and on POSIX those that it has started; nothing happens where it has ended."""
        with self._lock:
            self._is_killed = True
            process = self._process
        if process is None:
            return
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()

    def _fail(self, reason: str) -> ToolResult:
        return ToolResult.failure(FailureCode.EXECUTION_FAILED, f"Tool {self._tool_name} failed: {reason}")


def _exchange(process: subprocess.Popen[bytes], payload: bytes) -> bytes:
    """What the process answers; its input stays open meanwhile, because it ends when that is closed."""
    to_process, from_process = process.stdin, process.stdout
    if to_process is None or from_process is None:  # never: both were asked for
        return b""
    with to_process, from_process:
        with contextlib.suppress(OSError):  # it has ended already
            to_process.write(payload)
            to_process.flush()
        size = int.from_bytes(from_process.read(_SIZE_BYTES))
        return from_process.read(size)  # not to the end, which what it has started may keep open


def serve() -> None:
    """Run one call, in the process made for it."""
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    with target:
        answer = pickle.dumps(_run(source))
        target.write(len(answer).to_bytes(_SIZE_BYTES) + answer)
    os._exit(0)  # without waiting for the threads of the tool


def _run(source: BinaryIO) -> ToolResult:
    printed = CapturedOutput()
    name = "?"
    try:
        with printed:
            preparation, name = pickle.load(source), pickle.load(source)  # noqa: S301  of the parent
            spawn.prepare(preparation)
            function, arguments = pickle.load(source)  # noqa: S301  of the parent
            threading.Thread(target=_end_with_parent, args=(source,), daemon=True).start()
            returned = function(**arguments)
            if inspect.isawaitable(returned):
                returned = asyncio.run(_await(returned))
            result = make_result(name, returned)
            pickle.dumps(result)
    except BaseException as error:  # noqa: BLE001  someone else's function: SystemExit, too, is a failed call
        message = f"Tool {name} failed: {describe_error(error)}"
        result = ToolResult.failure(FailureCode.EXECUTION_FAILED, message)
    return replace(result, printed=printed.text or result.printed)


def _end_with_parent(source: BinaryIO) -> None:
    source.read()
    os._exit(1)


async def _await(awaitable: Any) -> Any:
    return await awaitable
