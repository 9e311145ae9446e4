"""Guards: asked before a tool runs, and what they may say (rule K7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from toolbelt.runtime.context import ToolContext


class GuardVerdict(StrEnum):
    """What a guard may say."""

    ALLOW = "allow"
    REFUSE = "refuse"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class GuardDecision:
    """What a guard says about one call.

    Attributes:
        verdict: Whether the call is made.
        reason: Why it is refused, or what a person is asked.
    """

    verdict: GuardVerdict
    reason: str = ""


ALLOW = GuardDecision(GuardVerdict.ALLOW)
"""Let it be called."""


def refuse(reason: str) -> GuardDecision:
    """Do not let it be called; the model is told why."""
    return GuardDecision(GuardVerdict.REFUSE, reason)


def ask_person(question: str) -> GuardDecision:
    """Let a person decide."""
    return GuardDecision(GuardVerdict.CONFIRM, question)


Guard = Callable[[Mapping[str, Any], ToolContext], GuardDecision | Awaitable[GuardDecision]]
"""Gets the arguments, as the model gave them, and the context; sync or async. One that raises refuses."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One decision about one call.

    Attributes:
        tool: Name of the tool.
        tool_call_id: Of the call.
        arguments: As the model gave them.
        session_id: Of the conversation.
        agent: Who called.
        verdict: What the guard said.
        allowed: Whether the call was made, after a person was asked where one was to be.
        reason: Why, as far as anybody said.
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
"""Gets every decision; sync or async, and then awaited. Where it raises, the call is not made: what cannot be recorded
must not happen."""
