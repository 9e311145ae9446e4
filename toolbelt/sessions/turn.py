"""What an agent has for one turn, however many requests that takes (rule D4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.gates import FilterOpts, Gates
from toolbelt.runtime.registry import LITE, ToolRegistry
from toolbelt.runtime.results import CallResult
from toolbelt.sessions.bundles import ActiveTool
from toolbelt.sessions.dynamic import Dropped, Loaded
from toolbelt.toolkits.directive import narrow
from toolbelt.toolkits.toolkit import Directive


@dataclass(frozen=True)
class Turn:
    """What was loaded when the turn began; what is loaded or unloaded meanwhile is for the next one.

        turn = await asyncio.to_thread(sessions.begin_turn, "assistant", session_id)
        definitions = turn.to_definitions(registry, form="openai")        # the same at each request, if not narrowed
        results = await turn.execute_parallel(registry, message.tool_calls)

    Attributes:
        agent: Whose turn.
        session_id: In which session; `None` outside any.
        loaded: Keys of the toolkits that are loaded.
        tools: The tools, static ones first, then by toolkit.
        allowed_tools: The names of the meta-tools where rule D2 lets them appear, and the keys of the tools. A built-in
            tool that is not here is neither shown nor run, also where no agent names it.
        filter_opts: Keeps out what the allow-list does not speak about: tools of MCP servers and extensions that are
            named by some agent or toolkit and are not among this turn's, and those registered after `expand_over`,
            which somebody may name. The others that nobody names are everybody's, as are tools that are always
            included; `replace(turn.filter_opts, allowed_mcp_servers=...)` narrows further.
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

    def tool_keys(self, registry: ToolRegistry | None = None) -> tuple[str, ...]:
        """Keys of the turn's tools; only of those that are shown now, where it is said by which registry."""
        keys = tuple(tool.key for tool in self.tools)
        if registry is None:
            return keys
        shown = {definition["name"] for definition in self.to_definitions(registry)}
        return tuple(key for key in keys if registry.wire_names.get(key, key) in shown)

    def to_definitions(
        self, registry: ToolRegistry, *, form: str = LITE, directive: Directive | None = None
    ) -> list[dict[str, Any]]:
        """What the model is shown at each request of this turn.

        The meta-tools and the static tools come first, then what no configuration names: they never move, whatever is
        loaded, so that this much of a cached prefix stays valid. Then the toolkits in allowed order (rule D6).

        Args:
            registry: Which holds the meta-tools, too.
            form: As `ToolRegistry.to_definitions` takes it; raises as that.
            directive: What this one request is narrowed to (rule K5), by keys or by the names the model is shown;
                where nothing of that is shown, nothing is narrowed. Its `tool_choice` is the caller's to pass on.
        """
        loaded = tuple(tool.key for tool in self.tools if tool.toolkit is not None)
        first = self.allowed_tools[: len(self.allowed_tools) - len(loaded)]
        made = registry.to_definitions(self.allowed_tools, self.filter_opts, form=form, first=first, last=loaded)
        return list(narrow(made, directive, registry.wire_names).tools)

    def scope(self, registry: ToolRegistry) -> ToolRegistry:
        """A registry of its own with exactly what this turn shows, in that order and under the same names.

        For whatever knows nothing of turns: `AgentSession(turn.scope(registry), around=turn.context(...))` is an agent
        with loadouts and sub-agents, none of which has more than this turn. What is registered later is not in it.

        Args:
            registry: As `to_definitions` was given it; stays as it is.
        """
        gates = Gates.of(self.allowed_tools, self.filter_opts, registry.backends)
        found = [registry.find(tool.name) for tool in registry.get_all()]
        shown = dict.fromkeys(
            each.tool.name for each in found if each is not None and gates.find_exclusion(each) is None
        )
        loaded = tuple(tool.key for tool in self.tools if tool.toolkit is not None)
        first = self.allowed_tools[: len(self.allowed_tools) - len(loaded)]
        rest = (name for name in shown if name not in self.allowed_tools)
        names = [name for name in (*first, *rest, *loaded) if name in shown]
        return registry.narrowed(names, reserved=registry.wire_names)

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
