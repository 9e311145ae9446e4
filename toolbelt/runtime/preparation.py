"""What happens to a call before its tool runs: backends are opened, the guard and a person are asked (rules R6, K7).

Whatever goes wrong here, the tool does not run.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog import Tool
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.context import Capability, ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.guards import AuditRecord, AuditSink, Guard, GuardDecision, GuardVerdict, refuse
from toolbelt.runtime.results import FailureCode, ToolCall, ToolResult, describe_error
from toolbelt.runtime.time_limits import NoAnswerError, call_with_time_limit


async def prepare_call(
    tool: ExecutableTool,
    call: ToolCall,
    arguments: FrozenDict,
    context: ToolContext,
    attachments: tuple[Any, ...],
    *,
    backends: Mapping[str, Any],
    audit: AuditSink | None,
    timeout_seconds: float | None,
    person_timeout_seconds: float | None,
) -> ToolContext | ToolResult:
    """The context that the tool runs with, or the result where it must not run.

    Args:
        tool: The tool.
        call: The model's call.
        arguments: As the model gave them, in values that cannot be changed.
        context: Of the batch, without backends and attachments.
        attachments: Of the turn.
        backends: By the name of the capability that they serve.
        audit: Gets every decision of a guard; `None` for none.
        timeout_seconds: The time limit of each backend and of the guard; `None` for no limit.
        person_timeout_seconds: The time limit of a person's confirmation; `None` for no limit.
    """
    if tool.capabilities:
        try:
            context = await open_backends(tool, context, attachments, backends, timeout_seconds)
        except BackendError as error:
            return ToolResult.failure(FailureCode.NOT_AVAILABLE, str(error))
    if tool.guard is not None:
        check = GuardCheck(audit, timeout_seconds, person_timeout_seconds)
        if (refusal := await check.find_refusal(tool, tool.guard, call, arguments, context)) is not None:
            return ToolResult.failure(FailureCode.NOT_AVAILABLE, refusal)
    return context


class BackendError(Exception):
    """A backend cannot be had; the message is a sentence for the model."""


async def open_backends(
    tool: ExecutableTool,
    context: ToolContext,
    attachments: tuple[Any, ...],
    backends: Mapping[str, Any],
    timeout_seconds: float | None,
) -> ToolContext:
    """The context with the backends of the tool's capabilities, and with the attachments if it declares those.

    Args:
        tool: All of its capabilities have a backend.
        context: Of the batch, without backends and attachments.
        attachments: Of the turn.
        backends: By capability. One that is callable is called with the tool and the context.
        timeout_seconds: The time limit of each such call.

    Raises:
        BackendError: a backend raised, or took too long.
    """
    if Capability.ATTACHMENTS in tool.capabilities:
        context = replace(context, attachments=attachments)
    opened = {}
    for capability in sorted(tool.capabilities):
        backend = backends[capability]
        if callable(backend):
            try:
                backend = await call_with_time_limit(backend, tool, context, seconds=timeout_seconds)
            except NoAnswerError as error:
                raise BackendError(
                    f"{tool.name} is not currently available: what provides {capability} here {error}."
                ) from None
        opened[capability.value] = backend
    return replace(context, backends=FrozenDict(opened))


@dataclass(frozen=True, slots=True)
class GuardCheck:
    """Asks guards, and records their decisions.

    Attributes:
        audit: Gets every decision, on the event loop, before the tool runs; `None` for none.
        guard_seconds: The time limit of a guard, and of an async audit sink; `None` for no limit.
        person_seconds: The time limit of a person's confirmation; `None` for no limit.
    """

    audit: AuditSink | None
    guard_seconds: float | None
    person_seconds: float | None

    async def find_refusal(
        self, tool: Tool, guard: Guard, call: ToolCall, arguments: Mapping[str, Any], context: ToolContext
    ) -> str | None:
        """Why the tool must not run, in a sentence for the model; `None` where it may.

        Args:
            tool: The tool.
            guard: Of the tool.
            call: The model's call.
            arguments: As the model gave them, in values that cannot be changed.
            context: As the tool gets it.
        """
        decision = await self._ask_guard(guard, arguments, context)
        is_allowed, reason = decision.verdict is GuardVerdict.ALLOW, decision.reason
        record = AuditRecord(
            tool=tool.name,
            tool_call_id=call.tool_call_id,
            arguments=arguments,
            session_id=context.session_id,
            agent=context.agent,
            verdict=decision.verdict,
            allowed=is_allowed,
            reason=reason,
        )
        if decision.verdict is GuardVerdict.CONFIRM:
            try:
                is_allowed, reason = await self._ask_person(tool, decision.reason, context)
            except asyncio.CancelledError:
                # The guard has decided, and that is recorded, whatever the person would have said.
                await self._record(replace(record, reason=f"cancelled before an answer came: {reason}"))
                raise
            record = replace(record, allowed=is_allowed, reason=reason)
        if (failure := await self._record(record)) is not None:
            return f"{tool.name} was not called: the decision could not be recorded ({failure})."
        if is_allowed:
            return None
        return f"{tool.name} was not called: {reason}" if reason else f"{tool.name} was not called: it was refused."

    async def _ask_guard(self, guard: Guard, arguments: Mapping[str, Any], context: ToolContext) -> GuardDecision:
        try:
            decision = await call_with_time_limit(guard, arguments, context, seconds=self.guard_seconds)
        except NoAnswerError as error:
            return refuse(f"its guard {error}.")
        if not isinstance(decision, GuardDecision) or not isinstance(decision.reason, str):
            return refuse(f"its guard gave no decision, but {type(decision).__name__}.")
        if decision.verdict not in tuple(GuardVerdict):
            return refuse("its guard gave no verdict that is known.")
        return GuardDecision(GuardVerdict(decision.verdict), decision.reason)

    async def _ask_person(self, tool: Tool, question: str, context: ToolContext) -> tuple[bool, str]:
        question = question or f"May {tool.name} be called?"
        if context.confirm is None:
            return False, f"it needs confirmation, and there is nobody to ask: {question}"
        try:
            answer = await call_with_time_limit(
                context.confirm, question, seconds=self.person_seconds, interactive=True
            )
        except NoAnswerError as error:
            return False, f"it needs confirmation, and asking for it {error}: {question}"
        if answer is True:
            return True, f"confirmed: {question}"
        if answer is False:
            return False, f"it needs confirmation, which was not given: {question}"
        return False, f"it needs confirmation, and the answer was neither yes nor no: {question}"

    async def _record(self, record: AuditRecord) -> str | None:
        """Why the decision could not be recorded; `None` where it was."""
        if self.audit is None:
            return None
        try:
            returned: object = self.audit(record)
            if inspect.isawaitable(returned):
                await call_with_time_limit(lambda: returned, seconds=self.guard_seconds)
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise
        except NoAnswerError as error:
            return f"recording it {error}"
        except BaseException as error:  # noqa: BLE001  someone else's sink: what is not recorded must not happen
            return describe_error(error)
        return None
