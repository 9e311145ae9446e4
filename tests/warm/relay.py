"""`toolbelt` as a command on the PATH of shell scripts, which starts warm: see `tests.warm.client`.

The command is a script that passes its arguments, folder, environment and standard streams to the test's process, which
starts toolbelt with them and answers with the exit code.
"""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingUnixStreamServer
from tempfile import TemporaryDirectory

_HEAD_BYTES = 8
_COMMAND = f"""\
#!{sys.executable} -IS
import os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({{address!r}})
body = repr((sys.argv[1:], os.getcwd(), dict(os.environ))).encode()
socket.send_fds(connection, [len(body).to_bytes({_HEAD_BYTES})], [0, 1, 2])
connection.sendall(body)
os._exit(connection.recv(1)[0])
"""


class _Handler(BaseRequestHandler):
    def handle(self) -> None:
        head, streams, _, _ = socket.recv_fds(self.request, _HEAD_BYTES, 3)
        body = b""
        while len(body) < int.from_bytes(head):
            body += self.request.recv(1 << 16)
        arguments, folder, environment = ast.literal_eval(body.decode())
        command = [sys.executable, "-m", "toolbelt", *arguments]
        stdin, stdout, stderr = streams
        done = subprocess.run(command, cwd=folder, env=environment, stdin=stdin, stdout=stdout, stderr=stderr)
        for stream in streams:
            os.close(stream)
        self.request.sendall(bytes([done.returncode & 0xFF]))


@contextmanager
def relayed(folder: Path) -> Iterator[None]:
    """Put the command into a folder, where it works until the end."""
    with TemporaryDirectory() as short, ThreadingUnixStreamServer(f"{short}/socket", _Handler) as server:
        (folder / "toolbelt").write_text(_COMMAND.format(address=server.server_address))
        (folder / "toolbelt").chmod(0o755)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
