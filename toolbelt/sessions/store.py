"""The protocol of what keeps the state of sessions, and its simplest form (rule D5)."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredState:
    """What is kept of one agent in one session.

    Attributes:
        loaded: Keys of the toolkits that are loaded, initial ones among them, as last written.
        revision: Another with every change, and never one that was there before, also after a reset.
    """

    loaded: tuple[str, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class KeptSession:
    """What is kept of one agent in one session, where all are looked at.

    Attributes:
        agent: Whose.
        session_id: In which.
        state: What is kept; `None` where that cannot be read.
        problem: Why it cannot, in a sentence; `None` where it can.
    """

    agent: str
    session_id: str
    state: StoredState | None
    problem: str | None = None


class SessionStore(Protocol):
    """Keeps what is loaded, by agent and session.

    Every method may be called from any thread. What `write` answered `True` to is durable.
    """

    def read(self, agent: str, session_id: str) -> StoredState | None:
        """What is kept; `None` if nothing is.

        Raises:
            StorageError: it cannot be read.
        """
        ...

    def write(self, agent: str, session_id: str, loaded: Sequence[str], revision: int | None) -> bool:
        """Replace what is kept, if it is still what the caller read.

        Args:
            agent: Whose state.
            session_id: In which session.
            loaded: Keys of toolkits.
            revision: Of what was read; `None` where nothing was kept.

        Returns:
            Whether it was written. `False` where somebody else was quicker: read again, decide again.

        Raises:
            StorageError: it cannot be written; what was kept is untouched.
        """
        ...

    def reset(self, agent: str, session_id: str) -> bool:
        """Forget what is kept, so that the session starts anew; whether there was anything.

        Raises:
            StorageError: it cannot be written.
        """
        ...

    def sessions(self, agent: str | None = None) -> list[tuple[str, str]]:
        """Agent and session of everything that is kept, in order; of one agent where it is named.

        Raises:
            StorageError: it cannot be read.
        """
        ...

    def states(self, agent: str | None = None) -> list[KeptSession]:
        """Everything that is kept, as it is at one moment, in the order of `sessions`; of one agent where it is named.

        Raises:
            StorageError: it cannot be read as a whole.
        """
        ...


class MemorySessionStore:
    """Keeps the state in memory, for tests and for agents that are not to remember."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], StoredState] = {}
        self._lock = threading.Lock()
        self._revisions = itertools.count(1)

    def read(self, agent: str, session_id: str) -> StoredState | None:
        """What is kept; `None` if nothing is."""
        return self._states.get((agent, session_id))

    def write(self, agent: str, session_id: str, loaded: Sequence[str], revision: int | None) -> bool:
        """Replace what is kept, if it is still what the caller read; whether it was."""
        with self._lock:
            kept = self._states.get((agent, session_id))
            if (None if kept is None else kept.revision) != revision:
                return False
            self._states[agent, session_id] = StoredState(tuple(loaded), next(self._revisions))
            return True

    def reset(self, agent: str, session_id: str) -> bool:
        """Forget what is kept; whether there was anything."""
        with self._lock:
            return self._states.pop((agent, session_id), None) is not None

    def sessions(self, agent: str | None = None) -> list[tuple[str, str]]:
        """Agent and session of everything that is kept, in order."""
        with self._lock:  # a dict that grows while it is gone through raises
            kept = list(self._states)
        return sorted(key for key in kept if agent is None or key[0] == agent)

    def states(self, agent: str | None = None) -> list[KeptSession]:
        """Everything that is kept, in order."""
        with self._lock:
            kept = list(self._states.items())
        return [KeptSession(*key, state) for key, state in sorted(kept) if agent is None or key[0] == agent]
