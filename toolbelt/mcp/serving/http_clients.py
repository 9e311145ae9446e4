"""Clients over HTTP: which one a request belongs to, and when it has gone."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """What is kept for one client."""

    async def close(self) -> None: ...  # noqa: D102


State = TypeVar("State", bound=Closable)


@dataclass
class HttpClient(Generic[State]):
    """One client.

    Attributes:
        state: What the server keeps for it.
        owner: The name of its token; empty where none is required.
        session: Its id; empty for one without, and until it has one.
        requests: Under way.
        last_seen: When the last one ended (monotonic seconds).
    """

    state: State
    owner: str
    session: str = ""
    requests: int = 0
    last_seen: float = field(default_factory=time.monotonic)


class HttpClients(Generic[State]):
    """All clients of a listener.

    In the protocols of 2025 a client is a session. The protocol of 2026 has none: there, a client is a token.

    Args:
        open_state: Makes what is kept for a client; it is closed when the client has gone.
        end_session: Ends a session of the protocol; its owner and id.
        idle_seconds: Without a request, after which a client has gone.
    """

    def __init__(
        self,
        open_state: Callable[[], State],
        end_session: Callable[[str, str], Awaitable[None]],
        idle_seconds: float,
    ) -> None:
        self._open_state = open_state
        self._end_session = end_session
        self._idle_seconds = idle_seconds
        self._by_session: dict[str, HttpClient[State]] = {}
        self._by_token: dict[str, HttpClient[State]] = {}

    def __len__(self) -> int:
        return len(self._by_session) + len(self._by_token)

    def find_session(self, session: str, owner: str) -> HttpClient[State] | None:
        """The client of a session; `None` for one that is unknown or another's."""
        client = self._by_session.get(session)
        return client if client is not None and client.owner == owner else None

    def has_token(self, owner: str) -> bool:
        """Whether a client of this token is there."""
        return owner in self._by_token

    def get_by_token(self, owner: str) -> HttpClient[State]:
        """The client of a token, from its first request on."""
        if owner not in self._by_token:
            self._by_token[owner] = HttpClient(self._open_state(), owner)
        return self._by_token[owner]

    def open_session(self, owner: str) -> HttpClient[State]:
        """A client that may begin a session, which `keep` makes it."""
        return HttpClient(self._open_state(), owner)

    def keep(self, client: HttpClient[State], session: str) -> None:
        """The session has begun."""
        client.session = session
        self._by_session[session] = client

    @contextlib.asynccontextmanager
    async def request(self, client: HttpClient[State]) -> AsyncIterator[None]:
        """A request of the client is under way; a client that has no session afterwards is closed."""
        client.requests += 1
        try:
            yield
        finally:
            client.requests -= 1
            client.last_seen = time.monotonic()
            if not client.session and self._by_token.get(client.owner) is not client:
                await client.state.close()

    async def forget(self, client: HttpClient[State]) -> None:
        """The client has ended its session."""
        self._by_session.pop(client.session, None)
        await client.state.close()

    async def close_idle(self) -> None:
        """Watch for clients that have gone, for ever."""
        while True:
            await asyncio.sleep(min(self._idle_seconds / 4, 30))
            before = time.monotonic() - self._idle_seconds
            clients = [*self._by_session.values(), *self._by_token.values()]
            await self._close([client for client in clients if not client.requests and client.last_seen < before])

    async def close(self) -> None:
        """End all clients, at the same time."""
        await self._close([*self._by_session.values(), *self._by_token.values()])

    async def _close(self, clients: list[HttpClient[State]]) -> None:
        for client in clients:
            if client.session:
                self._by_session.pop(client.session, None)
            else:
                self._by_token.pop(client.owner, None)
        await asyncio.gather(*(self._end(client) for client in clients))

    async def _end(self, client: HttpClient[State]) -> None:
        if client.session:
            await self._end_session(client.owner, client.session)
        await client.state.close()
