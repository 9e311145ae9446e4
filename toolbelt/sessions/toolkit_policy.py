"""Static tools and dynamic toolkits as a policy of a session (rules D2 to D8, K8)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.errors import StorageError
from toolbelt.runtime.gates import MCP_PREFIX
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import ToolResult
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import expand_over
from toolbelt.sessions.dynamic import DynamicToolkits, ShownTool
from toolbelt.sessions.meta_tools import META_TOOLS, AnswerStatus, answer_text, escaped, make_answer, quoted
from toolbelt.sessions.policy import Selection, SessionPolicy, Stage
from toolbelt.sessions.prompt import NO_PROMPT, SessionPrompt
from toolbelt.sessions.store import LoadedToolkits, MemorySessionStore, SessionStore
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.toolkits.switching import find_switched_off
from toolbelt.toolkits.toolkit import DYNAMIC_TOOLS, MetaRole, Toolkit

_INTRODUCTION = (
    f"Further tools come in toolkits. {MetaRole.LOAD} loads one and {MetaRole.UNLOAD} unloads it; either takes effect "
    f"with the user's next message. {MetaRole.LIST} tells which tools are in them. The toolkits:"
)


class ToolkitPolicy(SessionPolicy):
    """The tools of one agent: its static tools, and the toolkits that were loaded when the turn began.

    A change takes effect with the next turn (rule D4). Built-in tools that the agent does not name are not its tools.
    Tools of MCP servers and of extensions that no agent and no toolkit names are every agent's, and so are tools that
    are always included.

    Attributes:
        agent: Whose tools they are.
        loaded: Keys of the toolkits that are loaded in this turn, in allowed order.
        stored: Their state, over the tools of this turn.

    Args:
        agent: The agent.
        toolkits: All of the project.
        store: Keeps the loaded toolkits; by default they last as long as this object.
        session_id: Of the conversation; without one, the agent has its initial toolkits and no meta-tools.
        team: All agents of the project: a tool of a server or an extension that another agent names is that one's.

    Raises:
        InvalidDefinitionError: a session id that is not text, or as `DynamicToolkits`; also when a turn begins, because
            it depends on the registered tools, too.
    """

    name = DYNAMIC_TOOLS
    stage = Stage.GRANT

    def __init__(
        self,
        agent: AgentSpec,
        toolkits: Iterable[Toolkit],
        store: SessionStore | None = None,
        session_id: str | None = None,
        *,
        team: Iterable[AgentSpec] = (),
    ) -> None:
        self.agent = agent
        self.loaded: LoadedToolkits = ()
        self._given = tuple(toolkits)
        self._team = tuple(team)
        self._tools = ToolRegistry()
        store = MemorySessionStore() if store is None else store
        self.stored = StoredToolkits(DynamicToolkits(agent, self._given), store, session_id)
        self._active: tuple[ShownTool, ...] = ()
        self._others: tuple[str, ...] = ()
        self._next: LoadedToolkits = ()
        self._warnings: tuple[str, ...] = ()

    @property
    def meta_tools(self) -> Sequence[Tool]:
        """The three of rule D2."""
        return tuple(META_TOOLS.values()) if self._may_load else ()

    @property
    def _may_load(self) -> bool:
        return self.stored.session_id is not None and self.stored.toolkits.has_meta_tools

    def begin_turn(self, tools: ToolRegistry) -> Sequence[str]:
        """Read the store, once for this turn; raises as `DynamicToolkits` and `StoredToolkits.begin_turn`."""
        if self._tools is not tools:
            self._take_over(tools)
        self._tools = tools
        restored, warnings = self.stored.begin_turn()
        self.loaded = self._next = restored.loaded
        self._active = tuple(tool for tool in self.stored.toolkits.shown_tools(self.loaded) if not tool.is_meta)
        return (*warnings, *self.stored.toolkits.find_unmatched(self.loaded), *self._warnings)

    def _take_over(self, registry: ToolRegistry) -> None:
        """Look up everything that the configuration names, which takes longer than all the rest."""
        expansion = expand_over(registry.catalog, registry.wire_names, key=attrgetter("name"))
        off = find_switched_off(self._given, registry, self.agent.tools_config)
        off.refuse_errors()
        self._warnings = off.warnings
        toolkits = DynamicToolkits(self.agent, self._given, expansion, off)
        named = toolkits.named_keys().union(
            name for agent in self._team for entry in agent.tools for name in expansion.find(entry)
        )
        self._others = tuple(
            tool.name
            for tool in registry.get_all()
            if tool.name not in off.tools and (tool.always_include or _is_anyones(tool.name, registry, named))
        )
        self.stored = StoredToolkits(toolkits, self.stored.store, self.stored.session_id)

    def select(self, given: Selection) -> Selection:
        """The static tools, those of nobody, then those of loaded toolkits, which alone change between turns."""
        always = (None, *self.stored.toolkits.granted)
        static = [tool.key for tool in self._active if tool.toolkit in always]
        loaded = [tool.key for tool in self._active if tool.toolkit not in always]
        keys = dict.fromkeys((*static, *self._others, *loaded))
        waiting = self.stored.toolkits.reachable_keys() if self._may_load else ()
        there = frozenset(given.shown)
        return Selection(
            tuple(key for key in keys if key in there),
            waiting=tuple(key for key in waiting if key in there and key not in keys),
        )

    async def answer(self, meta_tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """An answer of rule D3 as JSON; it waits for the store in a thread."""
        try:
            answer, self._next = await asyncio.to_thread(self.stored.call, MetaRole(meta_tool), arguments)
        except StorageError as error:
            answer = make_answer(AnswerStatus.ERROR, message=str(error))
        return ToolResult(ok=True, value=answer_text(answer), structured=answer)

    def explain(self, tool: str) -> str | None:
        """That the tool comes with the next turn, or which toolkit has it (rule D5)."""
        if not self._may_load:
            return None
        toolkits = self.stored.toolkits.find_toolkits_of(tool)
        shown = self._tools.wire_names[tool]
        coming = [toolkit for toolkit in toolkits if toolkit in self._next]
        if coming:
            return (
                f"{shown} comes with the user's next message, because toolkit {coming[0]!r} was loaded in this turn. "
                "Do not call it before; finish your answer."
            )
        if toolkits:
            return (
                f"{shown} is in toolkit {toolkits[0]!r}, which is not loaded. {MetaRole.LOAD} loads it; its tools come "
                "with the user's next message."
            )
        return None

    @property
    def prompt(self) -> SessionPrompt:
        """All toolkits, which stays the same, apart from those loaded now (rule D8)."""
        if not self._may_load:
            return NO_PROMPT
        toolkits = self.stored.toolkits
        rows = [
            f"- {quoted(key)}{' (always loaded)' if key in toolkits.initial else ''}"
            f"{_format_description(toolkit.description)}"
            for key, toolkit in toolkits.toolkits.items()
        ]
        now = ", ".join(map(quoted, self.loaded)) or "none"
        return SessionPrompt("\n".join((_INTRODUCTION, *rows)), f"Loaded now: {now}.")

    @property
    def toolkits(self) -> Sequence[Toolkit]:
        """Those that are switched on, and the loaded ones."""
        return self.stored.toolkits.expand_loaded(self.loaded)

    @property
    def overrides(self) -> Mapping[str, Mapping[str, Any]]:
        """Those of the tools of this turn."""
        return {tool.key: tool.overrides for tool in self._active if tool.overrides}


def _is_anyones(name: str, registry: ToolRegistry, named: Collection[str]) -> bool:
    """Whether a tool is of a server or an extension, and no configuration names it."""
    return name not in named and (name.startswith(MCP_PREFIX) or registry.get_plugin_id(name) is not None)


def _format_description(description: str) -> str:
    """On one line: a paragraph in YAML has line breaks."""
    words = " ".join(description.split())
    return f": {escaped(words)}" if words else ""
