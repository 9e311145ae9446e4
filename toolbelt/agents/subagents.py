"""Sub-agents: sessions of their own with the tools their task needs, and never more than their parent's (rule L13)."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from toolbelt.agents.session import AgentSession
from toolbelt.catalog import Plugin
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.loadouts import ToolLoadoutRegistry, WellKnownLoadouts
from toolbelt.patterns import fold

T = TypeVar("T")


class SubagentType(StrEnum):
    """What a sub-agent is for."""

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
"""The loadout of each type, where there are loadouts."""
PLUGINS_OF_TYPE: Mapping[SubagentType, frozenset[str]] = MappingProxyType(
    {
        SubagentType.EXPLORE: frozenset({"file", "search", "git", "memory"}),
        SubagentType.TASK: frozenset({"shell", "file", "search"}),
        SubagentType.PLAN: frozenset({"file", "search", "memory", "git"}),
        SubagentType.REVIEW: frozenset({"file", "search", "git"}),
        SubagentType.GENERAL: frozenset({"file", "search", "git", "shell", "web", "memory"}),
    }
)
"""The plugins of each type, where there are none."""


class SubagentRunner:
    """Opens and runs the sub-agents of a session.

        runner = SubagentRunner(session, loadouts)
        report = await runner.run("explore", "Where is the parser?", loop)   # async def loop(session, task): ...

    A child has what its loadout makes active of the tools that are in force in its parent at that moment, may activate
    the rest of those as far as the loadout allows, and can have sub-agents itself. Nothing it does reaches its parent.
    It has capability tools of its own, and none of the tools that belong to its parent's session, such as meta-tools.

    Without `loadouts`, the loadouts that the session has are not used either: each type gets its fixed set of plugins
    (`PLUGINS_OF_TYPE`, rule L13). To have a child scoped by those of the session, pass them:
    `SubagentRunner(session, session.loadouts)`.

    Args:
        session: The parent.
        loadouts: Where the loadouts of the types are, a user's own of the same name among them; `None` for the fixed
            sets of plugins.
        new_id: Makes the last part of a child's session id.
    """

    def __init__(
        self,
        session: AgentSession,
        loadouts: ToolLoadoutRegistry | None = None,
        *,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        if not isinstance(session, AgentSession):
            raise InvalidDefinitionError(f"The session of a SubagentRunner must be an AgentSession, not {session!r}.")
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
        """Names of the plugins that a type gets: by its loadout, or by the fixed set where there are no loadouts.

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

        Its `registry`, beyond which no loadout and no activation goes, holds what is in force in the parent now; where
        there are no loadouts, only the fixed set of that. Its id begins with the parent's; its agent is the type.
        What surrounds its calls is what `around` is in the parent, but for the turns, which are its own.

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
            around=replace(self.session.around, turn_count=0),
        )
        child.scope(None if self.loadouts is None else LOADOUT_OF_TYPE[kind])
        return child

    async def run(
        self, subagent_type: SubagentType | str, task: str, loop: Callable[[AgentSession, str], Awaitable[T]]
    ) -> T:
        """Open a session, and let an agent loop work in it.

        Args:
            subagent_type: The type, or its name.
            task: What the sub-agent is to do, as the loop gets it.
            loop: A coroutine function that gets the session and the task.

        Returns:
            What the loop gives. What it raises goes through.

        Raises:
            NotFoundError: no such type, with the nearest.
            InvalidDefinitionError: the loop is no coroutine function, or as `open`.
        """
        if not callable(loop):
            raise InvalidDefinitionError(f"The loop of a sub-agent must be a coroutine function, not {loop!r}.")
        working = loop(self.open(subagent_type), task)
        if not inspect.isawaitable(working):
            raise InvalidDefinitionError(f"The loop of a sub-agent must be a coroutine function, unlike {loop!r}.")
        return await working


def _find_type(name: SubagentType | str) -> SubagentType:
    try:
        return SubagentType(fold(str(name).strip()))
    except ValueError:
        known = [kind.value for kind in SubagentType]
        raise NotFoundError("subagent type", str(name), known) from None
