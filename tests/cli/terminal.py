"""The command at a terminal, for tests of what is asked there."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time

from tests.warm.client import take_terminal


class Terminal:
    """The command at a terminal of its own, spoken to line by line.

    Attributes:
        command: The words before the arguments.
    """

    command: tuple[str, ...] = ()

    def __init__(self, *arguments: str, **environment: str) -> None:
        self.control, terminal = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "toolbelt", *self.command, *arguments],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
            start_new_session=True,
            preexec_fn=take_terminal,  # noqa: PLW1509  or Ctrl-C would be a letter
        )
        os.close(terminal)
        self.seen = ""
        self.answered = 0
        self.deadline = time.monotonic() + 30

    def wait_for(self, text: str) -> None:
        while text not in self.seen[self.answered :]:
            if not self._read():
                raise AssertionError(f"ended before {text!r}: {self.seen}")

    def answer(self, question: str, text: str) -> None:
        self.wait_for(question)
        self.answered = len(self.seen)
        os.write(self.control, f"{text}\n".encode(errors="surrogateescape"))

    def leave_by(self, key: str) -> None:
        # Between the prompt and the reading of the answer a key waits for the next one.
        while "interrupted" not in self.seen:
            os.write(self.control, key.encode())
            for _ in range(5):
                if "interrupted" not in self.seen:
                    self._read()

    def finish(self) -> int:
        while self._read():
            pass
        os.close(self.control)
        return self.process.wait(timeout=30)

    def _read(self) -> bool:
        if time.monotonic() > self.deadline:
            self.process.kill()
            self.process.wait(timeout=30)
            raise AssertionError(f"still waiting: {self.seen}")
        ready, _, _ = select.select([self.control], [], [], 0.2)
        if not ready:
            return self.process.poll() is None
        try:
            raw = os.read(self.control, 65536)
        except OSError:  # how Linux says that the other side is closed
            return False
        self.seen += raw.decode(errors="replace")
        return bool(raw)
