"""One conversation with an agent: the interface to everything that the agent is shown (rule R8)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from toolbelt.catalog import Catalog, Tool
from toolbelt.catalog.definitions import definition_text
from toolbelt.catalog.tokens import TokenCounter
from toolbelt.errors import InvalidDefinitionError
from toolbelt.patterns import fold
from toolbelt.runtime.arguments import ArgumentsError, read_arguments
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.execution import read_calls
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import CallResult, FailureCode, ToolCall, ToolResult, chars_per_call, limit_result
from toolbelt.runtime.snapshot import LITE
from toolbelt.sessions.policy import Selection, SessionPolicy
from toolbelt.sessions.prompt import SessionPrompt, join_paragraphs
from toolbelt.text import show_value
from toolbelt.toolkits.directive import directive, narrow
from toolbelt.toolkits.policy import build_policy_section
from toolbelt.toolkits.toolkit import Directive

T = TypeVar("T")
_POLICY_PARTS = ("name", "stage", "meta_tools", "begin_turn", "select", "answer")
"""What a session asks of each policy."""


class Session:
    """An agent in one conversation.

        session = Session(registry, [ToolkitPolicy(agent, toolkits, store, session_id)], session_id=session_id)
        session.begin_turn()                                         # once for each message of the user
        definitions = session.to_definitions(form="openai")          # before each request to the model
        results = await session.execute_parallel(message.tool_calls)

    Without policies, the session has all tools of the registry. Each policy takes tools away, shows them later, or
    adds meta-tools by which the model asks for them; a tool that is not reachable is answered like one that does not
    exist. A turn has the tools that were registered when it began. Sessions share nothing but the registry, which
    they never change.

    Tools of the registry that are `of_session` are the session's own: they are shown after the meta-tools, and no
    policy applies to them.

    Attributes:
        registry: All tools that the agent could have.
        session_id: Of the conversation.
        agent: The agent's name.
        around: The base of `context`: its `confirm`, `result_budget_chars`, `dry_run`, ...; its `turn_count` is the
            number of turns before this object was made.
        warnings: What the policies noticed when the turn began, in sentences.

    Args:
        registry: As above.
        policies: In any order; see `Stage`.
        session_id: By default that of `around`.
        agent: By default that of `around`.
        around: As above.
        allowed_tools: As in `ToolRegistry.to_definitions`; meta-tools always pass it.
        filter_opts: Likewise; it may exclude meta-tools.

    Raises:
        InvalidDefinitionError: two policies have a meta-tool of the same name; something of the wrong type.
    """

    def __init__(
        self,
        registry: ToolRegistry | None = None,
        policies: Iterable[SessionPolicy] = (),
        *,
        session_id: str | None = None,
        agent: str | None = None,
        around: ToolContext | None = None,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: FilterOpts | None = None,
    ) -> None:
        self.registry = ToolRegistry() if registry is None else checked("registry", registry, ToolRegistry)
        self.around = ToolContext() if around is None else checked("around", around, ToolContext)
        self.session_id = self.around.session_id if session_id is None else checked("session_id", session_id, str)
        self.agent = self.around.agent if agent is None else checked("agent", agent, str)
        self.warnings: tuple[str, ...] = ()
        self._policies = tuple(sorted(_as_policies(policies), key=lambda policy: policy.stage))
        self._meta_tools = tuple(
            self._make_meta_tool(policy, tool) for policy in self._policies for tool in policy.meta_tools
        )
        _refuse_shared_names(self._policies)
        self._callers = {
            tool.name: policy for policy in self._policies if hasattr(policy, "pass_on") for tool in policy.meta_tools
        }
        self._allowed_tools = None if allowed_tools is None else _as_list(allowed_tools)
        self._filter_opts = filter_opts
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        self._turns = 0
        self._source: Catalog | None = None
        self._whole = self._of_plugins = ToolRegistry()
        self._selections: tuple[Selection, ...] = ()
        self._shown = self._callable = ToolRegistry()
        self._is_current = False

    def begin_turn(self, message: str | None = None) -> tuple[str, ...]:
        """Begin a turn, with the tools that are registered now. The first use of a session begins its first turn.

        Policies may wait for a store, so call it in a thread from an event loop:
        `await asyncio.to_thread(session.begin_turn)`.

        Args:
            message: What the user wrote, for policies that go by it, such as a search for the user's words.

        Returns:
            `warnings`, which the application should log.

        Raises:
            InvalidDefinitionError: the configuration of a policy cannot be used with these tools; a tool has the name
                of a meta-tool.
            ToolbeltError: the user's words cannot be searched for; `StorageError`: the state cannot be read.
        """
        if self._source is not self.registry.catalog:
            tools = self.registry.get_all()
            self._whole = self.registry.narrowed((tool.name for tool in tools), reserved=self._meta_tools)
            self._of_plugins = self._whole.narrowed(tool.name for tool in tools if not tool.of_session)
            self._source = self.registry.catalog
        begun = [policy.begin_turn(self._of_plugins) for policy in self._policies]
        if message is not None:
            for policy in self._policies:
                if (read_message := getattr(policy, "read_message", None)) is not None:
                    read_message(message)
        self.warnings = tuple(warning for warnings in begun for warning in warnings)
        self._turns += 1
        self._reselect()
        return self.warnings

    @property
    def tools(self) -> ToolRegistry:
        """The tools that may be called now, meta-tools included, as a registry of their own.

        A later request may have other tools, and then another registry: take it anew before each one.
        """
        self._update()
        return self._callable

    def to_definitions(self, *, form: str = LITE, directive: Directive | None = None) -> list[dict[str, Any]]:
        """The definitions for the next request.

        Meta-tools come first. Within a turn, the list only grows at its end, so that a cached prefix stays valid.

        Args:
            form: As in `ToolRegistry.to_definitions`, with the same errors.
            directive: Narrows this one request (rule K5), by names or wire names; if it names no shown tool, nothing is
                narrowed. The caller passes its `tool_choice` on.
        """
        self._update()
        definitions = self._shown.to_definitions(self._allowed_tools, self._filter_opts, form=form)
        return list(narrow(definitions, directive, self._shown.wire_names).tools)

    def count_tokens(self, counter: TokenCounter, form: str = "openai") -> int:
        """Tokens of the definitions of the next request, meta-tools included."""
        return sum(counter.count([definition_text(definition) for definition in self.to_definitions(form=form)]))

    async def execute_parallel(
        self, calls: Iterable[Any], attachments: Sequence[Any] = (), **settings: Any
    ) -> list[CallResult]:
        """Run the calls of one answer of the model, as `ToolRegistry.execute_parallel`.

        A tool is called by its name, its wire name, or its id. Meta-tools are called in the same batch, in their order;
        nothing that they change applies to another call of the batch. They count as calls (rule R4), but their answers
        may take the whole budget: cut JSON says nothing.

        Args:
            calls: In any form that the registry accepts.
            attachments: Of the turn.
            settings: As for `context`.

        Returns:
            As the registry. A call of a tool that comes later is refused with what the model can do.

        Raises:
            ToolbeltError: no turn has begun, and none can, as `begin_turn`.
        """
        self._update()
        running, context = self._callable, self.context(**settings)
        tool_calls = read_calls(calls)
        passed = [self._pass_on(call) for call in tool_calls]
        results = await running.execute_parallel(passed, context, self._allowed_tools, self._filter_opts, attachments)
        max_chars = chars_per_call(context.result_budget_chars, len(results))
        explained = [self._explained(result, running, max_chars) for result in results]
        return [replace(result, name=call.name) for result, call in zip(explained, tool_calls, strict=True)]

    def _pass_on(self, call: ToolCall) -> ToolCall:
        """The call, or that of the tool that it calls through a meta-tool."""
        policy = self._callers.get(call.name)
        if policy is None:
            return call
        try:
            passed_on = policy.pass_on(call.name, read_arguments(call.args))
        except ArgumentsError:
            return call
        if passed_on is None or passed_on.name in self._callers:
            return call
        return replace(call, name=passed_on.name, args=passed_on.arguments)

    def context(self, **settings: Any) -> ToolContext:
        """The context of a batch: `around`, with session id, agent, turn and overrides of this session.

        Args:
            settings: Other attributes of `ToolContext`, for this batch only; sub-agents get those of `around`.
        """
        overrides = dict(self.around.overrides)
        for policy in self._policies:
            overrides.update(policy.overrides)
        of_session = {
            "session_id": self.session_id,
            "agent": self.agent,
            "turn_count": self.around.turn_count + self._turns,
            "overrides": overrides,
        }
        return replace(self.around, **{**of_session, **settings})

    @property
    def prompt(self) -> SessionPrompt:
        """What the agent's prompt states about its tools (rules D8, K4, K7).

        Texts of toolkits and tools name only tools that are shown now, under their wire names.

        Raises:
            InvalidDefinitionError: a toolkit's policy that is a function gave neither a text nor `None`.
        """
        shown = self._shown_names()
        names = {name: self._find_wire_name(name) for name in shown}
        prompts = [policy.prompt for policy in self._policies]
        toolkits = [toolkit for policy in self._policies for toolkit in policy.toolkits]
        sections = [build_policy_section(toolkit, shown, names) or "" for toolkit in toolkits]
        of_tools = [tool.policy.strip() for name in shown if (tool := self._callable.get(name)) is not None]
        return SessionPrompt(
            join_paragraphs(prompt.static for prompt in prompts),
            join_paragraphs((*(prompt.volatile for prompt in prompts), *sections, *of_tools)),
        )

    def directive(self, message: object) -> Directive | None:
        """How a user's message narrows the first request of this turn (rule K5); `None` if it does not.

        Pass it to `to_definitions`, and its `tool_choice` to the provider, as `format_tool_choice` writes it.

        Args:
            message: The user's message, in any form that `toolbelt.toolkits.directive.message_text` reads.

        Returns:
            A directive with wire names in `active_tools` and `tool_choice`, limited to what is shown now.

        Raises:
            InvalidDefinitionError: a directive function returned neither a `Directive` nor `None`; an invalid message.
        """
        toolkits = [toolkit for policy in self._policies for toolkit in policy.toolkits]
        chosen = directive(message, toolkits, self._shown_names())
        if chosen is None:
            return None
        choice = chosen.tool_choice
        # A name is one of the active tools; `required` and similar choices are not names.
        choice = self._find_wire_name(choice) if choice is not None and choice in chosen.active_tools else choice
        return Directive(tuple(map(self._find_wire_name, chosen.active_tools)), choice)

    # Selection

    def _reselect(self) -> None:
        """Ask the policies again; what was shown before keeps no place."""
        if self._turns:
            self._selections, self._is_current = (), False
        self._update()

    def _update(self) -> None:
        """Ask the policies again, if anything may have changed since."""
        if self._is_current:
            return
        if not self._turns:
            self.begin_turn()
            return
        before, names = self._selections, tuple(tool.name for tool in self._of_plugins.get_all())
        selections = [Selection(names)]
        for policy in self._policies:
            selections.append(policy.select(selections[-1]))
        last = selections[-1]
        _refuse_reserved_names(last.reachable, self._meta_tools, self._whole)
        if before:
            # Whatever the policies' order is: what was shown in this turn stays where it was.
            still_shown = frozenset(last.shown).intersection(before[-1].shown)
            stayed = [name for name in before[-1].shown if name in still_shown]
            last = replace(last, shown=(*stayed, *(name for name in last.shown if name not in still_shown)))
        self._selections = (*selections[:-1], last)
        if not before or before[-1] != last:
            own = [tool.name for tool in self._whole.get_all() if tool.of_session]
            self._shown = self._narrow((*own, *last.shown))
            self._callable = self._shown if not last.hidden else self._narrow((*own, *last.callable))
        self._is_current = True

    def _narrow(self, names: Iterable[str]) -> ToolRegistry:
        return self._whole.narrowed(names, first=self._meta_tools)

    def _find_wire_name(self, name: str) -> str:
        return self._whole.wire_names.get(name, name)

    def _shown_names(self) -> list[str]:
        """Names of the tools of plugins that are shown now."""
        shown = {definition["name"] for definition in self.to_definitions()}
        return [name for name in self._selections[-1].shown if self._find_wire_name(name) in shown]

    # Calls

    def _make_meta_tool(self, policy: SessionPolicy, tool: Tool) -> ExecutableTool:
        async def answer(**arguments: Any) -> ToolResult:
            loop = asyncio.get_running_loop()
            async with self._locks.setdefault(loop, asyncio.Lock()):  # locks are fair: in the order of the calls
                try:
                    return await policy.answer(tool.name, arguments)
                finally:
                    self._is_current = False

        return ExecutableTool(
            tool.name,
            tool.description,
            tool.parameters,
            tool.annotations,
            function=answer,
            always_include=True,
            toolset=policy.name,
            of_session=True,
        )

    def _explained(self, result: CallResult, running: ToolRegistry, max_chars: int) -> CallResult:
        """The result; for a tool that was not callable, with the reason, where the model may know it."""
        if result.result.code is not FailureCode.NOT_AVAILABLE or running.find(result.name) is not None:
            return result
        found = self._of_plugins.find(result.name)
        reason = None if found is None else self._explain(found.tool.name)
        if reason is None:
            return result
        failure = limit_result(ToolResult.failure(FailureCode.NOT_AVAILABLE, reason), max_chars)
        return replace(result, result=failure)

    def _explain(self, name: str) -> str | None:
        """By the policy that does not let the tool through; none before it may know of the tool."""
        for policy, before, selected in zip(self._policies, self._selections, self._selections[1:], strict=False):
            if name in before.callable and name not in selected.callable:
                return policy.explain(name)
        return None


def checked(name: str, value: T, wanted: type) -> T:
    """The value, checked to be of a type.

    Raises:
        InvalidDefinitionError: it is not.
    """
    if not isinstance(value, wanted):
        raise InvalidDefinitionError(f"The {name} of a session must be a {wanted.__name__}, not {show_value(value)}.")
    return value


def _as_policies(policies: object) -> tuple[SessionPolicy, ...]:
    if isinstance(policies, Iterable) and not isinstance(policies, str | bytes | Mapping):
        listed = tuple(policies)
        if all(hasattr(policy, part) for policy in listed for part in _POLICY_PARTS):
            return listed
    raise InvalidDefinitionError(f"The policies of a session must be a list of policies, not {show_value(policies)}.")


def _as_list(names: Iterable[str]) -> tuple[str, ...]:
    given: object = names
    if not isinstance(given, Iterable):
        raise InvalidDefinitionError(f"The allowed_tools must be a list of names, not {show_value(given)}.")
    return (names,) if isinstance(names, str) else tuple(names)


def _refuse_shared_names(policies: Iterable[SessionPolicy]) -> None:
    owners: dict[str, SessionPolicy] = {}
    for policy in policies:
        for tool in policy.meta_tools:
            if (owner := owners.setdefault(fold(tool.name), policy)) is not policy:
                raise InvalidDefinitionError(
                    f"Two policies of a session have a meta-tool {tool.name!r}: {owner.name} and {policy.name}. Use "
                    "one of them."
                )


def _refuse_reserved_names(reachable: Iterable[str], meta_tools: Iterable[Tool], registry: ToolRegistry) -> None:
    reserved = {fold(tool.name) for tool in meta_tools}
    own = (tool.name for tool in registry.get_all() if tool.of_session)
    for name in (*reachable, *own):
        if fold(name) in reserved:
            tool = registry.get(name)
            owner = f"Plugin {tool.plugin!r}" if tool is not None and tool.plugin else "The registry"
            raise InvalidDefinitionError(
                f"{owner} has a tool {name!r}, and so has the session: its own meta-tool. Rename yours, or use a "
                "loadout that disables it."
            )
