"""Dynamic toolkits of agents, stored from one turn of a session to the next (rules D2 to D8)."""

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
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.meta_tools import META_TOOLS, AnswerStatus, MetaToolAnswer, answer_text, make_answer
from toolbelt.sessions.prompt import ToolkitPrompt
from toolbelt.sessions.store import LoadedToolkits, RestoredState, SessionStore, StoredState
from toolbelt.sessions.turn import SessionView, Turn
from toolbelt.toolkits.directive import directive
from toolbelt.toolkits.toolkit import DYNAMIC_TOOLS, RESERVED, Directive, MetaRole

__all__ = ["DynamicSessions", "Turn"]

_ATTEMPTS = 100
_Change = Callable[[LoadedToolkits], tuple[MetaToolAnswer, LoadedToolkits]]


class DynamicSessions:
    """The loaded toolkits of each agent in each session.

    All state is in the store, so any number of these objects, in any number of processes, may share one. Each agent
    has its own state, also if several take part in one session (rule D7).

        sessions = DynamicSessions([DynamicToolkits(agent, toolkits, expand_over(registry))], store)
        registry.register_all(sessions.meta_tools())
        turn = sessions.begin_turn("assistant", session_id)            # once for each message of the user

    An empty or blank session id means no session. A turn has no tools of servers and extensions that were registered
    after `expand_over`: after a change of the registry, make new objects, and register the meta-tools again.

    Attributes:
        agents: By name.
        store: Of the state.

    Raises:
        InvalidDefinitionError: a duplicate agent.
    """

    def __init__(self, agents: Iterable[DynamicToolkits], store: SessionStore) -> None:
        given = tuple(agents)
        self.agents: Mapping[str, DynamicToolkits] = MappingProxyType(
            {dynamic.agent.name: dynamic for dynamic in given}
        )
        self.store = store
        names = [dynamic.agent.name for dynamic in given]
        if twice := [name for name in self.agents if names.count(name) > 1]:
            raise InvalidDefinitionError(f"These agents are there twice: {', '.join(twice)}.")
        self._named = frozenset[str]().union(*(dynamic.named_keys() for dynamic in given))

    def begin_turn(self, agent: str, session_id: str | None) -> Turn:
        """The tools of an agent from here until its final answer.

        The store is read once. A session without a stored state begins here, and its initial toolkits are stored, so
        that they stay loaded if the configuration changes. The method waits for the store, so call it in a thread from
        an event loop: `turn = await asyncio.to_thread(sessions.begin_turn, agent, session_id)`.

        Args:
            agent: Its name.
            session_id: Of the conversation; with `None` there are the initial toolkits and no meta-tools.

        Raises:
            NotFoundError: no such agent, with the nearest.
            InvalidDefinitionError: a session id that is not text.
            StorageError: the state cannot be read. If it only cannot be written, the turn has a warning instead.
        """
        toolkits, session_id = self._get(agent), _checked(session_id)
        stored = None if session_id is None else self.store.read(agent, session_id)
        restored = _restore(toolkits, stored)
        warnings = [dropped.reason for dropped in restored.dropped]
        if session_id is not None and stored is None and restored.loaded:  # an empty state needs no entry
            try:
                # If another writer was faster, the session began with that one, and this turn a moment before.
                self.store.write(agent, session_id, restored.loaded, None)
            except StorageError as error:
                warnings.append(f"The beginning of this session could not be stored. {error}")
        warnings += toolkits.find_unmatched(restored.loaded)
        tools = toolkits.merge(restored.loaded)
        meta_tools = tuple(role.value for role in MetaRole) if session_id and toolkits.has_meta_tools else ()
        allowed = (*meta_tools, *(tool.key for tool in tools))
        extensions = toolkits.find_allowed_extensions()
        return Turn(
            agent,
            session_id,
            restored.loaded,
            tools,
            allowed,
            replace(
                extensions,
                exclude_tools=(self._named | _META_NAMES | {*extensions.exclude_tools}).difference(allowed),
            ),
            FrozenDict({tool.key: tool.overrides for tool in tools if tool.overrides}),
            tuple(warnings),
        )

    def list_toolkits(self, agent: str, session_id: str | None) -> MetaToolAnswer:
        """The answer to `list_toolkits` (rule D3); raises as `load`."""
        toolkits = self._get(agent)
        return toolkits.list_toolkits(_restore(toolkits, self._read(agent, session_id)).loaded)

    def load(self, agent: str, session_id: str | None, toolkit: str) -> MetaToolAnswer:
        """Load a toolkit from the next turn on; the answer to `load_tools` (rule D3).

        If another writer changes the state at the same moment, the change is decided again on the new state, so that
        nothing is lost and the answer matches the stored state. Stored toolkits that no longer exist or are no longer
        allowed stay stored, because another process may have a configuration with them. Conflicting ones do not.

        Raises:
            NotFoundError: no such agent, with the nearest.
            InvalidDefinitionError: a session id or toolkit that is not text.
            StorageError: the state cannot be read or written; it is unchanged.
        """
        toolkits = self._get(agent)
        has_session = _checked(session_id) is not None
        return self._change(agent, session_id, lambda now: toolkits.load(toolkit, now, has_session=has_session))

    def unload(self, agent: str, session_id: str | None, toolkit: str) -> MetaToolAnswer:
        """Unload a toolkit from the next turn on; the answer to `unload_tools` (rule D3); as `load`."""
        toolkits = self._get(agent)
        has_session = _checked(session_id) is not None
        return self._change(agent, session_id, lambda now: toolkits.unload(toolkit, now, has_session=has_session))

    def show(self, agent: str, session_id: str | None) -> SessionView:
        """The state of an agent in a session; changes nothing, and raises as `load`."""
        toolkits, stored = self._get(agent), self._read(agent, session_id)
        restored = _restore(toolkits, stored)
        tools = toolkits.merge(restored.loaded)
        stored_keys = None if stored is None else stored.loaded
        return SessionView(agent, _checked(session_id), stored_keys, restored.loaded, restored.dropped, tools)

    def reset(self, agent: str, session_id: str | None) -> bool:
        """Let a session start again for one agent; returns whether there was a stored state. Raises as `load`.

        Call it also for a deleted conversation: nothing else deletes its state.
        """
        self._get(agent)
        session_id = _checked(session_id)
        return session_id is not None and self.store.reset(agent, session_id)

    def prompt(self, turn: Turn, registry: ToolRegistry | None = None) -> ToolkitPrompt:
        """The prompt text on toolkits, in two parts (rule D8): all toolkits, and those loaded in this turn.

        The second part has their policies, which name only tools of the turn (rule K4), under their shown names.
        Without meta-tools there are only the policies.

        Args:
            turn: The turn.
            registry: As for `Turn.to_definitions`: then policies name only tools that it shows now.

        Raises:
            NotFoundError: the turn is of an unknown agent.
            InvalidDefinitionError: a policy that is a function gave neither a text nor `None`.
        """
        toolkits = self._get(turn.agent)
        may_load = turn.session_id is not None and toolkits.has_meta_tools
        return ToolkitPrompt.of(toolkits, turn.loaded, turn.tool_keys(registry), may_load=may_load)

    def directive(self, turn: Turn, message: object, registry: ToolRegistry | None = None) -> Directive | None:
        """How a user's message narrows the first request of a turn (rule K5); `None` if it does not.

        It comes from the toolkits loaded in this turn, cut to the tools of the turn. Pass it to `Turn.to_definitions`,
        and its `tool_choice` to the provider, as `format_tool_choice` writes it.

        Args:
            turn: The turn that the message began.
            message: The user's message, in any form that `toolbelt.toolkits.directive.message_text` reads.
            registry: As for `Turn.to_definitions`: then it names only tools that are shown now, and forces no other.

        Returns:
            A directive with the names that the model is shown, in `active_tools` and in `tool_choice`.

        Raises:
            NotFoundError: the turn is of an unknown agent.
            InvalidDefinitionError: a directive function returned neither a `Directive` nor `None`; an invalid message.
        """
        toolkits = self._get(turn.agent)
        narrowed = directive(message, toolkits.expand_loaded(turn.loaded), turn.tool_keys(registry))
        if narrowed is None:
            return None
        choice = narrowed.tool_choice
        # A tool key is one of the active tools; `required` and similar choices are not keys.
        shown = toolkits.shown_as(choice) if choice in narrowed.active_tools else choice
        return Directive(tuple(map(toolkits.shown_as, narrowed.active_tools)), shown)

    def meta_tools(self) -> tuple[ExecutableTool, ...]:
        """The three meta-tools for a `ToolRegistry`, for every agent and session (rule D2).

        Agent and session come from the `ToolContext` of the call; `Turn.allowed_tools` decides where they are shown.
        An error becomes an answer of status `error`.
        """

        def list_toolkits(context: ToolContext) -> ToolResult:
            return _respond(lambda agent: self.list_toolkits(agent, context.session_id), context)

        def load_tools(toolkit: str, context: ToolContext) -> ToolResult:
            return _respond(lambda agent: self.load(agent, context.session_id, toolkit), context)

        def unload_tools(toolkit: str, context: ToolContext) -> ToolResult:
            return _respond(lambda agent: self.unload(agent, context.session_id, toolkit), context)

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
        if not isinstance(agent, str) or (toolkits := self.agents.get(agent)) is None:
            raise NotFoundError("agent", agent, self.agents)
        return toolkits

    def _read(self, agent: str, session_id: str | None) -> StoredState | None:
        session_id = _checked(session_id)
        return None if session_id is None else self.store.read(agent, session_id)

    def _change(self, agent: str, session_id: str | None, change: _Change) -> MetaToolAnswer:
        toolkits = self._get(agent)
        for _ in range(_ATTEMPTS):
            stored = self._read(agent, session_id)
            restored = _restore(toolkits, stored)
            answer, after = change(restored.loaded)
            if after == restored.loaded or session_id is None:
                return answer
            new_state = (*after, *restored.kept_for_others)
            if self.store.write(agent, session_id, new_state, None if stored is None else stored.revision):
                return answer
        raise StorageError(
            f"What agent {agent!r} has loaded in session {session_id!r} was changed by others {_ATTEMPTS} times while "
            "this change was decided; try again."
        )


_META_NAMES = RESERVED - {DYNAMIC_TOOLS}


def _checked(session_id: str | None) -> str | None:
    if session_id is not None and not isinstance(session_id, str):
        raise InvalidDefinitionError(f"A session id must be text, not {session_id!r}.")
    return session_id if session_id and session_id.strip() else None


def _restore(toolkits: DynamicToolkits, stored: StoredState | None) -> RestoredState:
    return toolkits.restore(None if stored is None else stored.loaded)


def _respond(respond: Callable[[str], MetaToolAnswer], context: ToolContext) -> ToolResult:
    if context.agent is None:
        answer = make_answer(AnswerStatus.ERROR, message="There is no telling whose toolkits: the call names no agent.")
    else:
        try:
            answer = respond(context.agent)
        except ToolbeltError as error:
            answer = make_answer(AnswerStatus.ERROR, message=str(error))
    return ToolResult(ok=True, value=answer_text(answer), structured=answer)
