"""What one agent has loaded in one session, kept in a store from one turn to the next (rules D3 to D5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolbelt.errors import InvalidDefinitionError, StorageError
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.meta_tools import MetaToolAnswer
from toolbelt.sessions.store import DroppedToolkit, LoadedToolkits, RestoredState, SessionStore, StoredState
from toolbelt.toolkits.toolkit import MetaRole

_ATTEMPTS = 100
_Change = Callable[[LoadedToolkits], tuple[MetaToolAnswer, LoadedToolkits]]


@dataclass(frozen=True, slots=True)
class SessionView:
    """The state of an agent in a session.

    Attributes:
        stored: The stored toolkits; `None` if there is no stored state.
        loaded: The toolkits of the next turn.
        dropped: Stored toolkits that are no longer loaded, each with the reason.
    """

    stored: LoadedToolkits | None
    loaded: LoadedToolkits
    dropped: tuple[DroppedToolkit, ...]


class StoredToolkits:
    """The loaded toolkits of one agent in one session.

    All state is in the store, so any number of these objects, in any number of processes, may share one. Every method
    may wait for the store.

    Attributes:
        toolkits: The agent's.
        store: Of the state.
        session_id: Of the session; `None` outside a session, also for a blank one: then only the initial toolkits are
            loaded, and nothing is stored.

    Raises:
        InvalidDefinitionError: a session id that is not text.
    """

    def __init__(self, toolkits: DynamicToolkits, store: SessionStore, session_id: str | None) -> None:
        self.toolkits = toolkits
        self.store = store
        self.session_id = checked_session_id(session_id)

    @property
    def agent(self) -> str:
        """Name of the agent."""
        return self.toolkits.agent.name

    def begin_turn(self) -> tuple[RestoredState, tuple[str, ...]]:
        """The toolkits of a turn that begins now, and warnings, in sentences.

        A session without a stored state begins here: its initial toolkits are stored, so that they stay loaded if the
        configuration changes. Toolkits that no longer exist, are no longer allowed, are switched off or conflict are
        removed from the stored state, so that they do not come back by themselves (rule D5).

        Raises:
            StorageError: the state cannot be read. If it only cannot be written, there is a warning instead.
        """
        for _ in range(_ATTEMPTS):
            stored, restored = self._read()
            warnings = tuple(dropped.reason for dropped in restored.dropped)
            begins = stored is None and bool(restored.loaded)  # an empty state needs no entry
            if self.session_id is None or not (begins or restored.dropped):
                return restored, warnings
            try:
                if self._write(self.session_id, restored.loaded, stored):
                    return restored, warnings
            except StorageError as error:
                return restored, (*warnings, f"The state of this session could not be stored. {error}")
        raise self._contended()

    def load(self, toolkit: str) -> MetaToolAnswer:
        """Load a toolkit from the next turn on; the answer to `load_tools` (rule D3).

        If another writer changes the state at the same moment, the change is decided again on the new state, so that
        nothing is lost and the answer matches the stored state.

        Raises:
            InvalidDefinitionError: a toolkit that is not text.
            StorageError: the state cannot be read or written; it is unchanged.
        """
        return self._change(lambda now: self.toolkits.load(toolkit, now, has_session=self.session_id is not None))[0]

    def unload(self, toolkit: str) -> MetaToolAnswer:
        """Unload a toolkit from the next turn on; the answer to `unload_tools` (rule D3); as `load`."""
        return self._change(lambda now: self.toolkits.unload(toolkit, now, has_session=self.session_id is not None))[0]

    def call(self, role: MetaRole, arguments: Mapping[str, Any]) -> tuple[MetaToolAnswer, LoadedToolkits]:
        """The answer to a meta-tool, and the toolkits that are loaded from the next turn on; raises as `load`."""
        has_session = self.session_id is not None
        return self._change(lambda now: self.toolkits.call(role, arguments, now, has_session=has_session))

    def show(self) -> SessionView:
        """The state; changes nothing.

        Raises:
            StorageError: it cannot be read.
        """
        stored, restored = self._read()
        return SessionView(None if stored is None else stored.loaded, restored.loaded, restored.dropped)

    def reset(self) -> bool:
        """Let the session start again; returns whether there was a stored state.

        Call it also for a deleted conversation: nothing else deletes its state.

        Raises:
            StorageError: the state cannot be written.
        """
        return self.session_id is not None and self.store.reset(self.agent, self.session_id)

    def _read(self) -> tuple[StoredState | None, RestoredState]:
        stored = None if self.session_id is None else self.store.read(self.agent, self.session_id)
        return stored, self.toolkits.restore(None if stored is None else stored.loaded)

    def _write(self, session_id: str, loaded: LoadedToolkits, read: StoredState | None) -> bool:
        return self.store.write(self.agent, session_id, loaded, None if read is None else read.revision)

    def _change(self, change: _Change) -> tuple[MetaToolAnswer, LoadedToolkits]:
        for _ in range(_ATTEMPTS):
            stored, restored = self._read()
            answer, after = change(restored.loaded)
            if after == restored.loaded or self.session_id is None or self._write(self.session_id, after, stored):
                return answer, after
        raise self._contended()

    def _contended(self) -> StorageError:
        return StorageError(
            f"What agent {self.agent!r} has loaded in session {self.session_id!r} was changed by others {_ATTEMPTS} "
            "times while this change was decided; try again."
        )


def checked_session_id(session_id: str | None) -> str | None:
    """The session id; `None` for a blank one.

    Raises:
        InvalidDefinitionError: it is not text.
    """
    if session_id is not None and not isinstance(session_id, str):
        raise InvalidDefinitionError(f"A session id must be text, not {session_id!r}.")
    return session_id if session_id and session_id.strip() else None
