"""Token counts by content, kept on disk: a text counted once is never counted again.

Counts are found by a hash of tokenizer and text, so a changed description is simply another entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.stores.content_cache import ContentCache, OpenCache, hash_text

FILE_NAME = "tokens.sqlite3"
_BATCH = 50
"""Texts counted between two writes: what an interruption loses at most."""


@dataclass(frozen=True, eq=False, repr=False)
class CachedTokenCounter:
    """Counts through a cache.

    Attributes:
        counter: Counts what is not in the cache.
        folder: Where the cache is; made if need be.
        progress: Called with the number of texts whose count is known so far, for whoever waits.
    """

    counter: TokenCounter
    folder: Path
    progress: Callable[[int], None] | None = None

    @property
    def name(self) -> str:
        """The tokenizer's name."""
        return self.counter.name

    @property
    def exact(self) -> bool:
        """Whether the tokenizer is a real one."""
        return self.counter.exact

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in order; each batch is kept as soon as it is counted."""
        keys = [self._key(text) for text in texts]
        with self._cache.open() as cache:
            known = _find(cache, keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            for batch in _batches(list(missing)):
                counts = self.counter.count([missing[key] for key in batch])
                counted = dict(zip(batch, counts, strict=True))
                cache.add(counted)
                known.update(counted)
                if self.progress is not None:
                    self.progress(len(known))
        return [known[key] for key in keys]

    def find(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text, in order, if all of them were counted before; the tokenizer is not loaded."""
        keys = [self._key(text) for text in texts]
        with self._cache.open() as cache:
            known = _find(cache, keys)
        return [known[key] for key in keys] if known.keys() >= {*keys} else None

    @property
    def _cache(self) -> ContentCache:
        return ContentCache(self.folder / FILE_NAME, "counts", "tokens INTEGER")

    def _key(self, text: str) -> bytes:
        return hash_text(f"{self.counter.name}\0{text}")


def _find(cache: OpenCache, keys: Sequence[bytes]) -> dict[bytes, int]:
    return {key: tokens for key, tokens in cache.find(keys).items() if type(tokens) is int and tokens >= 0}


def _batches(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (keys[start : start + _BATCH] for start in range(0, len(keys), _BATCH))
