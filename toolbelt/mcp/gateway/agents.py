"""An agent of `toolbelt.yaml` at the gateway: its tools, and the toolkits that each client has loaded (rules D2 to D5).

A gateway sees no messages of a user, so a turn is made of calls that overlap: a call that begins while none is under
way begins a turn. What it loads is there in the next one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

from toolbelt.errors import StorageError
from toolbelt.mcp.gateway.client import Client
from toolbelt.mcp.gateway.discovery import Discovery
from toolbelt.mcp.gateway.front import Context
from toolbelt.mcp.gateway.gateway import LocalTool
from toolbelt.mcp.gateway.meta_tools import DiscoveryRole
from toolbelt.mcp.gateway.surface import Surface, listed_definition
from toolbelt.mcp.gateway.toolkit_surface import AgentSurface
from toolbelt.mcp.upstreams.wire import Params
from toolbelt.sessions.meta_tools import META_TOOLS, AnswerStatus, MetaToolAnswer, answer_text, make_answer
from toolbelt.sessions.store import LoadedToolkits, SessionStore
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.text import visible
from toolbelt.toolkits.toolkit import MetaRole

_DESCRIPTIONS: Mapping[MetaRole, str] = MappingProxyType(
    {
        MetaRole.LOAD: "Load one toolkit by its name. Its tools can be called after the answer, not in the same batch "
        "of calls, and stay for the rest of this session. {how}",
        MetaRole.UNLOAD: "Unload one toolkit by its name, when it is no longer needed. Its tools are gone after the "
        "answer. Sticky toolkits cannot be unloaded.",
    }
)
"""Where those of a session speak of the user's next message."""
_MESSAGES: Mapping[AnswerStatus, str] = MappingProxyType(
    {
        AnswerStatus.LOADED: "These tools can be called from your next call on. {how}",
        AnswerStatus.UNLOADED: "These tools are gone from your next call on.",
        AnswerStatus.ALREADY_LOADED: "This toolkit is loaded already. {how}",
    }
)


@dataclass(eq=False)
class _AgentSession:
    """What one client has loaded.

    Attributes:
        stored: Its state.
        calls: Under way.
        has_turn: Whether the turn of these calls has begun.
        loaded: The toolkits of this turn.
        warned: What the log has already.
        lock: Held while a turn begins.
    """

    stored: StoredToolkits
    loaded: LoadedToolkits
    calls: int = 0
    has_turn: bool = False
    warned: set[str] = field(default_factory=set)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class AgentTurns:
    """The turns of each client of a gateway that serves an agent.

    Args:
        agent: What it may have.
        store: Keeps what clients have loaded.
        log: Receives one line at a time.
        session_id: Of an earlier session, to go on with; by default, each client has a session of its own.
        discovery: Reaches the tools that a client has not listed since they were loaded; `None` if nothing does.
    """

    def __init__(
        self,
        agent: AgentSurface,
        store: SessionStore,
        log: Callable[[str], None],
        session_id: str | None = None,
        *,
        discovery: Discovery | None = None,
    ) -> None:
        self._agent = agent
        self._store = store
        self._log = log
        self._session_id = session_id
        self._how = _describe_calls(discovery)
        self._sessions: WeakKeyDictionary[Client, _AgentSession] = WeakKeyDictionary()

    @property
    def surface(self) -> Surface:
        """All tools that the agent may have."""
        return self._agent.whole

    @property
    def name(self) -> str:
        """Of the agent."""
        return self._agent.toolkits.agent.name

    @property
    def meta_tools(self) -> tuple[LocalTool, ...]:
        """Those of rule D2; none for an agent that may load nothing."""
        if not self._agent.toolkits.has_meta_tools:
            return ()
        tools = []
        for role, tool in META_TOOLS.items():
            described = replace(tool, description=_DESCRIPTIONS.get(role, tool.description).format(how=self._how))
            tools.append(LocalTool(listed_definition(described, role.value), partial(self._answer, role)))
        return tuple(tools)

    async def refresh(self, client: Client) -> None:
        """Give the client the tools of its next turn, unless calls are under way: then it keeps those of this turn."""
        session = self._session_of(client)
        async with session.lock:
            if not session.has_turn:
                await self._begin(client, session)

    @contextlib.asynccontextmanager
    async def call(self, client: Client) -> AsyncIterator[None]:
        """A call is under way; the first one begins a turn (rule D4)."""
        session = self._session_of(client)
        session.calls += 1
        try:
            async with session.lock:
                if not session.has_turn:
                    await self._begin(client, session)
                    session.has_turn = True
            yield
        finally:
            session.calls -= 1
            session.has_turn = session.has_turn and session.calls > 0

    def _session_of(self, client: Client) -> _AgentSession:
        session = self._sessions.get(client)
        if session is None:
            toolkits = self._agent.toolkits
            session_id = self._session_id or client.session_id
            session = _AgentSession(StoredToolkits(toolkits, self._store, session_id), toolkits.initial)
            self._sessions[client] = session
            self._log(f"agent {self.name!r}: session {session_id}")
        return session

    async def _begin(self, client: Client, session: _AgentSession) -> None:
        try:
            restored, warnings = await asyncio.to_thread(session.stored.begin_turn)
        except StorageError as error:  # it keeps what it had
            warnings = (str(error),)
        else:
            session.loaded = restored.loaded
        self._warn(session, warnings)
        client.surface = self._agent.narrow(session.loaded)

    def _warn(self, session: _AgentSession, warnings: Iterable[str]) -> None:
        for warning in warnings:
            if warning not in session.warned:
                session.warned.add(warning)
                self._log(f"agent {self.name!r}: {visible(warning)}")

    async def _answer(self, role: MetaRole, client: Client, _context: Context, params: Params) -> dict[str, Any]:
        stored = self._session_of(client).stored
        try:
            answer, _ = await asyncio.to_thread(stored.call, role, params.get("arguments") or {})
        except StorageError as error:
            answer = make_answer(AnswerStatus.ERROR, message=str(error))
        return {"content": [{"type": "text", "text": answer_text(self._in_calls(answer))}], "isError": False}

    def _in_calls(self, answer: MetaToolAnswer) -> MetaToolAnswer:
        """The answer, with a message that speaks of calls where a session speaks of the user's messages."""
        message = _MESSAGES.get(AnswerStatus(answer["status"]))
        if message is None or answer.get("tools") == []:
            return answer
        return {**answer, "message": message.format(how=self._how)}


def _describe_calls(discovery: Discovery | None) -> str:
    if discovery is None or not discovery.definitions:
        return "Call them by their names."
    names = discovery.names
    return (
        f"Call them by their names; those that are not in your list, with {names[DiscoveryRole.CALL_READ]} or "
        f"{names[DiscoveryRole.CALL]}, once {names[DiscoveryRole.DESCRIBE]} gave you their arguments."
    )
