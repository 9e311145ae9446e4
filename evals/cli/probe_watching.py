"""What is said while a model is probed, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from toolbelt.console.screen import PATIENCE_SECONDS, notify, progress
from toolbelt.evals.probing.results import CheckResult

WAIT_EVERY_SECONDS = 10.0
"""How often it is said that something is waited for."""


@dataclass(eq=False)
class Watcher:
    """Counts the checks that ended, and says what is waited for: at once, and then now and then.

    Attributes:
        advance: Is told how many have ended.
        clock: Seconds, ever growing.
    """

    advance: Callable[[int], None]
    clock: Callable[[], float] = time.monotonic
    _ended: int = 0
    _next_line: float = float("-inf")

    def checked(self, result: CheckResult) -> None:  # noqa: ARG002  the protocol's
        """One more has ended."""
        self._ended += 1
        self.show()

    def show(self) -> None:
        """Say how many have ended."""
        self.advance(self._ended)

    def waiting(self, seconds: float, why: str) -> None:
        """A request got no answer, and is made again in so long."""
        if self.clock() < self._next_line:
            return
        self._next_line = self.clock() + WAIT_EVERY_SECONDS
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[2K")  # over what says how far it has come
        notify(f"{why.rstrip('.')}; it is asked again in {max(1.0, seconds):,.0f} s", "waiting")


@contextmanager
def watch(model: str, checks: int) -> Iterator[Watcher]:
    """A watcher that says something before long, even if nothing ends: a client may take seconds to load."""
    with progress(f"probing {model}, checks", checks) as advance:
        watcher = Watcher(advance)
        soon = threading.Timer(PATIENCE_SECONDS, watcher.show)
        soon.daemon = True
        soon.start()
        try:
            yield watcher
        finally:
            soon.cancel()
            soon.join()
