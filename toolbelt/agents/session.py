"""The session of an agent: its tools, and the loadout that selects them (rules L12, L14)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from toolbelt.agents.agent_tools import AgentTools
from toolbelt.agents.scoping import checked_name
from toolbelt.errors import InvalidDefinitionError
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.text import show_value

T = TypeVar("T")


class AgentSession:
    """One agent in one conversation, with tools of its own.

        session = AgentSession(registry)                      # all plugins, and the capability tools
        tools = session.scope("minimal")                      # now those of a loadout
        definitions = tools.to_definitions(form="openai")     # before each request: more may be activated
        results = await tools.execute_parallel(message.tool_calls, session.context())

    Sessions share nothing: a tool that is activated in one is not in another, and `registry` never changes.

    If the agent also loads toolkits, each turn has its own session, made from the tools of that turn:

        turn = sessions.begin_turn("lead", session_id)
        session = AgentSession(turn.scope(registry), around=turn.context(ToolContext(confirm=ask_a_person)))

    Then no loadout, activation or sub-agent gives more tools than the turn has. Toolkits are loaded for the next turn;
    activated tools are for this turn, and end with it.

    Args:
        registry: All tools that the agent could have; by default none. Tools of the session, such as meta-tools, stay
            with every loadout, and are neither discoverable nor given to sub-agents.
        loadouts: All loadouts; by default the built-in ones.
        active_loadout_name: The intended loadout; informational, like the attribute.
        session_id: Of the conversation; by default that of `around`.
        agent: The agent's name; by default that of `around`.
        around: The base of `context`. Sub-agents get it too, with their own session id and agent: its `overrides`,
            `confirm`, `result_budget_chars`, `dry_run`, ...

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
        """The intended loadout; `None` (the default) for all plugins.

        Informational: setting it filters nothing and checks nothing. `scope` applies a loadout, and sets it here.
        """
        return self._active_loadout_name

    @active_loadout_name.setter
    def active_loadout_name(self, name: str | None) -> None:
        # Plain text, also for an enum member.
        self._active_loadout_name = None if name is None else str.__str__(_checked("active_loadout_name", name, str))

    @property
    def tools(self) -> ToolRegistry:
        """The active registry, for the agent's loop: the capability tools and the tools that `scope` made active.

        Before the first `scope`, all tools of `registry`. Activated tools are added at the end. Tools that are
        registered in `registry` later are here after the next `scope`.

        Raises:
            InvalidDefinitionError: a tool has the name of a capability tool.
        """
        return self.agent_tools.tools

    @property
    def activated(self) -> tuple[str, ...]:
        """Names of the tools that were activated since the last `scope`, in order of activation.

        A loop with its own allow-list restricts activated tools, too. To let them pass, give it
        `[*allowed, *session.activated]`.

        Raises:
            InvalidDefinitionError: as `tools`.
        """
        return self.agent_tools.activated

    @property
    def agent_tools(self) -> AgentTools:
        """The active tools with the reasons, and the discoverable ones: the capability tools answer from it.

        Raises:
            InvalidDefinitionError: as `tools`.
        """
        if self._agent_tools is None:
            self._agent_tools = AgentTools(self.registry, None, self.loadouts)
        return self._agent_tools

    def scope(self, loadout_name: str | None) -> ToolRegistry:
        """Apply a loadout.

        Earlier activations end. The previous registry stays valid for code that still holds it.

        Args:
            loadout_name: Of `loadouts`; `None` for all plugins.

        Returns:
            The new active registry.

        Raises:
            NotFoundError: no such loadout, with the nearest; nothing changes.
            InvalidDefinitionError: a name that is not text, or an active or discoverable tool with the name of a
                capability tool; nothing changes.
        """
        name = None if loadout_name is None else self.loadouts.require_loadout(checked_name(loadout_name)).name
        self._agent_tools = AgentTools(self.registry, name, self.loadouts)
        self.active_loadout_name = name
        return self._agent_tools.tools

    def context(self, **settings: Any) -> ToolContext:
        """The context of a batch of calls: `around`, with the session id and agent of this session.

        Args:
            settings: Other attributes of `ToolContext`, for this batch only; sub-agents get those of `around`.
        """
        return replace(self.around, **{"session_id": self.session_id, "agent": self.agent, **settings})


def _checked(name: str, value: T, wanted: type) -> T:
    if not isinstance(value, wanted):
        raise InvalidDefinitionError(f"The {name} of a session must be a {wanted.__name__}, not {show_value(value)}.")
    return value
