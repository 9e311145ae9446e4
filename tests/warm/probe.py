"""What the tests of warm processes start: it describes itself, waits, echoes, or ends in one way or another."""

from __future__ import annotations

import atexit
import builtins
import json
import os
import signal
import sys
import threading
import time
from typing import Any


def _describe() -> None:
    streams: tuple[Any, ...] = (sys.stdin, sys.stdout, sys.stderr)
    described = {
        "is_warm": "mcp" in sys.modules,
        "arguments": sys.argv,
        "original": sys.orig_argv[1:],
        "folder": os.getcwd(),  # noqa: PTH109
        "path": sys.path,
        "environment": {name: value for name, value in os.environ.items() if name not in ("LC_CTYPE", "_")},
        "umask": os.umask(0),
        "is_session": os.getsid(0) == os.getpid(),
        "parent": os.getppid(),
        "zone": time.tzname,
        "interrupt": repr(signal.getsignal(signal.SIGINT)),
        "pipe": repr(signal.getsignal(signal.SIGPIPE)),
        "blocked": repr(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "name": __name__,
        "open": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],  # noqa: PTH208
        "streams": [
            [stream.encoding, stream.errors, stream.mode, stream.line_buffering, stream.write_through, stream.isatty()]
            for stream in streams
        ],
    }
    _write(json.dumps(described))


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main() -> None:
    """Do what the first argument says."""
    action, *arguments = sys.argv[1:]
    if action == "describe":
        _describe()
    elif action == "import":
        import mcp.client.client
        import mcp.server.lowlevel  # noqa: F401
    elif action == "echo":
        for line in sys.stdin:
            _write(line)
    elif action == "signal":
        main_thread = threading.main_thread().ident
        threading.Thread(target=signal.pthread_kill, args=(main_thread, signal.SIGTERM)).start()
        time.sleep(60)
    elif action == "wait":
        _write(f"{os.getpid()} of {os.getppid()}\n")
        time.sleep(60)
    else:
        atexit.register(sys.stdout.write, "at exit\n")
        sys.stdout.write("registered\n")
        if action == "raise":
            raise getattr(builtins, arguments[0])
        sys.exit(int(arguments[0]) if arguments and arguments[0].isdigit() else " ".join(arguments) or None)


if __name__ == "__main__":
    main()
