"""The session of an agent whose loadout can change (rules L12, L14)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolbelt.agents.loadout_policy import LoadoutPolicy
from toolbelt.agents.scoping import checked_name
from toolbelt.errors import InvalidDefinitionError
from toolbelt.loadouts import Resolution, ToolLoadoutRegistry
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.policy import SessionPolicy
from toolbelt.sessions.session import Session, checked


class AgentSession(Session):
    """A session with the capability tools, under a loadout that can be changed.

        session = AgentSession(registry)                      # all plugins, and the capability tools
        session.scope("minimal")                              # now those of a loadout
        definitions = session.to_definitions(form="openai")   # before each request: more may be activated
        results = await session.execute_parallel(message.tool_calls)

    If the agent also loads toolkits, its loadout applies to the tools of each turn: no loadout, activation or sub-agent
    gives more.

    Attributes:
        loadouts: All loadouts.

    Args:
        registry: All tools that the agent could have; by default none.
        loadouts: By default the built-in ones.
        active_loadout_name: The intended loadout; informational, like the attribute.
        policies: Others, such as toolkits or tiers.
        settings: The other arguments of `Session`.

    Raises:
        InvalidDefinitionError: something of the wrong type, or as `Session`.
    """

    def __init__(
        self,
        registry: ToolRegistry | None = None,
        loadouts: ToolLoadoutRegistry | None = None,
        *,
        active_loadout_name: str | None = None,
        policies: Iterable[SessionPolicy] = (),
        **settings: Any,
    ) -> None:
        self.loadouts = (
            ToolLoadoutRegistry() if loadouts is None else checked("loadouts", loadouts, ToolLoadoutRegistry)
        )
        self.active_loadout_name = active_loadout_name
        self._loadout = LoadoutPolicy(None, self.loadouts)
        super().__init__(registry, (*policies, self._loadout), **settings)

    @property
    def active_loadout_name(self) -> str | None:
        """The intended loadout; `None` (the default) for all plugins.

        Informational: setting it filters nothing and checks nothing. `scope` applies a loadout, and sets it here.
        """
        return self._active_loadout_name

    @active_loadout_name.setter
    def active_loadout_name(self, name: str | None) -> None:
        # Plain text, also for an enum member.
        self._active_loadout_name = None if name is None else str.__str__(checked("active_loadout_name", name, str))

    @property
    def activated(self) -> tuple[str, ...]:
        """Names of the tools that were activated since the last `scope`, in order of activation."""
        return self._loadout.activated

    @property
    def resolution(self) -> Resolution:
        """The loadout's decision on every plugin and tool of this turn, with the reasons."""
        self._update()
        return self._loadout.resolution

    def scope(self, loadout_name: str | None) -> ToolRegistry:
        """Apply a loadout from the next request on; earlier activations end.

        Args:
            loadout_name: Of `loadouts`; `None` for all plugins.

        Returns:
            The tools that may be called now.

        Raises:
            NotFoundError: no such loadout, with the nearest; nothing changes.
            InvalidDefinitionError: a name that is not text, or an active or discoverable tool with the name of a
                meta-tool; nothing changes.
        """
        name = None if loadout_name is None else self.loadouts.require_loadout(checked_name(loadout_name)).name
        before = self._loadout.loadout_name, self._loadout.activated
        self._loadout.scope(name)
        try:
            self._reselect()
        except InvalidDefinitionError:
            self._loadout.scope(*before)
            raise
        self.active_loadout_name = name
        return self.tools
