"""What was said between a model and the harness, in values that nobody can change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.providers.chat import NOTHING_REPORTED, Turn, Usage
from toolbelt.providers.hosted_search import list_searches
from toolbelt.providers.reply_forms import find_form

Message = Mapping[str, Any]
"""One message in OpenAI's form: `role`, `content`, `tool_calls`, `tool_call_id`; of an assistant also `turn`."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call that a model asked for.

    Attributes:
        id: The call's id, unique within its reply.
        name: As the model wrote it, which need not be the name of anything.
        text: The arguments as the model wrote them.
        arguments: The arguments; `None` where the text is no JSON object.
    """

    id: str
    name: str
    text: str
    arguments: Mapping[str, Any] | None

    @classmethod
    def from_text(cls, call_id: str, name: str, text: str) -> ToolUse:
        """Read the arguments; an empty text is an empty object, as some providers send it.

        Arguments that were encoded twice, as a text in JSON that holds the object, are read.
        """
        try:
            arguments = _DECODER.decode(text) if text.strip() else {}
            if isinstance(arguments, str):
                arguments = _DECODER.decode(arguments)
        except (ValueError, RecursionError):
            arguments = None
        return cls(call_id, name, text, arguments if isinstance(arguments, dict) else None)

    @property
    def is_double_encoded(self) -> bool:
        """Whether the arguments came as a text in JSON that holds an object."""
        return self.arguments is not None and self.text.lstrip().startswith('"')

    @property
    def message_part(self) -> dict[str, Any]:
        """As it stands in an assistant's message."""
        text = self.text if self.arguments is not None and self.text.strip() else "{}"
        if self.is_double_encoded:
            text = json.dumps(self.arguments)
        # Providers refuse a conversation that holds arguments which are no JSON.
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": text}}


def _refuse_constant(name: str) -> None:
    """`NaN` and `Infinity`, which Python reads, are no JSON: a provider refuses the conversation that repeats them."""
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
"""Made once: `json.loads` makes one for each text."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer to one request.

    Attributes:
        text: What it said; may be empty.
        calls: The calls it asked for, in order.
        usage: What it cost in tokens, as reported.
        finish_reason: As the provider words it.
        served_by: The model that answered, as the provider names it.
        latency_seconds: From sending the request to having the answer, without time spent queueing here.
        fingerprint: Of the build and settings that answered (`system_fingerprint`); empty where none is reported.
        hold_seconds: Until there is something left of the provider's limits; 0 where there is. It is not stored.
        thoughts: The model's reasoning, where the server keeps it apart. It is not stored.
        turn: The turn as the vendor sent it, where it is more than text and calls; it is sent back with them.
        dropped: Names of the parts of earlier turns that the model was not shown. They are stored beside the reply.
        is_last: Whether it is known to have called nothing after it, as of an answer given elsewhere. It is not stored.
    """

    text: str = ""
    calls: tuple[ToolUse, ...] = ()
    usage: Usage = NOTHING_REPORTED
    finish_reason: str = ""
    served_by: str = ""
    latency_seconds: float = 0.0
    fingerprint: str = ""
    hold_seconds: float = field(default=0.0, compare=False)
    thoughts: str = field(default="", compare=False, repr=False)
    turn: Turn | None = field(default=None, repr=False)
    dropped: tuple[str, ...] = field(default=(), compare=False)
    is_last: bool = field(default=False, compare=False)

    @property
    def searches(self) -> tuple[tuple[str, ...], ...]:
        """Wire names of the tools that each search of the vendor's own found in the course of it, the best first."""
        return list_searches(self.turn)

    @property
    def is_cut(self) -> bool:
        """Whether it ended at the token limit, so that more may have been meant to come."""
        return find_form(self.finish_reason).finish_reason == "length"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A reply and what came after it.

    Attributes:
        reply: What the model said.
        answers: What its calls were given, in order.
        follow_up: What the user said then, so that a turn ends here; empty for nothing.
    """

    reply: Reply
    answers: tuple[str, ...]
    follow_up: str = ""

    def to_messages(self) -> list[Message]:
        """In OpenAI's form: the assistant's message, one of each tool that it called, and the user's.

        What the vendor sent is beside the assistant's message, to be sent back in its place (rule V4).

        A reply of no words and no calls is left out: providers refuse an assistant's message with nothing in it.
        """
        calls = self.reply.calls
        messages: list[Message] = []
        turn = {} if self.reply.turn is None else {"turn": self.reply.turn}
        if calls:
            parts = [call.message_part for call in calls]
            messages.append({"role": "assistant", "content": self.reply.text or None, "tool_calls": parts, **turn})
        elif self.reply.text.strip():
            messages.append({"role": "assistant", "content": self.reply.text, **turn})
        messages.extend(
            {"role": "tool", "tool_call_id": call.id, "content": answer}
            for call, answer in zip(calls, self.answers, strict=True)
        )
        if self.follow_up:
            messages.append({"role": "user", "content": self.follow_up})
        return messages


@dataclass(frozen=True, slots=True)
class Conversation:
    """A case's messages and everything that followed.

    Attributes:
        opening: The messages of the case.
        exchanges: What was said since.
        epoch: Which time this is that the case is asked, 0-based: what is drawn for a trial is drawn by it.
    """

    opening: tuple[Message, ...]
    exchanges: tuple[Exchange, ...] = ()
    epoch: int = 0

    def extended(self, reply: Reply, answers: tuple[str, ...], follow_up: str = "") -> Conversation:
        """With one more exchange."""
        return Conversation(self.opening, (*self.exchanges, Exchange(reply, answers, follow_up)), self.epoch)

    def to_messages(self) -> list[Message]:
        """In OpenAI's form, for the next request."""
        messages: list[Message] = list(self.opening)
        for exchange in self.exchanges:
            messages.extend(exchange.to_messages())
        return messages
