"""The tools of an agent for one turn, however many requests the turn has (rule D4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.gates import FilterOpts, Gates
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import CallResult
from toolbelt.runtime.snapshot import LITE
from toolbelt.sessions.bundles import ActiveTool
from toolbelt.sessions.store import DroppedToolkit, LoadedToolkits
from toolbelt.toolkits.directive import narrow
from toolbelt.toolkits.toolkit import Directive


@dataclass(frozen=True)
class Turn:
    """The state at the beginning of a turn; later changes take effect at the next turn.

        turn = await asyncio.to_thread(sessions.begin_turn, "assistant", session_id)
        definitions = turn.to_definitions(registry, form="openai")        # the same at each request, unless narrowed
        results = await turn.execute_parallel(registry, message.tool_calls)

    Attributes:
        agent: Name of the agent.
        session_id: Of the session; `None` outside a session.
        loaded: Keys of the loaded toolkits.
        tools: The tools, static ones first, then by toolkit.
        allowed_tools: The names of the meta-tools if rule D2 applies, and the keys of the tools. Any other built-in
            tool is neither shown nor run, even if no agent names it.
        filter_opts: Excludes tools to which the allow-list does not apply: tools of MCP servers and extensions that an
            agent or toolkit names and this turn does not have, and tools registered after `expand_over`. All other
            tools that nobody names, and tools that are always included, are for every agent;
            `replace(turn.filter_opts, allowed_mcp_servers=...)` narrows further.
        overrides: From the configuration, by tool key; tools without overrides are left out.
        warnings: Dropped toolkits, failed writes and entries without a tool, in sentences.
    """

    agent: str
    session_id: str | None
    loaded: LoadedToolkits
    tools: tuple[ActiveTool, ...]
    allowed_tools: tuple[str, ...]
    filter_opts: FilterOpts = field(default_factory=FilterOpts)
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=FrozenDict)
    warnings: tuple[str, ...] = ()

    def context(self, around: ToolContext | None = None) -> ToolContext:
        """The context for tools: the given one, with agent, session and overrides of this turn."""
        base = around or ToolContext()
        return replace(base, agent=self.agent, session_id=self.session_id, overrides=self.overrides)

    def tool_keys(self, registry: ToolRegistry | None = None) -> tuple[str, ...]:
        """Keys of the turn's tools; with a registry, only of those that it shows now."""
        keys = tuple(tool.key for tool in self.tools)
        if registry is None:
            return keys
        shown = {definition["name"] for definition in self.to_definitions(registry)}
        return tuple(key for key in keys if registry.wire_names.get(key, key) in shown)

    def to_definitions(
        self, registry: ToolRegistry, *, form: str = LITE, directive: Directive | None = None
    ) -> list[dict[str, Any]]:
        """The definitions for each request of this turn.

        The meta-tools and the static tools come first, then the tools that no configuration names. They never move,
        whatever is loaded, so that this part of a cached prefix stays valid. Then come the toolkits in allowed order
        (rule D6).

        Args:
            registry: With the meta-tools.
            form: As in `ToolRegistry.to_definitions`, with the same errors.
            directive: Narrows this one request (rule K5), by keys or by shown names; if it names no shown tool, nothing
                is narrowed. The caller passes its `tool_choice` on.
        """
        loaded = tuple(tool.key for tool in self.tools if tool.toolkit is not None)
        first = self.allowed_tools[: len(self.allowed_tools) - len(loaded)]
        definitions = registry.to_definitions(self.allowed_tools, self.filter_opts, form=form, first=first, last=loaded)
        return list(narrow(definitions, directive, registry.wire_names).tools)

    def scope(self, registry: ToolRegistry) -> ToolRegistry:
        """A new registry with exactly the tools of this turn, in the same order and under the same names.

        For code without turns: `AgentSession(turn.scope(registry), around=turn.context(...))` is an agent with loadouts
        and sub-agents, and none of them has more tools than this turn. Tools that are registered later are not in it.

        Args:
            registry: As for `to_definitions`; stays unchanged.
        """
        gates = Gates.of(self.allowed_tools, self.filter_opts, registry.backends)
        entries = [registry.find(tool.name) for tool in registry.get_all()]
        shown = dict.fromkeys(
            entry.tool.name for entry in entries if entry is not None and gates.find_exclusion(entry) is None
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
        """Run calls of this turn's tools, as `ToolRegistry.execute_parallel`.

        Args:
            registry: As for `to_definitions`.
            calls: In any form that the registry accepts.
            around: As for `context`.
            attachments: Of the turn.
        """
        context = self.context(around)
        return await registry.execute_parallel(calls, context, self.allowed_tools, self.filter_opts, attachments)


@dataclass(frozen=True, slots=True)
class SessionView:
    """The state of an agent in a session, for inspection.

    Attributes:
        agent: Name of the agent.
        session_id: Of the session; `None` outside a session.
        stored: The stored toolkits; `None` if there is no stored state.
        loaded: The toolkits of the next turn.
        dropped: Stored toolkits that are no longer loaded, each with the reason.
        tools: The tools of the next turn.
    """

    agent: str
    session_id: str | None
    stored: LoadedToolkits | None
    loaded: LoadedToolkits
    dropped: tuple[DroppedToolkit, ...]
    tools: tuple[ActiveTool, ...]
