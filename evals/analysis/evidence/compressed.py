"""A long sequence of plain values in a tenth of its memory."""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Iterator
from typing import Any

from toolbelt.evals.analysis.evidence.temporary import TemporaryBytes

_BLOCK = 1_000
"""Values that are compressed together."""
_MOST_HELD = 1 << 19
"""Compressed bytes that are held in memory; more of them are in a file."""


class CompressedRows:
    """Values that `marshal` can write, such as lists of texts and numbers; added at the end, read from the start."""

    def __init__(self) -> None:
        self._blocks: list[bytes | tuple[int, int]] = []
        """Those in the file by where they start, and how long they are."""
        self._held = 0
        self._file = TemporaryBytes()
        self._last: list[Any] = []

    def append(self, value: Any) -> None:
        """Add a value; what it holds must not change any more."""
        self._last.append(value)
        if len(self._last) == _BLOCK:
            self._store(zlib.compress(marshal.dumps(self._last), 6))
            self._last = []

    def _store(self, block: bytes) -> None:
        start = self._file.add(block) if self._held > _MOST_HELD else None
        self._held += len(block)
        self._blocks.append(block if start is None else (start, len(block)))

    def __len__(self) -> int:
        return len(self._blocks) * _BLOCK + len(self._last)

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks:
            data = block if isinstance(block, bytes) else self._file.read(*block)
            yield from marshal.loads(zlib.decompress(data))  # noqa: S302  what this object wrote
        yield from self._last
