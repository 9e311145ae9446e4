"""Vectors of texts by a hosted model, kept on disk by content: what was asked once is never asked again (rule S2)."""

from __future__ import annotations

import math
import os
import threading
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from toolbelt.providers.embeddings import (
    AT_ONCE,
    BATCH,
    EmbeddingEstimate,
    EmbeddingOptions,
    embed_texts,
    estimate_embeddings,
)
from toolbelt.providers.endpoints import find_origin
from toolbelt.reporter import SILENT, Advance, Reporter
from toolbelt.stores.content_cache import ContentCache, OpenCache, hash_text
from toolbelt.stores.files import cache_folder
from toolbelt.text import visible

FILE_NAME = "vectors.sqlite3"
_KEPT_AT_ONCE = BATCH * AT_ONCE * 4
"""Texts that are asked for between two writes: what an interruption loses at most."""


class StoredVectors:
    """Gives vectors; asks the model only for those that no earlier call has stored.

    They are stored by text, model and who answers for it (`find_origin`), with a checksum: a damaged one is asked for
    again. May be used from several threads.

    Args:
        model: Its name.
        options: How it is asked.
        folder: Where the file is; toolbelt's cache if `None`.
        reporter: Receives, before many texts are asked for, what that comes to, and then the progress.
    """

    def __init__(
        self,
        model: str,
        options: EmbeddingOptions | None = None,
        folder: Path | None = None,
        reporter: Reporter = SILENT,
    ) -> None:
        self.model = model
        self._options = options or EmbeddingOptions()
        folder = cache_folder(os.environ) if folder is None else folder
        self._cache = ContentCache(folder / FILE_NAME, "vectors", "vector BLOB")
        self._reporter = reporter
        self._origin = find_origin(model, self._options.api_base, self._options.table)
        self._lock = threading.Lock()

    def get(self, texts: Sequence[str], what: str = "") -> list[array[float]]:
        """The vector of each text, in order.

        Args:
            texts: None of them blank.
            what: What they are, in words, if they are many: their cost is reported first, and how far the work is.

        Raises:
            EmbeddingError: a request failed for good, or too often; what was answered before is stored.
            NotStoredError: nothing may be asked, and some are not stored.
            ToolbeltError: the model cannot be asked.
        """
        with self._lock if what else nullcontext():  # who comes second finds them stored
            keys = [self._key(text) for text in texts]
            with self._cache.open() as cache:
                known = _find(cache, keys)
                missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
                if missing:
                    known |= self._ask(missing, what, cache)
        return [known[key] for key in keys]

    def estimate(self, texts: Sequence[str]) -> EmbeddingEstimate | None:
        """What `get` would come to; `None` if all are stored. Nobody is asked."""
        keys = [self._key(text) for text in texts]
        with self._cache.open() as cache:
            known = _find(cache, keys)
        missing = dict.fromkeys(text for key, text in zip(keys, texts, strict=True) if key not in known)
        return estimate_embeddings(self.model, tuple(missing), self._options.table) if missing else None

    def _ask(self, missing: Mapping[bytes, str], what: str, cache: OpenCache) -> dict[bytes, array[float]]:
        if not what or self._options.is_offline:
            return dict(self._ask_in_parts(missing, cache, None))
        estimate = estimate_embeddings(self.model, tuple(missing.values()), self._options.table)
        self._reporter.note(f"vectors of {what} by {visible(self.model)}: {estimate}")
        with self._reporter.progress(f"computing vectors of {what}", len(missing)) as advance:
            return dict(self._ask_in_parts(missing, cache, advance))

    def _ask_in_parts(
        self, missing: Mapping[bytes, str], cache: OpenCache, advance: Advance | None
    ) -> Iterator[tuple[bytes, array[float]]]:
        keys = list(missing)
        # Offline nothing is asked, and the error counts all of them.
        size = len(keys) if self._options.is_offline else _KEPT_AT_ONCE
        for start in range(0, len(keys), size):

            def advance_part(done: int, start: int = start) -> None:
                if advance is not None:
                    advance(start + done)

            part = keys[start : start + size]
            embedded = embed_texts(self.model, [missing[key] for key in part], self._options, advance_part)
            vectors = dict(zip(part, embedded.vectors, strict=True))
            cache.add({key: vector.tobytes() for key, vector in vectors.items()})
            yield from vectors.items()

    def _key(self, text: str) -> bytes:
        return hash_text(f"{self._origin}\0{self.model}\0{text}")


def _find(cache: OpenCache, keys: Sequence[bytes]) -> dict[bytes, array[float]]:
    unpacked = ((key, _unpack(packed)) for key, packed in cache.find(keys).items())
    return {key: vector for key, vector in unpacked if vector is not None}


def _unpack(packed: object) -> array[float] | None:
    """The vector; `None` for what is none."""
    vector = array("f")
    try:
        vector.frombytes(packed if isinstance(packed, bytes) else b"")
    except ValueError:
        return None
    return vector if vector and math.isfinite(sum(vector)) else None
