"""Running a batch of calls, all at once, each at its own risk (rules R3, R4, R6, R7)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import suggestion
from toolbelt.runtime.arguments import ArgumentsError, check_schema, explain, read_arguments
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import Gates, Registered
from toolbelt.runtime.guards import AuditSink
from toolbelt.runtime.preparation import Guarding, UnservedError, serve
from toolbelt.runtime.reducers.reducer import ReducerRegistry
from toolbelt.runtime.results import CallResult, FailureCode, ToolCall, ToolResult, cap_of, describe, share_of
from toolbelt.runtime.running import Start, Underway, fit

DEFAULT_TIMEOUT_SECONDS = 120.0
"""How long a tool may take that says nothing of it."""
_NAME_CHARS = 100
_SUGGESTIONS = 10
"""Of how many unknown names in a batch the nearest are looked for, which takes longer than everything else."""
_NOTHING = FrozenDict()

Find = Callable[[str], Registered | None]
ShownNames = Callable[[], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Batch:
    """The calls of one answer of a model, with what surrounds them.

    Attributes:
        calls: In the model's order.
        context: Of all of them, without attachments and backends, which are not for every tool.
        attachments: Of the turn.
    """

    calls: tuple[ToolCall, ...]
    context: ToolContext
    attachments: tuple[Any, ...]

    @classmethod
    def of(cls, calls: Any, ctx: ToolContext, attachments: Sequence[Any]) -> Self:
        """As `execute_parallel` is given them: whatever is in `calls`, each is a call, if only one of no tool."""
        if ctx.attachments or ctx.backends:
            attachments = tuple(attachments or ()) or ctx.attachments
            ctx = replace(ctx, attachments=(), backends=_NOTHING)
        return cls(tuple(map(_read_call, _each(calls))), ctx, tuple(attachments or ()))


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs batches.

    Attributes:
        backends: What serves capabilities, by their names.
        reducers: Of results; `None` for none.
        audit: Gets every decision of a guard; `None` for none.
        default_timeout_seconds: For tools that say nothing; `None` for no limit.
    """

    backends: Mapping[str, Any]
    reducers: ReducerRegistry | None
    audit: AuditSink | None
    default_timeout_seconds: float | None

    async def run(self, batch: Batch, gates: Gates, find: Find, shown: ShownNames = tuple) -> list[CallResult]:
        """A result for each call, in order.

        Everything that can be said before anything runs is said then: what one call of a batch changes, another of
        the same batch does not see.

        Args:
            batch: The calls.
            gates: What lets a tool be called.
            find: From a name that the model wrote to a tool.
            shown: Names of the tools that the model is shown, the only ones that a message may name to it.

        Raises:
            asyncio.CancelledError: it was cancelled, and with it what ran.
        """
        underway = Underway(len(batch.calls))
        share = share_of(batch.context.result_budget_chars, len(batch.calls))
        desk = _Desk(gates, find, shown)
        starts: list[tuple[int, Start]] = []
        for number, call in enumerate(batch.calls):
            found = desk.admit(call.name)
            if isinstance(found, str):
                cap = cap_of(share, desk.own_cap(call.name))
                underway.settle(number, fit(ToolResult.failure(FailureCode.NOT_AVAILABLE, found), cap))
                continue
            planned = self._plan(found, call, batch, cap_of(share, found.max_result_chars))
            if isinstance(planned, ToolResult):
                underway.settle(number, fit(planned, cap_of(share, found.max_result_chars)))
            else:
                starts.append((number, planned))
        for number, start in starts:
            underway.start(number, start)
        results = await underway.finish()
        return [
            CallResult(call.tool_call_id, call.name, result) for call, result in zip(batch.calls, results, strict=True)
        ]

    def _plan(self, tool: ExecutableTool, call: ToolCall, batch: Batch, cap_chars: int) -> Start | ToolResult:
        """What is to be done for a call, or what comes of it without doing anything."""
        reducer = None if self.reducers is None else self.reducers.get(tool.name)
        try:
            arguments = read_arguments(call.args)
            is_told = tool.guard is not None or reducer is not None or batch.context.dry_run
            told = freeze(arguments) if is_told else _NOTHING
            arguments = _make(tool, arguments)
        except ArgumentsError as error:
            return ToolResult.failure(FailureCode.INPUT_INVALID, explain(tool, str(error)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  validators of somebody's types, which may even exit (rule R7)
            return ToolResult.failure(FailureCode.INPUT_INVALID, explain(tool, f"{describe(error)}."))
        if batch.context.dry_run:
            return _say(tool, told)
        seconds = self.default_timeout_seconds if tool.timeout_seconds is None else tool.timeout_seconds
        first = None
        if tool.capabilities or tool.guard is not None:
            first = partial(self._prepare, tool, call, told, batch, seconds)
        return Start(tool, arguments, told, batch.context, cap_chars, seconds, reducer, first)

    async def _prepare(
        self, tool: ExecutableTool, call: ToolCall, told: FrozenDict, batch: Batch, seconds: float | None
    ) -> ToolContext | ToolResult:
        """What the tool gets to run with, or why it does not run."""
        context = batch.context
        if tool.capabilities:
            try:
                context = await serve(tool, context, batch.attachments, self.backends, seconds)
            except UnservedError as error:
                return ToolResult.failure(FailureCode.NOT_AVAILABLE, str(error))
        if tool.guard is not None:
            guarding = Guarding(self.audit, seconds, _longer(seconds, self.default_timeout_seconds))
            if (refusal := await guarding.find_refusal(tool, tool.guard, call, told, context)) is not None:
                return ToolResult.failure(FailureCode.NOT_AVAILABLE, refusal)
        return context


def _make(tool: ExecutableTool, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a function is called with, of arguments that hold against its schema."""
    if tool.parse is not None:
        made = tool.parse(arguments)
    else:
        check_schema(tool.validator, arguments)
        made = arguments
    if tool.context_parameter in made:
        raise ArgumentsError(f"there is no argument {tool.context_parameter!r}.")  # that one is not the model's
    return made


class _Desk:
    """Says of names whether they may be called; asks each tool once a batch."""

    def __init__(self, gates: Gates, find: Find, shown: ShownNames) -> None:
        self._gates = gates
        self._find = find
        self._shown = shown
        self._said: dict[str, ExecutableTool | str] = {}
        self._unknown = 0

    def admit(self, name: str) -> ExecutableTool | str:
        """The tool of a name, or why it cannot be called."""
        said = self._said.get(name)
        if said is None:
            said = self._said[name] = self._ask(name)
        return said

    def own_cap(self, name: str) -> int | None:
        """What the results of a tool are limited to, be it admitted or not."""
        registered = self._find(name)
        return None if registered is None else registered.tool.max_result_chars

    def _ask(self, name: str) -> ExecutableTool | str:
        registered = self._find(name)
        if registered is None:
            return self._miss(name)
        refusal = self._gates.find_refusal(registered)
        return registered.tool if refusal is None else refusal

    def _miss(self, name: str) -> str:
        if len(name) > _NAME_CHARS:
            return f"Unknown tool: {name[:_NAME_CHARS]!r}..."
        self._unknown += 1
        hint = suggestion(name, self._shown()) if self._unknown <= _SUGGESTIONS else ""
        return f"Unknown tool: {name!r}.{hint}"


def _say(tool: ExecutableTool, told: Mapping[str, Any]) -> ToolResult:
    """What a dry run says."""
    arguments = json.dumps(told, ensure_ascii=False, default=lambda value: f"<{type(value).__name__}>")
    said = {"tool": tool.name, "args": told}
    return ToolResult(True, f"Dry run: {tool.name} would be called with {arguments}", structured=said)


def _longer(seconds: float | None, other: float | None) -> float | None:
    return None if seconds is None or other is None else max(seconds, other)


def _each(calls: Any) -> list[Any]:
    if calls is None:
        return []
    if isinstance(calls, ToolCall | Mapping | str | bytes):
        return [calls]
    try:
        return list(calls)
    except Exception:  # noqa: BLE001  anything at all may be given; it is one call, of no tool
        return [calls]


def _read_call(call: Any) -> ToolCall:
    try:
        return ToolCall.of(call)
    except Exception:  # noqa: BLE001  anything at all may be given; it is a call of no tool
        return ToolCall("", "", {})
