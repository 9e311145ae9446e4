"""The state of sessions: as stored, as restored, and the protocol of a store with its in-memory form (rule D5)."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

LoadedToolkits = tuple[str, ...]
"""Keys of toolkits, in the order in which the agent is allowed them."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """The stored state of one agent in one session.

    Attributes:
        loaded: Keys of the loaded toolkits as last written, initial ones included.
        revision: A new one with every change; never used again, also after a reset.
    """

    loaded: tuple[str, ...]
    revision: int


class DropKind(StrEnum):
    """Why a toolkit that was loaded no longer is."""

    UNKNOWN = "unknown"
    """No toolkit has that key."""
    NOT_ALLOWED = "not_allowed"
    """It exists, but this agent is not allowed it."""
    SWITCHED_OFF = "switched_off"
    """The agent's `tools_config` switches it off (rule K8)."""
    CONFLICT = "conflict"
    """Another toolkit has one of its tools with other overrides."""


@dataclass(frozen=True, slots=True)
class DroppedToolkit:
    """A toolkit that was loaded and no longer can be.

    Attributes:
        toolkit: Its key, as stored.
        reason: Why, in a sentence.
        kind: Why, as a value.
    """

    toolkit: str
    reason: str
    kind: DropKind


@dataclass(frozen=True, slots=True)
class RestoredState:
    """A stored state, restored under the current configuration (rule D5).

    Attributes:
        loaded: The toolkits that are loaded now.
        dropped: Stored toolkits that are not loaded now, in stored order.
    """

    loaded: LoadedToolkits
    dropped: tuple[DroppedToolkit, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredSession:
    """One entry of a store, for an overview.

    Attributes:
        agent: Name of the agent.
        session_id: Of the session.
        state: The stored state; `None` if it cannot be read.
        problem: Why it cannot be read, in a sentence; `None` if it can.
    """

    agent: str
    session_id: str
    state: StoredState | None
    problem: str | None = None


class SessionStore(Protocol):
    """Stores the loaded toolkits, by agent and session.

    Every method may be called from any thread. A state is durable once `write` has returned `True`.
    """

    def read(self, agent: str, session_id: str) -> StoredState | None:
        """The stored state; `None` if there is none.

        Raises:
            StorageError: it cannot be read.
        """
        ...

    def write(self, agent: str, session_id: str, loaded: Sequence[str], revision: int | None) -> bool:
        """Replace the stored state, if it is still the one that the caller read.

        Args:
            agent: Name of the agent.
            session_id: Of the session.
            loaded: Keys of toolkits.
            revision: Of the state that was read; `None` if there was none.

        Returns:
            Whether it was written. `False` if another writer was faster: read and decide again.

        Raises:
            StorageError: it cannot be written; the stored state is unchanged.
        """
        ...

    def reset(self, agent: str, session_id: str) -> bool:
        """Delete the stored state, so that the session starts again; returns whether there was one.

        Raises:
            StorageError: it cannot be written.
        """
        ...

    def sessions(self, agent: str | None = None) -> list[tuple[str, str]]:
        """Agent and session of all stored states, in order; of one agent if it is named.

        Raises:
            StorageError: it cannot be read.
        """
        ...

    def states(self, agent: str | None = None) -> list[StoredSession]:
        """All stored states at one moment, in the order of `sessions`; of one agent if it is named.

        Raises:
            StorageError: the store cannot be read.
        """
        ...


class MemorySessionStore:
    """Stores the state in memory, for tests and for agents without a memory."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], StoredState] = {}
        self._lock = threading.Lock()
        self._revisions = itertools.count(1)

    def read(self, agent: str, session_id: str) -> StoredState | None:
        """The stored state; `None` if there is none."""
        return self._states.get((agent, session_id))

    def write(self, agent: str, session_id: str, loaded: Sequence[str], revision: int | None) -> bool:
        """Replace the stored state, if it is still the one that the caller read; returns whether it was."""
        with self._lock:
            state = self._states.get((agent, session_id))
            if (None if state is None else state.revision) != revision:
                return False
            self._states[agent, session_id] = StoredState(tuple(loaded), next(self._revisions))
            return True

    def reset(self, agent: str, session_id: str) -> bool:
        """Delete the stored state; returns whether there was one."""
        with self._lock:
            return self._states.pop((agent, session_id), None) is not None

    def sessions(self, agent: str | None = None) -> list[tuple[str, str]]:
        """Agent and session of all stored states, in order."""
        with self._lock:  # a dict that changes during iteration raises
            keys = list(self._states)
        return sorted(key for key in keys if agent is None or key[0] == agent)

    def states(self, agent: str | None = None) -> list[StoredSession]:
        """All stored states, in order."""
        with self._lock:
            items = list(self._states.items())
        return [StoredSession(*key, state) for key, state in sorted(items) if agent is None or key[0] == agent]
