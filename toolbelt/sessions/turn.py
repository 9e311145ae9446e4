"""What an agent has for one turn, however many requests that takes (rule D4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.listing import LITE
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import CallResult
from toolbelt.sessions.dynamic import ActiveTool, Dropped, Loaded


@dataclass(frozen=True)
class Turn:
    """What was loaded when the turn began; what is loaded or unloaded meanwhile is for the next one.

        turn = await asyncio.to_thread(sessions.begin_turn, "assistant", session_id)
        definitions = turn.to_definitions(registry, form="openai")        # the same for every request of the turn
        results = await turn.execute_parallel(registry, message.tool_calls)

    Attributes:
        agent: Whose turn.
        session_id: In which session; `None` outside any.
        loaded: Keys of the toolkits that are loaded.
        tools: The tools, static ones first, then by toolkit.
        allowed_tools: The names of the meta-tools where rule D2 lets them appear, and the keys of the tools. A built-in
            tool that is not here is neither shown nor run, also where no agent names it.
        filter_opts: Keeps out what the allow-list does not speak about: tools of MCP servers and extensions that are
            named by some agent or toolkit and are not among this turn's. Those that nobody names are everybody's, as
            are tools that are always included; `replace(turn.filter_opts, allowed_mcp_servers=...)` narrows further.
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

    def to_definitions(self, registry: ToolRegistry, *, form: str = LITE) -> list[dict[str, Any]]:
        """What the model is shown at each request of this turn.

        The meta-tools and the static tools come first, then what no configuration names: they never move, whatever is
        loaded, so that this much of a cached prefix stays valid. Then the toolkits in allowed order (rule D6).

        Args:
            registry: Which holds the meta-tools, too.
            form: As `ToolRegistry.to_definitions` takes it; raises as that.
        """
        loaded = tuple(tool.key for tool in self.tools if tool.toolkit is not None)
        first = self.allowed_tools[: len(self.allowed_tools) - len(loaded)]
        return registry.to_definitions(self.allowed_tools, self.filter_opts, form=form, first=first, last=loaded)

    async def execute_parallel(
        self,
        registry: ToolRegistry,
        calls: Iterable[Any],
        around: ToolContext | None = None,
        attachments: Sequence[Any] = (),
    ) -> list[CallResult]:
        """Run calls, as `ToolRegistry.execute_parallel`, of what this turn shows.

        Args:
            registry: As `to_definitions` was given it.
            calls: In any of the forms that registry takes.
            around: As `context` takes it.
            attachments: Of the turn.
        """
        context = self.context(around)
        return await registry.execute_parallel(calls, context, self.allowed_tools, self.filter_opts, attachments)


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
