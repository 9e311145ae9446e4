"""Ends servers whose gateway was killed: a server that hangs does not notice the end of its input."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from types import TracebackType

_SCRIPT = """
live=' '
while read -r sign group; do
  case $sign in
    +) live="$live$group " ;;
    -) live="${live%% $group *} ${live#* $group }" ;;
  esac
done
[ -z "${live# }" ] && exit
sleep 1
for group in $live; do kill -s TERM -- "-$group"; done
sleep 1
for group in $live; do kill -s KILL -- "-$group"; done
"""
"""Reads `+ GROUP` and `- GROUP` until the gateway is gone. Servers that see the end of their input have a second."""

_BUSY_SECONDS = 10.0
"""In which a shell that has nothing more to do has ended, however busy the machine is."""


class OrphanWatch:
    """A shell of 1 MB that outlives the gateway by two seconds, and takes with it what the gateway left behind.

    It runs from the first `add` to `close`, and only on POSIX systems; on others this does nothing.
    """

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def add(self, group: int) -> None:
        """Watch a process group."""
        if self._shell is None and sys.platform != "win32":
            with contextlib.suppress(OSError):  # no shell: servers end by the end of their input
                self._shell = subprocess.Popen(  # noqa: S603  the script above
                    ["/bin/sh", "-c", _SCRIPT],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # who kills the gateway's group does not reach it
                    env={"PATH": "/usr/bin:/bin"},
                )
        self._groups.add(group)
        self._write(f"+ {group}\n")

    def remove(self, group: int) -> None:
        """Forget a group, of which nothing runs any more."""
        self._groups.discard(group)
        self._write(f"- {group}\n")

    def close(self) -> None:
        """End the watch itself."""
        if self._shell is not None:
            assert self._shell.stdin is not None  # noqa: S101
            with contextlib.suppress(OSError):
                self._shell.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._shell.wait(_BUSY_SECONDS if not self._groups else 0)  # at once if nothing is left to end
            self._shell = None

    def __enter__(self) -> OrphanWatch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _write(self, line: str) -> None:
        if self._shell is not None and self._shell.stdin is not None:
            with contextlib.suppress(OSError):
                self._shell.stdin.write(line.encode())
                self._shell.stdin.flush()
