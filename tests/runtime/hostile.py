"""Functions that do what no tool should; light to import, because a process of its own imports it at each call."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

FREED = threading.Event()
"""Set where a test is over: what hangs in a thread ends then."""
HANG_SECONDS = 60.0


def add(a: int, b: int = 1) -> int:
    sys.stdout.write("adding\n")
    return a + b


async def add_later(a: int, b: int = 1) -> int:
    await asyncio.sleep(0.01)
    return a + b


def hang() -> None:
    FREED.wait(HANG_SECONDS)


async def hang_async() -> None:
    await asyncio.sleep(HANG_SECONDS)


async def hang_without_end() -> None:
    while True:
        try:
            await asyncio.sleep(HANG_SECONDS)
        except asyncio.CancelledError:
            continue


def compute_without_end() -> None:
    while True:
        pass


async def compute_without_end_async() -> None:
    compute_without_end()


def ignore_signals() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    compute_without_end()


def start_a_process(path: str) -> None:
    """Starts one that hangs as well, and writes its number to a file."""
    child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({HANG_SECONDS})"])
    with Path(path).open("w") as file:
        file.write(str(child.pid))
    child.wait()


def exit_at_once() -> None:
    os._exit(3)


def crash() -> None:
    ctypes.string_at(0)


def exit_politely() -> None:
    sys.exit(4)


def write_to_the_descriptor() -> str:
    os.write(1, b"not a result")
    subprocess.run([sys.executable, "-c", "print('nor this')"], check=True)
    return "fine"


def give_a_lock() -> Any:
    return threading.Lock()


def raise_it(kind: str) -> None:
    raise {"value": ValueError, "exit": SystemExit, "generator": GeneratorExit, "base": BaseException}[kind]("no")


async def raise_it_async(kind: str) -> None:
    await asyncio.sleep(0)
    if kind == "cancelled":
        raise asyncio.CancelledError
    raise_it(kind)


async def cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(HANG_SECONDS)


def recurse(depth: int = 0) -> int:
    return recurse(depth + 1)


def give_much() -> str:
    return "x" * 20_000_000


def give_much_that_is_deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(50_000):
        value = [value]
    return value


def give_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def give_something_else() -> Any:
    return object()


def give_a_generator() -> Any:
    return (number for number in range(3))


async def block_the_loop() -> str:
    time.sleep(0.15)
    return "done"


def take_text(text: str) -> str:
    return text


class Torn:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise BaseException(name)  # noqa: TRY002


def give_what_is_torn() -> Any:
    return Torn()
