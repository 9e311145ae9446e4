"""How far long work has come, told to whoever wants to know."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

Progress = Callable[[str, int | None], AbstractContextManager[Callable[[int], object]]]
"""As `toolbelt.console.screen.progress`: a label and how much there is to do give a way to say how much is done."""


@contextlib.contextmanager
def untold(_label: str, _total: int | None) -> Iterator[Callable[[int], object]]:
    """Progress that nobody is told of."""
    yield lambda _: None
