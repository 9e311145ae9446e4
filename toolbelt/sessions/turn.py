"""What an agent has for one turn, however many requests that takes (rule D4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.gates import FilterOpts
from toolbelt.sessions.dynamic import ActiveTool, Dropped, Loaded


@dataclass(frozen=True)
class Turn:
    """What was loaded when the turn began; what is loaded or unloaded meanwhile is for the next one.

        turn = sessions.begin_turn("assistant", session_id)
        definitions = registry.to_definitions(turn.allowed_tools, turn.filter_opts, form="openai")
        results = await registry.execute_parallel(calls, turn.context(), turn.allowed_tools, turn.filter_opts)

    Attributes:
        agent: Whose turn.
        session_id: In which session; `None` outside any.
        loaded: Keys of the toolkits that are loaded.
        tools: The tools, static ones first, then by toolkit.
        allowed_tools: Their keys, and the names of the meta-tools where rule D2 lets them appear.
        filter_opts: Keeps out what the allow-list does not speak about: tools of MCP servers and extensions that are
            named by some agent or toolkit and are not among this turn's.
        overrides: By key, what the configuration says of a tool; those of which it says nothing are left out.
        warnings: What was dropped, could not be kept or names no tool, in sentences.
    """

    agent: str
    session_id: str | None
    loaded: Loaded
    tools: tuple[ActiveTool, ...]
    allowed_tools: tuple[str, ...]
    filter_opts: FilterOpts = field(default_factory=FilterOpts)
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=FrozenDict)
    warnings: tuple[str, ...] = ()

    def context(self, around: ToolContext | None = None) -> ToolContext:
        """What tools are told: the context given, with agent, session and overrides of this turn."""
        made = around or ToolContext()
        return replace(made, agent=self.agent, session_id=self.session_id, overrides=self.overrides)


@dataclass(frozen=True, slots=True)
class SessionView:
    """How an agent stands in a session, for a person to look at.

    Attributes:
        agent: Whose.
        session_id: Which; `None` outside any.
        stored: What is kept; `None` where nothing is.
        loaded: What the next turn begins with.
        dropped: What is kept and is not loaded any more, each with the reason.
        tools: What the next turn has.
    """

    agent: str
    session_id: str | None
    stored: Loaded | None
    loaded: Loaded
    dropped: tuple[Dropped, ...]
    tools: tuple[ActiveTool, ...]
