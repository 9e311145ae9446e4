"""Offline, no socket is opened (rule X3): in a process of its own, as a hook of the interpreter stays."""

from __future__ import annotations

import subprocess
import sys

import pytest

ATTEMPTS = {
    "a-socket": "socket.socket(socket.AF_INET)",
    "a-socket-of-ipv6": "socket.socket(socket.AF_INET6)",
    "loopback": "socket.create_connection(('127.0.0.1', 9))",
    "a-name": "socket.getaddrinfo('localhost', 80)",
    "another-thread": "concurrent.futures.ThreadPoolExecutor().submit(socket.socket, socket.AF_INET).result()",
    "a-url": "urllib.request.urlopen('http://127.0.0.1:9/')",
    "a-loop": "asyncio.run(asyncio.open_connection('127.0.0.1', 9))",
}
PROGRAM = """
import asyncio, concurrent.futures, socket, urllib.request
from toolbelt.evals.responses.offline import OfflineError, no_network
early = socket.socket(socket.AF_INET)
with no_network():
    try:
        {attempt}
    except OfflineError as error:
        print("refused", error)
    try:
        early.connect(("127.0.0.1", 9))
    except OfflineError as error:
        print("refused", error)
    asyncio.run(asyncio.sleep(0))
    left, right = socket.socketpair()
    left.send(b"x")
    assert right.recv(1) == b"x"
socket.socket(socket.AF_INET).close()
"""


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_X3_nothing_reaches_a_network(attempt: str) -> None:
    program = PROGRAM.format(attempt=attempt)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("refused --offline") == 2, done.stdout
