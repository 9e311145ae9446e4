"""Refuses every connection of this process while a run is offline (rule X3)."""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Iterator
from typing import Any

from toolbelt.errors import ToolbeltError

_NAME_EVENTS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"})
_ADDRESS_EVENTS = frozenset({"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"})
_FAMILIES = frozenset({socket.AF_INET, socket.AF_INET6})
_LOOP_TAKES_LOOPBACK = sys.platform == "win32"
"""There an event loop wakes itself over two sockets of its own, as Windows has no others."""
_LOOPBACK = frozenset({"127.0.0.1", "::1"})


class OfflineError(ToolbeltError):
    """Something would have used the network, although nothing may."""


class _Guard:
    """The one audit hook of the process: Python cannot remove it, so it is switched on and off."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_installed = False

    def switch(self, step: int) -> None:
        if not self._is_installed:
            sys.addaudithook(self._check)
            self._is_installed = True
        self._depth += step

    def _check(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._depth <= 0 or not event.startswith("socket."):
            return
        if event in _NAME_EVENTS:
            raise _refusal(arguments[0])
        if event in _ADDRESS_EVENTS and arguments[0].family in _FAMILIES:
            address = arguments[1] or ("?",)  # of one that is connected, which nothing here can be
            if not (_LOOP_TAKES_LOOPBACK and address[0] in _LOOPBACK):
                raise _refusal(address[0])
        if event == "socket.__new__" and arguments[1] in _FAMILIES and not _LOOP_TAKES_LOOPBACK:
            raise _refusal("a network")


_guard = _Guard()


@contextlib.contextmanager
def no_network() -> Iterator[None]:
    """While it is open, whatever would open a socket of the internet protocols raises `OfflineError`.

    This holds for the whole process, other threads included, and for loopback, too. Sockets between processes of this
    machine (`AF_UNIX`) are no network. Programs that are started are not held back; a run starts none.
    """
    _guard.switch(1)
    try:
        yield
    finally:
        _guard.switch(-1)


def _refusal(target: object) -> OfflineError:
    return OfflineError(
        f"--offline opens no connection, and one to {target} was about to be opened; leave out --offline."
    )
