"""What a later record is joined with, by an id: kept in a temporary file, so that memory does not grow with it."""

from __future__ import annotations

import json
import tempfile
import weakref
from typing import Any

from toolbelt.evals.cases.index import id_digest


class Joined:
    """Values by id; of two with one id, the first.

    Attributes:
        repeated: How often an id came again.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed when nobody holds this any more
        weakref.finalize(self, self._file.close)
        self._places: dict[int, tuple[int, int]] = {}
        self._unclaimed: set[int] = set()
        self.repeated = 0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def unclaimed(self) -> int:
        """How many were never asked for."""
        return len(self._unclaimed)

    def add(self, key: str, value: Any) -> None:
        """One more value, as JSON."""
        digest = id_digest(key)
        if digest in self._places:
            self.repeated += 1
            return
        raw = json.dumps(value).encode()
        self._places[digest] = (self._file.seek(0, 2), len(raw))
        self._file.write(raw)
        self._unclaimed.add(digest)

    def find(self, key: str) -> tuple[Any] | None:
        """The value of that id, in a tuple; `None` if there is none."""
        digest = id_digest(key)
        if (place := self._places.get(digest)) is None:
            return None
        self._unclaimed.discard(digest)
        self._file.seek(place[0])
        return (json.loads(self._file.read(place[1])),)
