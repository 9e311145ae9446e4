"""Guards, which are asked before a tool runs: their decisions and the audit of these (rule K7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolbelt.runtime.context import ToolContext


class GuardVerdict(StrEnum):
    """The verdict of a guard."""

    ALLOW = "allow"
    REFUSE = "refuse"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class GuardDecision:
    """The decision of a guard about one call.

    Attributes:
        verdict: Whether the tool may run.
        reason: Why it is refused, or the question for a person.
    """

    verdict: GuardVerdict
    reason: str = ""


ALLOW = GuardDecision(GuardVerdict.ALLOW)
"""Let the tool run."""


def refuse(reason: str) -> GuardDecision:
    """Do not let the tool run; the model gets the reason."""
    return GuardDecision(GuardVerdict.REFUSE, reason)


def ask_person(question: str) -> GuardDecision:
    """Let a person decide."""
    return GuardDecision(GuardVerdict.CONFIRM, question)


Guard = Callable[[Mapping[str, Any], ToolContext], GuardDecision | Awaitable[GuardDecision]]
"""Gets the arguments, as the model gave them, and the context; sync or async. A guard that raises refuses."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One decision about one call.

    Attributes:
        tool: Name of the tool.
        tool_call_id: Of the call.
        arguments: As the model gave them.
        session_id: Of the conversation.
        agent: Who called.
        verdict: Of the guard.
        allowed: Whether the tool may run, after a person was asked if the guard wanted that.
        reason: Of the decision; may be empty.
    """

    tool: str
    tool_call_id: str
    arguments: Mapping[str, Any]
    session_id: str | None
    agent: str | None
    verdict: GuardVerdict
    allowed: bool
    reason: str = ""


AuditSink = Callable[[AuditRecord], Awaitable[None] | None]
"""Gets every decision; sync or async. If it raises, the tool does not run: what cannot be recorded must not happen."""
