"""What a tool prints, kept from the agent's own standard output, which may be a protocol, and from other calls.

While tools run, `sys.stdout` is a stand-in that looks at who writes: what a tool writes goes to its own call, all else
to where it went before. Who writes is told by a context variable, which tasks and `asyncio.to_thread` carry along.
Beyond its reach is what does not go through `sys.stdout` of this thread of control: threads that a tool starts itself,
processes that inherit the file descriptor, and streams that were got hold of earlier, as by a logging handler. So is a
tool that puts something else there, which changes it for the whole process: two that use `contextlib.redirect_stdout`
at the same time may leave it changed for good. Standard input is left as it is: a tool that reads it takes from the
agent's. Guards, backends and `is_available` are the agent's own, and print where it does.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
from contextvars import ContextVar
from typing import Any, Self

KEPT_CHARS = 10_000
"""What is kept of what one call prints."""


class Printed(io.TextIOBase):
    """What one call prints: a text stream, written to while it is entered; what comes later is thrown away."""

    encoding = "utf-8"
    errors = "replace"
    newlines = None

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = KEPT_CHARS
        self._lost = 0
        self._is_open = False

    def __enter__(self) -> Self:
        # Set and never reset: the context is the call's own, and ends with it.
        _printed.set(self)
        self._is_open = True
        self._stand_in = _StandIn.take()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        self._stand_in.give_back()

    def write(self, text: str, /) -> int:
        """Keep it, as far as there is room."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self._is_open:
            kept = text[: self._room]
            self._parts.append(kept)
            self._room -= len(kept)
            self._lost += len(text) - len(kept)
        return len(text)

    def writable(self) -> bool:
        """Yes."""
        return True

    @property
    def buffer(self) -> Any:
        """Where bytes can be written."""
        return _Bytes(self)

    @property
    def text(self) -> str:
        """What was printed, as far as it is kept."""
        if not self._parts:
            return ""
        lost = f"\n[{self._lost} more characters]" if self._lost else ""
        return "".join(self._parts) + lost


class _Bytes(io.RawIOBase):
    """A binary stream whose text goes to what a call prints."""

    def __init__(self, printed: Printed) -> None:
        self._printed = printed
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        taken = bytes(data)
        self._printed.write(self._decoder.decode(taken))
        return len(taken)


_printed: ContextVar[Printed | None] = ContextVar("toolbelt_printed", default=None)


class _StandIn:
    """Stands where `sys.stdout` was while anybody takes it."""

    _lock = threading.Lock()

    def __init__(self, real: Any) -> None:
        self._real = real
        self.takers = 0

    @classmethod
    def take(cls) -> _StandIn:
        """Put one where standard output is, if there is none."""
        with cls._lock:
            current: Any = sys.stdout
            stand_in = current if isinstance(current, cls) else cls(current)  # another may be waiting below it
            stand_in.takers += 1
            sys.stdout = stand_in
            return stand_in

    @classmethod
    def forget_lock(cls) -> None:
        """Begin with a new lock."""
        cls._lock = threading.Lock()

    def give_back(self) -> None:
        """Put back what was there, once nobody needs it any more and if it is still there to be replaced."""
        with self._lock:
            self.takers -= 1
            if self.takers == 0 and sys.stdout is self:
                sys.stdout = self._real

    def write(self, text: str) -> int:
        stream = _printed.get() or self._real
        return 0 if stream is None else stream.write(text)  # there is none in a program without a console

    def flush(self) -> None:
        stream = _printed.get() or self._real
        if stream is not None:
            stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(_printed.get() or self._real, name)


io.TextIOBase.register(_StandIn)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_StandIn.forget_lock)  # somebody who is not there any more may have it


def print_aloud() -> None:
    """From here on, this context prints where the agent does, also if it is inside a call: people are to read it."""
    _printed.set(None)
