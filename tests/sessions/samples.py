"""Agents, toolkits and stores for the tests of sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolbelt.errors import StorageError
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.meta_tools import MetaToolAnswer
from toolbelt.sessions.session import Session
from toolbelt.sessions.store import LoadedToolkits, MemorySessionStore, SessionStore, StoredState
from toolbelt.sessions.stored import SessionView, StoredToolkits
from toolbelt.sessions.toolkit_policy import ToolkitPolicy
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


@dataclass(frozen=True)
class Begun:
    """A turn, as far as toolkits go."""

    loaded: LoadedToolkits
    warnings: tuple[str, ...]


class Sessions:
    """What several agents have loaded in several sessions, over entries that are tools."""

    def __init__(self, store: SessionStore, agents: Iterable[AgentSpec], kits: Sequence[Toolkit]) -> None:
        self.store = store
        self.agents = {agent.name: DynamicToolkits(agent, kits) for agent in agents}

    def of(self, agent: str, session_id: str | None) -> StoredToolkits:
        return StoredToolkits(self.agents[agent], self.store, session_id)

    def begin_turn(self, agent: str, session_id: str | None) -> Begun:
        restored, warnings = self.of(agent, session_id).begin_turn()
        return Begun(restored.loaded, warnings)

    def load(self, agent: str, session_id: str | None, toolkit: str) -> MetaToolAnswer:
        return self.of(agent, session_id).load(toolkit)

    def unload(self, agent: str, session_id: str | None, toolkit: str) -> MetaToolAnswer:
        return self.of(agent, session_id).unload(toolkit)

    def show(self, agent: str, session_id: str | None) -> SessionView:
        return self.of(agent, session_id).show()

    def reset(self, agent: str, session_id: str | None) -> bool:
        return self.of(agent, session_id).reset()


def sessions_over(store: SessionStore, *agents: AgentSpec, kits: Sequence[Toolkit] = KITS) -> Sessions:
    return Sessions(store, agents or (ASSISTANT, HELPER, PLAIN), kits)


STORES: dict[str, Callable[[Path], SessionStore]] = {
    "memory": lambda _: MemorySessionStore(),
    "sqlite": lambda folder: SqliteSessionStore(folder / "sessions.db"),
}


def tool(name: str, plugin: str | None = None, **settings: Any) -> ExecutableTool:
    """A tool that takes nothing and answers with its name."""
    return ExecutableTool(name, f"Do {name}", plugin=plugin, function=lambda: name, **settings)


def a_registry() -> ToolRegistry:
    return ToolRegistry([tool(name) for name in ("file", "docker", "github", "arxiv", "other")])


def open_session(
    registry: ToolRegistry,
    agent: AgentSpec = ASSISTANT,
    store: SessionStore | None = None,
    session_id: str | None = "s",
    kits: Sequence[Toolkit] = KITS,
    team: Sequence[AgentSpec] = (),
    **settings: Any,
) -> Session:
    policy = ToolkitPolicy(agent, kits, store, session_id, team=team)
    return Session(registry, [policy], session_id=session_id, agent=agent.name, **settings)


def call(session: Session, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    asked = [{"id": str(number), "name": name, "args": args} for number, (name, args) in enumerate(calls)]
    return asyncio.run(session.execute_parallel(asked))


def shown(session: Session) -> list[str]:
    return [definition["name"] for definition in session.to_definitions()]


def runs(session: Session) -> set[str]:
    """Names of everything registered that runs when it is called by its name."""
    names = [each.name for each in session.registry.get_all()]
    results = call(session, *((name, {}) for name in names))
    return {name for name, each in zip(names, results, strict=True) if each.result.ok}


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
