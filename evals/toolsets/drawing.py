"""Drawing by a seed: the same everywhere, and the first few the same however many are drawn."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b


class SeededDraw:
    """Everything that is drawn for one case.

    Args:
        seed: Of the run.
        case_id: Which case.
    """

    def __init__(self, seed: int, case_id: str) -> None:
        self._key = blake2b(f"{seed}\0{case_id}".encode(errors="surrogatepass")).digest()

    def shuffled(self, items: Sequence[str]) -> Iterator[str]:
        """Every item once, in a random order; takes time by how many are taken, not by how many there are."""
        # Fisher and Yates, of whose array only what was moved is kept.
        chance = random.Random(self._key)  # noqa: S311  no secret
        moved: dict[int, int] = {}
        size = len(items)
        for place in range(size):
            drawn = place + int(chance.random() * (size - place))
            yield items[moved.get(drawn, drawn)]
            moved[drawn] = moved.get(place, place)

    def ordered(self, items: Iterable[str]) -> list[str]:
        """In an order that no further item can change: each has its own place in the case."""
        return sorted(items, key=self._digest)

    def place(self, item: str, places: int) -> int:
        """One of so many places for an item, 0-based."""
        return int.from_bytes(self._digest(item)) * places >> 64

    def _digest(self, item: str) -> bytes:
        return blake2b(item.encode(errors="surrogatepass"), key=self._key, digest_size=8).digest()
