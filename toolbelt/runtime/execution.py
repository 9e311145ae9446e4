"""What happens to a batch of calls: admitted, planned, run, and answered in order (rules R3, R4, R6, R7)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from toolbelt.catalog.frozen import FrozenDict, freeze
from toolbelt.errors import suggestion
from toolbelt.runtime.arguments import ArgumentsError, check_schema, describe_arguments_error, read_arguments
from toolbelt.runtime.availability import QUICK_SECONDS
from toolbelt.runtime.batch import PlannedCall, run_batch
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import Gates, RegisteredTool, find_missing_backends, read_availability
from toolbelt.runtime.guards import AuditSink
from toolbelt.runtime.preparation import prepare_call
from toolbelt.runtime.reducers.reducer import ReducerRegistry
from toolbelt.runtime.results import (
    CallResult,
    FailureCode,
    ToolCall,
    ToolResult,
    chars_per_call,
    describe_error,
    limit_result,
    max_chars_of_call,
)
from toolbelt.runtime.threads import FunctionOutcome
from toolbelt.runtime.time_limits import choose_time_limit

_MAX_NAME_CHARS = 100
_MAX_SUGGESTIONS = 10
"""Unknown names of a batch that get a suggestion. Finding one takes longer than everything else."""
_NO_ARGUMENTS = FrozenDict()

Find = Callable[[str], RegisteredTool | None]
"""From a name that the model wrote to a tool."""
ShownNames = Callable[[], Iterable[str]]
"""The names of the tools that the model is shown; no message names another."""


@dataclass(frozen=True, slots=True)
class BatchRunner:
    """Runs the calls of one answer of a model.

    Attributes:
        gates: Decide whether a tool may be called.
        find: Finds the tool of a name.
        shown_names: For suggestions.
        context: Of all calls, without attachments and backends, which only some tools get.
        attachments: Of the turn.
        backends: By the name of the capability that they serve.
        reducers: Of results; `None` for none.
        audit: Gets every decision of a guard; `None` for none.
        default_timeout_seconds: The time limit of tools that have none; `None` for no limit.
    """

    gates: Gates
    find: Find
    shown_names: ShownNames
    context: ToolContext
    attachments: tuple[Any, ...]
    backends: Mapping[str, Any]
    reducers: ReducerRegistry | None
    audit: AuditSink | None
    default_timeout_seconds: float | None

    async def run(self, calls: Sequence[ToolCall]) -> list[CallResult]:
        """A result for each call, in order.

        Every call is checked before the first one runs, so a call never sees what another of its batch changes.

        Raises:
            asyncio.CancelledError: the batch was cancelled; what ran is cancelled too.
        """
        shared_chars = chars_per_call(self.context.result_budget_chars, len(calls))
        admission = Admission(self.gates, self.find, self.shown_names)
        questions = admission.ask_tools({call.name for call in calls})
        open_questions = await _wait_briefly(questions) if questions else {}
        planned: list[PlannedCall | ToolResult] = []
        for call in calls:
            tool = admission.admit(call.name)
            if isinstance(tool, ExecutableTool):
                # A session's own answers are JSON, which a cut to one call's share would break.
                budget_chars = self.context.result_budget_chars if tool.of_session else shared_chars
                max_chars = max_chars_of_call(budget_chars, tool.max_result_chars)
                plan = self._plan(tool, call, max_chars)
                if open_questions and (question := open_questions.get(tool.name)) is not None:
                    plan = self._wait_for(question, tool, plan, max_chars)
                planned.append(plan)
            else:
                max_chars = max_chars_of_call(shared_chars, admission.find_max_result_chars(call.name))
                planned.append(limit_result(ToolResult.failure(FailureCode.NOT_AVAILABLE, tool), max_chars))
        results = await run_batch(planned)
        return [CallResult(call.tool_call_id, call.name, result) for call, result in zip(calls, results, strict=True)]

    def _plan(self, tool: ExecutableTool, call: ToolCall, max_chars: int) -> PlannedCall | ToolResult:
        """The call as it is to be run, or its result where it is not run."""
        if tool.capabilities and (missing := find_missing_backends(tool, self.backends)) is not None:
            return limit_result(ToolResult.failure(FailureCode.NOT_AVAILABLE, str(missing)), max_chars)
        reducer = None if self.reducers is None else self.reducers.get(tool.name)
        is_shared = tool.guard is not None or reducer is not None or self.context.dry_run
        try:
            arguments = read_arguments(call.args)
            frozen_arguments = freeze(arguments) if is_shared else _NO_ARGUMENTS
            arguments = _parse_arguments(tool, arguments)
        except ArgumentsError as error:
            return _refuse_arguments(tool, str(error), max_chars)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  validators of someone else's types, which may even exit (rule R7)
            return _refuse_arguments(tool, f"{describe_error(error)}.", max_chars)
        if self.context.dry_run:
            return limit_result(_describe_dry_run(tool, frozen_arguments), max_chars)
        timeout_seconds = choose_time_limit(tool.timeout_seconds, self.default_timeout_seconds)
        prepare = None
        if tool.capabilities or tool.guard is not None:
            prepare = partial(
                prepare_call,
                tool,
                call,
                frozen_arguments,
                self.context,
                self.attachments,
                backends=self.backends,
                audit=self.audit,
                timeout_seconds=timeout_seconds,
                person_timeout_seconds=_longer(timeout_seconds, self.default_timeout_seconds),
            )
        return PlannedCall(
            tool, arguments, frozen_arguments, self.context, max_chars, timeout_seconds, reducer, prepare
        )

    def _wait_for(
        self, question: Future[FunctionOutcome], tool: ExecutableTool, plan: PlannedCall | ToolResult, max_chars: int
    ) -> PlannedCall:
        """The call as it is to be run once its tool has said that it is available."""
        if isinstance(plan, PlannedCall):
            return replace(plan, question=question)
        timeout_seconds = choose_time_limit(tool.timeout_seconds, self.default_timeout_seconds)
        return PlannedCall(
            tool, {}, _NO_ARGUMENTS, self.context, max_chars, timeout_seconds, None, None, question, known=plan
        )


def read_calls(calls: Any) -> tuple[ToolCall, ...]:
    """The calls of any argument of `execute_parallel`; an unreadable one is a call of no tool."""
    if calls is None:
        return ()
    if isinstance(calls, ToolCall | Mapping | str | bytes):
        calls = [calls]
    try:
        calls = list(calls)
    except Exception:  # noqa: BLE001  anything may be given; it is one call, of no tool
        calls = [calls]
    return tuple(map(_read_call, calls))


def _read_call(call: Any) -> ToolCall:
    try:
        return ToolCall.of(call)
    except Exception:  # noqa: BLE001  anything may be given; it is a call of no tool
        return ToolCall("", "", {})


def split_attachments(context: ToolContext, attachments: Sequence[Any]) -> tuple[ToolContext, tuple[Any, ...]]:
    """The context without attachments and backends, which only some tools get, and the attachments."""
    if context.attachments or context.backends:
        attachments = tuple(attachments or ()) or context.attachments
        context = replace(context, attachments=(), backends=FrozenDict())
    return context, tuple(attachments or ())


class Admission:
    """Decides which names may be called; asks each tool once per batch whether it is available."""

    def __init__(self, gates: Gates, find: Find, shown_names: ShownNames) -> None:
        self._gates = gates
        self._find = find
        self._shown_names = shown_names
        self._decisions: dict[str, ExecutableTool | str] = {}
        self._questions: dict[str, Future[FunctionOutcome]] = {}
        self._unknown_count = 0

    def ask_tools(self, names: Iterable[str]) -> Mapping[str, Future[FunctionOutcome]]:
        """Ask the tools that may be called whether they are available, all at once; the questions by tool."""
        for name in names:
            registered = self._find(name)
            if (
                registered is not None
                and registered.tool.availability is not None
                and registered.tool.name not in self._questions
                and self._gates.find_exclusion(registered) is None
            ):
                self._questions[registered.tool.name] = registered.tool.availability.ask()
        return self._questions

    def admit(self, name: str) -> ExecutableTool | str:
        """The tool of the name, or the reason why it cannot be called."""
        decision = self._decisions.get(name)
        if decision is None:
            decision = self._decisions[name] = self._decide(name)
        return decision

    def find_max_result_chars(self, name: str) -> int | None:
        """The size limit of a tool's results, whether it may be called or not."""
        registered = self._find(name)
        return None if registered is None else registered.tool.max_result_chars

    def _decide(self, name: str) -> ExecutableTool | str:
        registered = self._find(name)
        if registered is None:
            return self._describe_unknown(name)
        refusal = self._gates.find_exclusion(registered)
        question = self._questions.get(registered.tool.name)
        if refusal is None and question is not None and question.done():
            refusal = read_availability(registered.tool, question.result())
        return registered.tool if refusal is None else str(refusal)

    def _describe_unknown(self, name: str) -> str:
        if len(name) > _MAX_NAME_CHARS:
            return f"Unknown tool: {name[:_MAX_NAME_CHARS]!r}..."
        self._unknown_count += 1
        hint = suggestion(name, self._shown_names()) if self._unknown_count <= _MAX_SUGGESTIONS else ""
        return f"Unknown tool: {name!r}.{hint}"


async def _wait_briefly(questions: Mapping[str, Future[FunctionOutcome]]) -> Mapping[str, Future[FunctionOutcome]]:
    """Wait for the tools that answer quickly; returns the questions that are still open, by tool.

    No tool of the batch runs meanwhile, so that none changes the answer of another.
    """
    answers = [asyncio.wrap_future(question) for question in questions.values()]
    _, slow = await asyncio.wait(answers, timeout=QUICK_SECONDS)
    for answer in slow:  # nobody waits for it; the question goes on
        answer.cancel()
    return {name: question for name, question in questions.items() if not question.done()}


def _parse_arguments(tool: ExecutableTool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the function; raises `ArgumentsError` where they do not match the schema."""
    if tool.parse is not None:
        parsed = tool.parse(arguments)
    else:
        check_schema(tool.validator, arguments)
        parsed = arguments
    if tool.context_parameter in parsed:
        raise ArgumentsError(f"there is no argument {tool.context_parameter!r}.")  # that one is not the model's
    return parsed


def _refuse_arguments(tool: ExecutableTool, message: str, max_chars: int) -> ToolResult:
    result = ToolResult.failure(FailureCode.INPUT_INVALID, describe_arguments_error(tool, message))
    return limit_result(result, max_chars)


def _describe_dry_run(tool: ExecutableTool, arguments: Mapping[str, Any]) -> ToolResult:
    text = json.dumps(arguments, ensure_ascii=False, default=lambda value: f"<{type(value).__name__}>")
    call = {"tool": tool.name, "args": arguments}
    return ToolResult(True, f"Dry run: {tool.name} would be called with {text}", structured=call)


def _longer(seconds: float | None, other: float | None) -> float | None:
    return None if seconds is None or other is None else max(seconds, other)
