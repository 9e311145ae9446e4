"""A long sequence of plain values in a tenth of its memory."""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Iterator
from typing import Any

_BLOCK = 1_000
"""Values that are compressed together."""


class CompressedRows:
    """Values that `marshal` can write, such as lists of texts and numbers; added at the end, read from the start."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._last: list[Any] = []

    def append(self, value: Any) -> None:
        """Add a value; what it holds must not change any more."""
        self._last.append(value)
        if len(self._last) == _BLOCK:
            self._blocks.append(zlib.compress(marshal.dumps(self._last), 6))
            self._last = []

    def __len__(self) -> int:
        return len(self._blocks) * _BLOCK + len(self._last)

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            yield from marshal.loads(zlib.decompress(block))  # noqa: S302  what this object wrote
        yield from self._last
