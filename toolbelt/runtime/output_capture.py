"""Captures what a tool prints, so that it reaches neither the agent's own standard output, which may carry a protocol,
nor another call.

While tools run, `sys.stdout` is a proxy. It sends the output of a tool to its own call, and everything else to the real
standard output. A context variable says whose output it is; tasks and `asyncio.to_thread` carry it along.

Not captured: output of threads that a tool starts itself, of child processes, and through streams that were taken
earlier, for example by a logging handler. A tool that replaces `sys.stdout` changes it for the whole process: two that
use `contextlib.redirect_stdout` at the same time may leave it changed. Standard input is left alone. Guards, backends
and `is_available` belong to the agent, and print where it does.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
from contextvars import ContextVar
from typing import Any, Self

MAX_CAPTURED_CHARS = 10_000
"""Characters that are kept of the output of one call."""


class CapturedOutput(io.TextIOBase):
    """The output of one call: a text stream that is open while it is entered; later output is dropped."""

    encoding = "utf-8"
    errors = "replace"
    newlines = None

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._free_chars = MAX_CAPTURED_CHARS
        self._lost_chars = 0
        self._is_open = False

    def __enter__(self) -> Self:
        # Set and never reset: the context is the call's own, and ends with it.
        _current.set(self)
        self._is_open = True
        self._proxy = _StdoutProxy.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        self._proxy.release()

    def write(self, text: str, /) -> int:
        """Keep the text, up to the limit."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self._is_open:
            part = text[: self._free_chars]
            self._parts.append(part)
            self._free_chars -= len(part)
            self._lost_chars += len(text) - len(part)
        return len(text)

    def writable(self) -> bool:
        """True."""
        return True

    @property
    def buffer(self) -> Any:
        """A binary stream that writes here."""
        return _Bytes(self)

    @property
    def text(self) -> str:
        """The kept output, with the number of characters that were lost."""
        if not self._parts:
            return ""
        lost = f"\n[{self._lost_chars} more characters]" if self._lost_chars else ""
        return "".join(self._parts) + lost


class _Bytes(io.RawIOBase):
    """A binary stream that writes to the output of a call."""

    def __init__(self, output: CapturedOutput) -> None:
        self._output = output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        content = bytes(data)
        self._output.write(self._decoder.decode(content))
        return len(content)


_current: ContextVar[CapturedOutput | None] = ContextVar("toolbelt_printed", default=None)


class _StdoutProxy:
    """Takes the place of `sys.stdout` while a call is running."""

    _lock = threading.Lock()

    def __init__(self, real: Any) -> None:
        self._real = real
        self.users = 0

    @classmethod
    def acquire(cls) -> _StdoutProxy:
        """Put a proxy in the place of standard output, if there is none."""
        with cls._lock:
            current: Any = sys.stdout
            proxy = current if isinstance(current, cls) else cls(current)  # another may be below it
            proxy.users += 1
            sys.stdout = proxy
            return proxy

    @classmethod
    def reset_lock(cls) -> None:
        """Start again with a new lock."""
        cls._lock = threading.Lock()

    def release(self) -> None:
        """Restore standard output after the last user, unless someone else has replaced it."""
        with self._lock:
            self.users -= 1
            if self.users == 0 and sys.stdout is self:
                sys.stdout = self._real

    def write(self, text: str) -> int:
        stream = _current.get() or self._real
        return 0 if stream is None else stream.write(text)  # there is none in a program without a console

    def flush(self) -> None:
        stream = _current.get() or self._real
        if stream is not None:
            stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(_current.get() or self._real, name)


io.TextIOBase.register(_StdoutProxy)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_StdoutProxy.reset_lock)  # a thread of the parent may hold it


def stop_capturing() -> None:
    """Print where the agent does from here on, also inside a call: a person is to read it."""
    _current.set(None)
