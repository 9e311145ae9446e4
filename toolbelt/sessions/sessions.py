"""The toolkits of agents, kept from one turn of a session to the next (rules D2 to D8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.errors import InvalidDefinitionError, NotFoundError, StorageError, ToolbeltError
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import ToolResult
from toolbelt.sessions.dynamic import DynamicToolkits, Loaded, Restored
from toolbelt.sessions.meta_tools import META_TOOLS, Answer, answer_text, make_answer
from toolbelt.sessions.prompt import ToolkitPrompt
from toolbelt.sessions.store import SessionStore, StoredState
from toolbelt.sessions.turn import SessionView, Turn
from toolbelt.toolkits.directive import directive
from toolbelt.toolkits.toolkit import DYNAMIC_TOOLS, RESERVED, Directive, MetaRole

__all__ = ["DynamicSessions", "Turn"]

_TRIES = 100
_Change = Callable[[Loaded], tuple[Answer, Loaded]]


class DynamicSessions:
    """What each agent has loaded in each session.

    It keeps nothing itself, so any number of them, in any number of processes, may share a store. Every agent has its
    own state, also where several take part in one session (rule D7).

        sessions = DynamicSessions([DynamicToolkits(agent, toolkits, expand_over(registry))], store)
        registry.register_all(sessions.meta_tools())
        turn = sessions.begin_turn("assistant", session_id)            # once for each message of the user

    A session id that is empty or blank is none. Of the tools of servers and extensions, a turn has none that were
    registered after `expand_over`: after a change of the registry, make these anew, and register the meta-tools again.

    Attributes:
        agents: By name.
        store: What keeps the state.

    Raises:
        InvalidDefinitionError: the same agent twice.
    """

    def __init__(self, agents: Iterable[DynamicToolkits], store: SessionStore) -> None:
        given = tuple(agents)
        self.agents: Mapping[str, DynamicToolkits] = MappingProxyType({made.agent.name: made for made in given})
        self.store = store
        names = [made.agent.name for made in given]
        if twice := [name for name in self.agents if names.count(name) > 1]:
            raise InvalidDefinitionError(f"These agents are there twice: {', '.join(twice)}.")
        self._named = frozenset[str]().union(*(made.named() for made in given))

    def begin_turn(self, agent: str, session_id: str | None) -> Turn:
        """What an agent has from here until its final answer.

        The store is read once. A session of which nothing is kept begins here, and what it begins with is kept, so
        that it stays loaded when the configuration no longer has it as initial. Waits for the store, so an event loop
        calls it in a thread: `turn = await asyncio.to_thread(sessions.begin_turn, agent, session_id)`.

        Args:
            agent: Its name.
            session_id: Of the conversation; `None` outside any: then there are the initial toolkits and no meta-tools.

        Raises:
            NotFoundError: no such agent, with the nearest.
            InvalidDefinitionError: a session id that is no text.
            StorageError: what is kept cannot be read. If only it cannot be written, the turn has a warning instead.
        """
        toolkits, session_id = self._get(agent), _checked(session_id)
        stored = None if session_id is None else self.store.read(agent, session_id)
        restored = _restore(toolkits, stored)
        warnings = [dropped.reason for dropped in restored.dropped]
        if session_id is not None and stored is None and restored.loaded:  # of nothing, nothing need be kept
            try:
                # Where another was quicker, the session began with that one, and this turn a moment before.
                self.store.write(agent, session_id, restored.loaded, None)
            except StorageError as error:
                warnings.append(f"That this session has begun could not be kept. {error}")
        warnings += toolkits.find_unmatched(restored.loaded)
        tools = toolkits.merge(restored.loaded)
        meta_tools = tuple(role.value for role in MetaRole) if session_id and toolkits.has_meta_tools else ()
        allowed = (*meta_tools, *(tool.key for tool in tools))
        guests = toolkits.guests()
        return Turn(
            agent,
            session_id,
            restored.loaded,
            tools,
            allowed,
            replace(guests, exclude_tools=(self._named | _META_NAMES | {*guests.exclude_tools}).difference(allowed)),
            FrozenDict({tool.key: tool.overrides for tool in tools if tool.overrides}),
            tuple(warnings),
        )

    def list_toolkits(self, agent: str, session_id: str | None) -> Answer:
        """The answer to `list_toolkits` (rule D3); raises as `load`."""
        toolkits = self._get(agent)
        return toolkits.list_toolkits(_restore(toolkits, self._read(agent, session_id)).loaded)

    def load(self, agent: str, session_id: str | None, toolkit: str) -> Answer:
        """Load a toolkit from the next turn on; the answer to `load_tools` (rule D3).

        Where somebody else changes the state at the same moment, it is decided anew on what they left, so that nothing
        is lost and the answer is true of what is kept. What is kept and is no longer there or allowed stays kept:
        another process may have a configuration by which it is. What is in conflict does not.

        Raises:
            NotFoundError: no such agent, with the nearest.
            InvalidDefinitionError: a session id or toolkit that is no text.
            StorageError: the state cannot be read or written; it is as it was.
        """
        toolkits = self._get(agent)
        has_session = _checked(session_id) is not None
        return self._change(agent, session_id, lambda now: toolkits.load(toolkit, now, has_session=has_session))

    def unload(self, agent: str, session_id: str | None, toolkit: str) -> Answer:
        """Unload a toolkit from the next turn on; the answer to `unload_tools` (rule D3); as `load`."""
        toolkits = self._get(agent)
        has_session = _checked(session_id) is not None
        return self._change(agent, session_id, lambda now: toolkits.unload(toolkit, now, has_session=has_session))

    def show(self, agent: str, session_id: str | None) -> SessionView:
        """How an agent stands in a session; changes nothing, and raises as `load`."""
        toolkits, stored = self._get(agent), self._read(agent, session_id)
        restored = _restore(toolkits, stored)
        tools = toolkits.merge(restored.loaded)
        kept = None if stored is None else stored.loaded
        return SessionView(agent, _checked(session_id), kept, restored.loaded, restored.dropped, tools)

    def reset(self, agent: str, session_id: str | None) -> bool:
        """Let a session start anew for one agent; whether anything was kept. Raises as `load`.

        Also for a conversation that is deleted: nothing else ever forgets what is kept of it.
        """
        self._get(agent)
        session_id = _checked(session_id)
        return session_id is not None and self.store.reset(agent, session_id)

    def prompt(self, turn: Turn, registry: ToolRegistry | None = None) -> ToolkitPrompt:
        """What the prompt says of toolkits, in two parts (rule D8): those there are, and those loaded in this turn.

        With the latter go their policies, which name only tools that the turn has (rule K4), as the model is shown
        them. Without meta-tools, nothing but the policies is said.

        Args:
            turn: Whose prompt it is.
            registry: As `Turn.to_definitions` is given it: then policies name only what it shows now.

        Raises:
            NotFoundError: the turn is of no agent here.
            InvalidDefinitionError: a policy that is a function gave neither a text nor `None`.
        """
        toolkits = self._get(turn.agent)
        may_load = turn.session_id is not None and toolkits.has_meta_tools
        return ToolkitPrompt.of(toolkits, turn.loaded, turn.tool_keys(registry), may_load=may_load)

    def directive(self, turn: Turn, message: object, registry: ToolRegistry | None = None) -> Directive | None:
        """What a user's message narrows the first request of a turn to (rule K5); `None` for nothing.

        The toolkits loaded in this turn have a say, cut to what the turn has. Hand it to `Turn.to_definitions`, and its
        `tool_choice` to the provider, as `format_tool_choice` writes it.

        Args:
            turn: That the message began.
            message: What the user wrote, in any form that `toolbelt.toolkits.directive.message_text` reads.
            registry: As `Turn.to_definitions` is given it: then it speaks only of what that shows now, and so forces
                no tool that is not sent.

        Returns:
            One that goes by the names the model is shown, in `active_tools` as in `tool_choice`.

        Raises:
            NotFoundError: the turn is of no agent here.
            InvalidDefinitionError: a directive that is a function gave neither a `Directive` nor `None`;
                a message that is none.
        """
        toolkits = self._get(turn.agent)
        made = directive(message, toolkits.over_tools(turn.loaded), turn.tool_keys(registry))
        if made is None:
            return None
        choice = made.tool_choice
        # A choice that is a key is one of the active tools; `required` and its like are no keys.
        shown = toolkits.shown_as(choice) if choice in made.active_tools else choice
        return Directive(tuple(map(toolkits.shown_as, made.active_tools)), shown)

    def meta_tools(self) -> tuple[ExecutableTool, ...]:
        """The three meta-tools for a `ToolRegistry`, where they serve every agent and session (rule D2).

        They take both from the `ToolContext` of the call; `Turn.allowed_tools` says where they are shown. Whatever
        goes wrong is told to the model as an answer of status `error`.
        """

        def list_toolkits(context: ToolContext) -> ToolResult:
            return _told(lambda agent: self.list_toolkits(agent, context.session_id), context)

        def load_tools(toolkit: str, context: ToolContext) -> ToolResult:
            return _told(lambda agent: self.load(agent, context.session_id, toolkit), context)

        def unload_tools(toolkit: str, context: ToolContext) -> ToolResult:
            return _told(lambda agent: self.unload(agent, context.session_id, toolkit), context)

        functions: Mapping[MetaRole, Callable[..., ToolResult]] = {
            MetaRole.LIST: list_toolkits,
            MetaRole.LOAD: load_tools,
            MetaRole.UNLOAD: unload_tools,
        }
        return tuple(
            ExecutableTool(
                tool.name,
                tool.description,
                tool.parameters,
                tool.annotations,
                function=functions[role],
                toolset=DYNAMIC_TOOLS,
                of_session=True,
                context_parameter="context",
            )
            for role, tool in META_TOOLS.items()
        )

    def _get(self, agent: str) -> DynamicToolkits:
        if not isinstance(agent, str) or (found := self.agents.get(agent)) is None:
            raise NotFoundError("agent", agent, self.agents)
        return found

    def _read(self, agent: str, session_id: str | None) -> StoredState | None:
        session_id = _checked(session_id)
        return None if session_id is None else self.store.read(agent, session_id)

    def _change(self, agent: str, session_id: str | None, change: _Change) -> Answer:
        toolkits = self._get(agent)
        for _ in range(_TRIES):
            stored = self._read(agent, session_id)
            restored = _restore(toolkits, stored)
            answer, after = change(restored.loaded)
            if after == restored.loaded or session_id is None:
                return answer
            kept = (*after, *restored.elsewhere)
            if self.store.write(agent, session_id, kept, None if stored is None else stored.revision):
                return answer
        raise StorageError(
            f"What agent {agent!r} has loaded in session {session_id!r} was changed by others {_TRIES} times while "
            "this change was decided; try again."
        )


_META_NAMES = RESERVED - {DYNAMIC_TOOLS}


def _checked(session_id: str | None) -> str | None:
    if session_id is not None and not isinstance(session_id, str):
        raise InvalidDefinitionError(f"A session id must be text, not {session_id!r}.")
    return session_id if session_id and session_id.strip() else None


def _restore(toolkits: DynamicToolkits, stored: StoredState | None) -> Restored:
    return toolkits.restore(None if stored is None else stored.loaded)


def _told(respond: Callable[[str], Answer], context: ToolContext) -> ToolResult:
    if context.agent is None:
        answer = make_answer("error", message="There is no telling whose toolkits: the call names no agent.")
    else:
        try:
            answer = respond(context.agent)
        except ToolbeltError as error:
            answer = make_answer("error", message=str(error))
    return ToolResult(ok=True, value=answer_text(answer), structured=answer)
