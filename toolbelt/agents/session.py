"""An agent at work: its tools, and the loadout that says which (rules L12, L14)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from toolbelt.agents.agent_tools import AgentTools
from toolbelt.agents.scoping import checked_name
from toolbelt.errors import InvalidDefinitionError
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.registry import ToolRegistry

T = TypeVar("T")


class AgentSession:
    """One agent in one conversation, with tools of its own.

        session = AgentSession(registry)                      # all plugins, and the capability tools
        tools = session.scope("minimal")                      # now those of a loadout
        definitions = tools.to_definitions(form="openai")     # asked anew before each request: more may be activated
        results = await tools.execute_parallel(message.tool_calls, session.context())

    Sessions share nothing: what is activated in one is not there in another, and `registry` is never changed.

    Where the agent loads toolkits as well, each turn has a session of its own, made from what that turn shows:

        turn = sessions.begin_turn("lead", session_id)
        session = AgentSession(turn.scope(registry), around=turn.context(ToolContext(confirm=ask_a_person)))

    Then nobody has more than the turn: no loadout, no activation and no sub-agent. Loading is for the next turn, as
    the tools of this one stay as they are; what is activated is for this one, and ends with it.

    Args:
        registry: Every tool the agent could ever have; by default none. Tools in it that belong to the session, such
            as meta-tools, stay whatever the loadout, and are neither discoverable nor a sub-agent's.
        loadouts: What loadouts there are; by default the built-in ones.
        active_loadout_name: Which one is meant to be used; informational, as the attribute is.
        session_id: Of the conversation; by default as `around` says.
        agent: The agent's name; likewise.
        around: What `context` is made from. Sub-agents get it too, with a session id and an agent of their own: its
            `overrides`, `confirm`, `result_budget_chars`, `dry_run`, ...

    Raises:
        InvalidDefinitionError: something of the wrong type.
    """

    def __init__(
        self,
        registry: ToolRegistry | None = None,
        loadouts: ToolLoadoutRegistry | None = None,
        *,
        active_loadout_name: str | None = None,
        session_id: str | None = None,
        agent: str | None = None,
        around: ToolContext | None = None,
    ) -> None:
        self.registry = ToolRegistry() if registry is None else _checked("registry", registry, ToolRegistry)
        self.loadouts = (
            ToolLoadoutRegistry() if loadouts is None else _checked("loadouts", loadouts, ToolLoadoutRegistry)
        )
        self.active_loadout_name = active_loadout_name
        self.around = ToolContext() if around is None else _checked("around", around, ToolContext)
        self.session_id = self.around.session_id if session_id is None else _checked("session_id", session_id, str)
        self.agent = self.around.agent if agent is None else _checked("agent", agent, str)
        self._agent_tools: AgentTools | None = None

    @property
    def active_loadout_name(self) -> str | None:
        """The loadout that is meant to be used; `None`, as it is at first, for all plugins.

        Informational: to set it filters nothing and asks nobody whether there is one of that name. `scope` puts a
        loadout into force, and notes it here.
        """
        return self._active_loadout_name

    @active_loadout_name.setter
    def active_loadout_name(self, name: str | None) -> None:
        # A plain text, also of an enum's member.
        self._active_loadout_name = None if name is None else str.__str__(_checked("active_loadout_name", name, str))

    @property
    def tools(self) -> ToolRegistry:
        """The registry in force, for the agent's loop: the capability tools and what `scope` made active.

        Before the first `scope`, everything in `registry`. What is activated is added at its end. What is registered
        in `registry` later is found here after the next `scope`.

        Raises:
            InvalidDefinitionError: a tool bears the name of a capability tool.
        """
        return self.agent_tools.tools

    @property
    def activated(self) -> tuple[str, ...]:
        """Names of the tools that were activated since the last `scope`, in that order.

        A loop that passes an allow-list of its own keeps with it what may be shown, activated or not; one that means
        to let activated tools through passes `[*allowed, *session.activated]`.

        Raises:
            InvalidDefinitionError: as `tools`.
        """
        return self.agent_tools.activated

    @property
    def agent_tools(self) -> AgentTools:
        """What is in force, with the reasons, and what may be got: the capability tools answer from here.

        Raises:
            InvalidDefinitionError: as `tools`.
        """
        if self._agent_tools is None:
            self._agent_tools = AgentTools(self.registry, None, self.loadouts)
        return self._agent_tools

    def scope(self, loadout_name: str | None) -> ToolRegistry:
        """Put a loadout into force.

        What was activated before is forgotten. Whoever holds the registry that was in force until now keeps it.

        Args:
            loadout_name: Of `loadouts`; `None` for all plugins.

        Returns:
            The registry in force from now on, which is a new one.

        Raises:
            NotFoundError: no such loadout, with the nearest; everything stays as it was.
            InvalidDefinitionError: a name that is no text, or a tool that is active or discoverable bears the name of
                a capability tool; likewise.
        """
        name = None if loadout_name is None else self.loadouts.require_loadout(checked_name(loadout_name)).name
        self._agent_tools = AgentTools(self.registry, name, self.loadouts)
        self.active_loadout_name = name
        return self._agent_tools.tools

    def context(self, **settings: Any) -> ToolContext:
        """What surrounds a batch of calls of this session: `around`, with its session id and agent.

        Args:
            settings: The other attributes of `ToolContext`, for this batch; sub-agents get only what `around` says.
        """
        return replace(self.around, **{"session_id": self.session_id, "agent": self.agent, **settings})


def _checked(what: str, value: T, wanted: type) -> T:
    if not isinstance(value, wanted):
        raise InvalidDefinitionError(f"The {what} of a session must be a {wanted.__name__}, not {value!r}.")
    return value
