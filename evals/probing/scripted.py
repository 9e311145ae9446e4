"""What the scripts of checks are made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolbelt.evals.conversation import Exchange, Message, Reply, ToolUse
from toolbelt.evals.models.model import ModelError
from toolbelt.evals.probing.judging import Judge, Wanted
from toolbelt.evals.probing.kit import Kit
from toolbelt.evals.probing.steps import Answer, Ask, Judged, Next, Script, judge_failure


@dataclass(frozen=True, slots=True)
class Scripted:
    """A check that can be made.

    Attributes:
        script: How it goes on.
        ideal: What would be answered if all went well, in order: what it takes is counted by this before it is asked.
    """

    script: Script
    ideal: tuple[Reply, ...]


def expect_call(kit: Kit, ask: Ask, wanted: Wanted, works: str) -> Scripted:
    """A check of one request, which is to be answered by one call."""
    judge = Judge(ask.offer, kit.schemas)
    return ask_once(ask, lambda reply: judge.judge_call(reply, wanted, works), ideal_reply(wanted))


def ask_once(ask: Ask, judge: Callable[[Reply], Judged], ideal: Reply) -> Scripted:
    """A check of one request."""
    return Scripted(in_turn(ask, judge), (ideal,))


def in_turn(first: Ask, *turns: Callable[..., Next]) -> Script:
    """Asks, and goes on as each turn says, until one judges; a request without an answer ends it.

    Args:
        first: The first request.
        turns: One for each request; given its reply, after all replies before it.
    """

    def script(answers: Sequence[Answer]) -> Next:
        if not answers:
            return first
        if isinstance(last := answers[-1], ModelError):
            return judge_failure(last, len(answers) - 1)
        return turns[len(answers) - 1](*answers)

    return script


def order(wanted: Wanted, verb: str = "Call") -> str:
    """As plain as can be: this is about what the API and the model can do, not about what a user might mean."""
    arguments = (wanted.arguments or {}).items()
    values = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in arguments)
    return f"{verb} the tool {wanted.name} once, with these arguments: {values}."


def say(text: str) -> tuple[Message, ...]:
    """A user's message."""
    return ({"role": "user", "content": text},)


def result(**values: Any) -> str:
    """What a tool answers."""
    return json.dumps(values)


def ideal_reply(*wanted: Wanted) -> Reply:
    """A reply that makes these calls."""
    # Nine letters and digits: one provider takes no other ids.
    calls = tuple(
        ToolUse.from_text(f"call{number:05}", one.name, json.dumps(one.arguments or {}, ensure_ascii=False))
        for number, one in enumerate(wanted)
    )
    return Reply(calls=calls, finish_reason="tool_calls")


def exchanged(reply: Reply, *results: str) -> list[Message]:
    """A reply, and the result of each of its calls, as messages."""
    return Exchange(reply, results).to_messages()
