"""What serves the capabilities that a tool declares, found for one call (rule R6)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.asking import UnansweredError, ask
from toolbelt.runtime.context import Capability, ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.guards import AuditRecord, AuditSink, Guard, GuardDecision, GuardVerdict, refuse
from toolbelt.runtime.results import ToolCall, describe


class UnservedError(Exception):
    """A backend could not be had; says why in a sentence for the model."""


async def serve(
    tool: ExecutableTool,
    context: ToolContext,
    attachments: tuple[Any, ...],
    backends: Mapping[str, Any],
    seconds: float | None,
) -> ToolContext:
    """The context that a tool gets: with the backends of what it declares, and the attachments if it declares those.

    Args:
        tool: Whose capabilities all have a backend.
        context: Of the batch, without backends and attachments.
        attachments: Of the turn.
        backends: By capability. What can be called is called with the tool and its context so far.
        seconds: How long each may take.

    Raises:
        UnservedError: a backend raised, or took too long.
    """
    if Capability.ATTACHMENTS in tool.capabilities:
        context = replace(context, attachments=attachments)
    found = {}
    for capability in sorted(tool.capabilities):
        backend = backends[capability]
        if callable(backend):
            try:
                backend = await ask(backend, tool, context, seconds=seconds)
            except UnansweredError as error:
                raise UnservedError(
                    f"{tool.name} is not currently available: what provides {capability} here {error}."
                ) from None
        found[capability.value] = backend
    return replace(context, backends=FrozenDict(found))


@dataclass(frozen=True, slots=True)
class Guarding:
    """How guards are asked.

    Attributes:
        audit: Gets every decision, on the event loop, before the tool runs; `None` for none.
        guard_seconds: How long a guard may take; `None` for no limit.
        person_seconds: Likewise the person it refers to.
    """

    audit: AuditSink | None
    guard_seconds: float | None
    person_seconds: float | None

    async def find_refusal(
        self, tool: ExecutableTool, guard: Guard, call: ToolCall, arguments: Mapping[str, Any], context: ToolContext
    ) -> str | None:
        """Why a call is not made, in a sentence for the model; `None` where it is.

        Args:
            tool: Which is called.
            guard: Of the tool.
            call: By which.
            arguments: As the model gave them, in values that cannot be changed.
            context: As the tool gets it.
        """
        decision = await self._decide(guard, arguments, context)
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
                is_allowed, reason = await self._confirm(tool, decision.reason, context)
            except asyncio.CancelledError:
                # The guard has decided: that is on record, whatever becomes of the person's word.
                await self._record(replace(record, reason=f"cancelled before an answer came: {reason}"))
                raise
            record = replace(record, allowed=is_allowed, reason=reason)
        if (fault := await self._record(record)) is not None:
            return f"{tool.name} was not called: the decision could not be recorded ({fault})."
        if is_allowed:
            return None
        return f"{tool.name} was not called: {reason}" if reason else f"{tool.name} was not called: it was refused."

    async def _decide(self, guard: Guard, arguments: Mapping[str, Any], context: ToolContext) -> GuardDecision:
        try:
            decision = await ask(guard, arguments, context, seconds=self.guard_seconds)
        except UnansweredError as error:
            return refuse(f"its guard {error}.")
        if not isinstance(decision, GuardDecision) or not isinstance(decision.reason, str):
            return refuse(f"its guard gave no decision, but {type(decision).__name__}.")
        if decision.verdict not in tuple(GuardVerdict):
            return refuse("its guard gave no verdict that is known.")
        return GuardDecision(GuardVerdict(decision.verdict), decision.reason)

    async def _confirm(self, tool: ExecutableTool, question: str, context: ToolContext) -> tuple[bool, str]:
        question = question or f"May {tool.name} be called?"
        if context.confirm is None:
            return False, f"it needs confirmation, and there is nobody to ask: {question}"
        try:
            answer = await ask(context.confirm, question, seconds=self.person_seconds, aloud=True)
        except UnansweredError as error:
            return False, f"it needs confirmation, and asking for it {error}: {question}"
        if answer is True:
            return True, f"confirmed: {question}"
        if answer is False:
            return False, f"it needs confirmation, which was not given: {question}"
        return False, f"it needs confirmation, and the answer was neither yes nor no: {question}"

    async def _record(self, record: AuditRecord) -> str | None:
        """Why a decision could not be recorded; `None` where it was."""
        if self.audit is None:
            return None
        try:
            returned: object = self.audit(record)
            if inspect.isawaitable(returned):  # a sink that is async records once it is awaited
                await ask(_itself, returned, seconds=self.guard_seconds)
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise
        except UnansweredError as error:
            return f"recording it {error}"
        except BaseException as error:  # noqa: BLE001  somebody's sink: what is not recorded is not done
            return describe(error)
        return None


def _itself(awaitable: Any) -> Any:
    return awaitable
