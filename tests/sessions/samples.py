"""Agents, toolkits and stores for the tests of sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolbelt.errors import StorageError
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.sessions.store import MemorySessionStore, SessionStore, StoredState
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.toolkits.toolkit import Toolkit

DEVOPS = Toolkit("devops", member_tools=("docker", "github"), description="Docker and GitHub")
RESEARCH = Toolkit("research", member_tools=("arxiv",), description="Papers")
PODMAN = Toolkit("podman", member_tools=("docker",), overrides={"docker": {"socket": "podman"}})
KITS = (DEVOPS, RESEARCH, PODMAN)
ASSISTANT = AgentSpec("assistant", ("file",), ("devops", "research", "podman"), ("research",))
HELPER = AgentSpec("helper", (), ("devops",))
PLAIN = AgentSpec("plain", ("file",))
APART = (replace(DEVOPS, member_tools=("github",)), RESEARCH, PODMAN)
"""The same without the conflict of two of them."""
META = ("list_toolkits", "load_tools", "unload_tools")


def sessions_over(store: SessionStore, *agents: AgentSpec, kits: Sequence[Toolkit] = KITS) -> DynamicSessions:
    return DynamicSessions([DynamicToolkits(agent, kits) for agent in agents or (ASSISTANT, HELPER, PLAIN)], store)


STORES: dict[str, Callable[[Path], SessionStore]] = {
    "memory": lambda _: MemorySessionStore(),
    "sqlite": lambda folder: SqliteSessionStore(folder / "sessions.db"),
}


def call(
    registry: ToolRegistry, turn: Any, *calls: tuple[str, dict[str, Any]], ctx: ToolContext | None = None
) -> list[Any]:
    asked = [{"id": str(number), "name": name, "args": args} for number, (name, args) in enumerate(calls)]
    if ctx is not None:  # of another agent or session than the turn's
        return asyncio.run(registry.execute_parallel(asked, ctx, turn.allowed_tools, turn.filter_opts))
    return asyncio.run(turn.execute_parallel(registry, asked))


def shown(registry: ToolRegistry, turn: Any) -> list[str]:
    return [made["name"] for made in turn.to_definitions(registry)]


class Broken(MemorySessionStore):
    """A store that cannot be written, or not read either."""

    def __init__(self, *, readable: bool) -> None:
        super().__init__()
        self.readable = readable

    def read(self, agent: str, session_id: str) -> StoredState | None:
        if not self.readable:
            raise StorageError("It is locked.")
        return super().read(agent, session_id)

    def write(self, agent: str, session_id: str, loaded: Sequence[str], revision: int | None) -> bool:
        raise StorageError("The disk is full.")
