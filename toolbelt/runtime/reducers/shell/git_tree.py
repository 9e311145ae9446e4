"""The state of a working tree, as either form of `git status` tells it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_QUOTED = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass
class Tree:
    """What one `git status` says.

    Attributes:
        said: What it says of branch and operation, in its words.
        paths: By kind (`staged, modified`), in the order they are told.
        is_clean: Whether it ought to be said that nothing changed, as the short form says by saying nothing.
    """

    said: list[str] = field(default_factory=list)
    paths: dict[str, list[str]] = field(default_factory=dict)
    is_clean: bool = False

    def add(self, kind: str, path: str) -> None:
        """Count a path."""
        self.paths.setdefault(kind, []).append(path)


def unquote(path: str) -> str:
    """A path as it is called: git writes what is not plain ASCII in quotes, as C does.

    One with characters that cannot be shown stays quoted.
    """
    if len(path) < 2 or not path.startswith('"') or not path.endswith('"'):
        return path
    try:
        made = _QUOTED.sub(_unescape, path[1:-1].encode()).decode()
    except ValueError:
        return path
    return made if made.isprintable() else path


def unquote_pair(path: str) -> str:
    """The two paths of a rename, `old -> new`, each as it is called."""
    found = re.fullmatch(r'("(?:[^"\\]|\\.)*"|.*?) -> ("(?:[^"\\]|\\.)*"|.*)', path)
    return path if found is None else f"{unquote(found[1])} -> {unquote(found[2])}"


def _unescape(found: re.Match[bytes]) -> bytes:
    what = found[1]
    return bytes([int(what, 8)]) if len(what) == 3 else _ESCAPES.get(what, what)
