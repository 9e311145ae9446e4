"""Sub-agents: sessions with the tools of their type, and never more than their parent has (rule L13)."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from toolbelt.agents.session import AgentSession
from toolbelt.catalog import Plugin
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.loadouts import ToolLoadoutRegistry, WellKnownLoadouts
from toolbelt.patterns import fold
from toolbelt.sessions.session import Session

T = TypeVar("T")


class SubagentType(StrEnum):
    """The type of a sub-agent."""

    EXPLORE = "explore"
    TASK = "task"
    PLAN = "plan"
    REVIEW = "review"
    GENERAL = "general"


LOADOUT_OF_TYPE: Mapping[SubagentType, str] = MappingProxyType(
    {
        SubagentType.EXPLORE: WellKnownLoadouts.RESEARCH.value,
        SubagentType.TASK: WellKnownLoadouts.MINIMAL.value,
        SubagentType.PLAN: WellKnownLoadouts.DEVELOPER.value,
        SubagentType.REVIEW: WellKnownLoadouts.DEVELOPER.value,
        SubagentType.GENERAL: WellKnownLoadouts.FULL.value,
    }
)
"""The loadout of each type, if there are loadouts."""
PLUGINS_OF_TYPE: Mapping[SubagentType, frozenset[str]] = MappingProxyType(
    {
        SubagentType.EXPLORE: frozenset({"file", "search", "git", "memory"}),
        SubagentType.TASK: frozenset({"shell", "file", "search"}),
        SubagentType.PLAN: frozenset({"file", "search", "memory", "git"}),
        SubagentType.REVIEW: frozenset({"file", "search", "git"}),
        SubagentType.GENERAL: frozenset({"file", "search", "git", "shell", "web", "memory"}),
    }
)
"""The plugins of each type, if there are no loadouts."""


class SubagentRunner:
    """Opens and runs the sub-agents of a session.

        runner = SubagentRunner(session, loadouts)
        report = await runner.run("explore", "Where is the parser?", loop)   # async def loop(session, task): ...

    A child has those tools of its parent, active at that moment, that its loadout makes active. It may activate the
    others as far as the loadout allows, and may have sub-agents itself. Nothing it does reaches its parent. It has its
    own capability tools, and no tools of its parent's session, such as meta-tools.

    Without `loadouts`, each type gets its fixed set of plugins (`PLUGINS_OF_TYPE`, rule L13), even if the session has
    loadouts. To use those, pass them: `SubagentRunner(session, session.loadouts)`.

    Args:
        session: The parent.
        loadouts: Contain the loadouts of the types; a user's own loadout of the same name counts. `None` for the fixed
            sets of plugins.
        new_id: Makes the last part of a child's session id.
    """

    def __init__(
        self,
        session: Session,
        loadouts: ToolLoadoutRegistry | None = None,
        *,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        if not isinstance(session, Session):
            raise InvalidDefinitionError(f"The session of a SubagentRunner must be a Session, not {session!r}.")
        self.session = session
        self.loadouts = loadouts
        self._new_id = new_id

    def get_loadout_name(self, subagent_type: SubagentType | str) -> str:
        """The loadout of a type.

        Raises:
            NotFoundError: no such type, with the nearest.
        """
        return LOADOUT_OF_TYPE[_find_type(subagent_type)]

    def resolve_plugins(self, subagent_type: SubagentType | str, available: Iterable[Plugin | str]) -> tuple[str, ...]:
        """Names of the plugins of a type: by its loadout, or by the fixed set if there are no loadouts.

        Args:
            subagent_type: The type, or its name.
            available: Plugins, or plugin names.

        Returns:
            In the order and spelling of `available`, each once.

        Raises:
            NotFoundError: no such type, with the nearest.
        """
        kind = _find_type(subagent_type)
        if self.loadouts is not None:
            return self.loadouts.resolve_active_plugins(LOADOUT_OF_TYPE[kind], available)
        names = (plugin if isinstance(plugin, str) else plugin.name for plugin in available)
        return tuple(dict.fromkeys(name for name in names if fold(name) in PLUGINS_OF_TYPE[kind]))

    def open(self, subagent_type: SubagentType | str) -> AgentSession:
        """A session for a sub-agent.

        Its `registry` contains the tools that are active in the parent now, or the fixed set of them if there are no
        loadouts; no loadout or activation adds others. Its id begins with the parent's id; its agent is the type. It
        has the context of the parent, except for the turn count.

        Raises:
            NotFoundError: no such type, with the nearest.
            InvalidDefinitionError: as `AgentSession.tools`.
        """
        kind = _find_type(subagent_type)
        parent = self.session.tools
        names = [tool.name for tool in parent.get_all() if not tool.of_session]
        plugins = parent.catalog.plugins
        if self.loadouts is None:
            chosen = set(self.resolve_plugins(kind, plugins))
            of_chosen = {tool.name for plugin in plugins if plugin.name in chosen for tool in plugin.tools}
            names = [name for name in names if name in of_chosen]
        own_id = f"{kind.value}-{self._new_id()}"
        child = AgentSession(
            parent.narrowed(names),
            self.loadouts,
            session_id=own_id if self.session.session_id is None else f"{self.session.session_id}/{own_id}",
            agent=kind.value,
            around=self.session.context(turn_count=0),
        )
        child.scope(None if self.loadouts is None else LOADOUT_OF_TYPE[kind])
        return child

    async def run(
        self, subagent_type: SubagentType | str, task: str, loop: Callable[[AgentSession, str], Awaitable[T]]
    ) -> T:
        """Open a session, and run an agent loop in it.

        Args:
            subagent_type: The type, or its name.
            task: For the loop.
            loop: A coroutine function that gets the session and the task.

        Returns:
            The result of the loop. Its errors are not caught.

        Raises:
            NotFoundError: no such type, with the nearest.
            InvalidDefinitionError: the loop is no coroutine function, or as `open`.
        """
        if not callable(loop):
            raise InvalidDefinitionError(f"The loop of a sub-agent must be a coroutine function, not {loop!r}.")
        running = loop(self.open(subagent_type), task)
        if not inspect.isawaitable(running):
            raise InvalidDefinitionError(f"The loop of a sub-agent must be a coroutine function, not {loop!r}.")
        return await running


def _find_type(name: SubagentType | str) -> SubagentType:
    try:
        return SubagentType(fold(str(name).strip()))
    except ValueError:
        known = [kind.value for kind in SubagentType]
        raise NotFoundError("subagent type", str(name), known) from None
