"""Contenders in processes of their own, which do a block of work when told to, so that they can be run in turn."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.servers.running import ROOT


@dataclass(frozen=True)
class Spent:
    """What a block took, each case on the average.

    Attributes:
        seconds: By the clock on the wall.
        cpu_seconds: Of the process.
    """

    seconds: float
    cpu_seconds: float


class Contender:
    """The other end of `serve`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._to: IO[str] = process.stdin
        self._from: IO[str] = process.stdout

    def work(self, cases: int) -> Spent:
        """A block of so many cases."""
        self._to.write(f"{cases}\n")
        self._to.flush()
        seconds, cpu_seconds = json.loads(self._from.readline())
        return Spent(seconds / cases, cpu_seconds / cases)


@contextmanager
def contender(module: str, *arguments: str | Path) -> Iterator[Contender]:
    """Start one, and end it; `module` is a script beside this one."""
    command = [sys.executable, "-m", f"tests.benchmarks.rivals.{module}", *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield Contender(process)
        finally:
            process.kill()


def serve(work: Callable[[int], object]) -> None:
    """Do a block of as many cases as each line of the standard input says; ends with it."""
    for line in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        work(int(line))
        sys.stdout.write(f"{json.dumps([time.perf_counter() - wall, time.process_time() - cpu])}\n")
        sys.stdout.flush()
