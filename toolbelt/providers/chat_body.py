"""The body of a request in OpenAI's form: what the direct client sends, and the key of a recorded response."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from toolbelt.providers.chat import TOOL_CHOICES, ChatRequest, Sampling

_HALF = re.compile(r"[\ud800-\udfff]")
"""Half a surrogate pair: Python and JSON can hold it, but UTF-8 cannot, so it cannot be sent."""
_HALF_SPELLED = re.compile(r"\\u[dD][89a-fA-F]")
_INSTEAD = "\ufffd"
_to_json = json.JSONEncoder(separators=(",", ":")).encode
"""Made once: `json.dumps` makes an encoder for each value."""
STRIPS_SCHEMAS = frozenset({"hosted_vllm"})
"""Providers for which litellm removes `strict` and `additionalProperties: false` from definitions."""


SENT_BACK = frozenset({"reasoning_content", "reasoning", "reasoning_details", "extra_content"})
"""Parts of an assistant's message that servers of OpenAI's form take back under the name they sent them by."""
SENT_BACK_DIRECTLY = SENT_BACK | {"content", "thinking", "thinking_blocks", "provider_specific_fields"}
"""Likewise, at an address of the user's: its server, or its proxy, sent them."""


def chat_body(model: str, request: ChatRequest, provider: str = "openai") -> bytes:
    """The body as JSON, in ASCII. The definitions in it are written once per `ToolDefinitions`.

    Args:
        model: As the endpoint knows it.
        request: What is asked.
        provider: litellm's name of it; some get definitions with parts removed.
    """
    settings: dict[str, Any] = {
        "model": model,
        "messages": [chat_message(message, SENT_BACK_DIRECTLY) for message in request.messages],
    }
    settings |= sampling_fields(request.sampling)
    tools = request.tools
    if not tools.definitions:
        return write_body(settings)
    if request.sampling.tool_choice is not None:
        settings["tool_choice"] = choice_field(request.sampling.tool_choice)
    return write_body(settings, tools.stripped_body if provider in STRIPS_SCHEMAS else tools.body)


def write_body(fields: Mapping[str, Any], tools: bytes | None = None) -> bytes:
    """A body as JSON, in ASCII, with the definitions as they were written before."""
    text = _to_json(fields)
    if "\\ud" in text or "\\uD" in text:  # halves, or pairs: the slow way finds out
        text = _to_json(sendable(fields))
    return text.encode() if tools is None else b"".join((text[:-1].encode(), b',"tools":', tools, b"}"))


def chat_message(message: Mapping[str, Any], sent_back: Collection[str]) -> dict[str, Any]:
    """A message as chat completions have it, with those parts of its turn that are sent back."""
    plain = {key: value for key, value in message.items() if key != "turn"}
    turn = message.get("turn")
    if turn is None or turn["api"] != "chat":
        return plain
    plain |= {name: value for name, value in turn["message"].items() if name in sent_back}
    if "tool_calls" in plain:
        parts = chain(turn["calls"], repeat({}))  # a file may hold fewer
        plain["tool_calls"] = [
            {**call, **{name: value for name, value in further.items() if name in sent_back}}
            for call, further in zip(plain["tool_calls"], parts, strict=False)
        ]
    return plain


def find_dropped(messages: Sequence[Mapping[str, Any]], api: str, sent_back: Collection[str] = ()) -> tuple[str, ...]:
    """Names of the parts of earlier turns that are not sent back.

    Args:
        messages: The conversation.
        api: That is asked; a turn that came over another one is sent by its text and calls alone.
        sent_back: Parts that are sent back over chat completions.
    """
    dropped: set[str] = set()
    for turn in filter(None, (message.get("turn") for message in messages)):
        if turn["api"] != api:
            dropped.add(f"turns over {turn['api']}")
        elif api == "chat":
            dropped.update(name for part in (turn["message"], *turn["calls"]) for name in part if name not in sent_back)
    return tuple(sorted(dropped))


def sampling_fields(sampling: Sampling) -> dict[str, Any]:
    """The settings that are not left to the provider, but for the tool choice."""
    fields = {
        "temperature": sampling.temperature,
        "seed": sampling.seed,
        "max_tokens": sampling.max_tokens,
        "reasoning_effort": sampling.effort,
    }
    return {name: value for name, value in fields.items() if value is not None} | dict(sampling.params or {})


def choice_field(choice: str) -> str | dict[str, Any]:
    """The value of `tool_choice`."""
    return choice if choice in TOOL_CHOICES else {"type": "function", "function": {"name": choice}}


def sendable(value: Any) -> Any:
    """A deep copy of a message, in plain dicts and lists, with U+FFFD for characters that UTF-8 cannot hold.

    Models do write such things, in names and in arguments, and are to be told what they wrote. In the arguments of
    calls halves spelled out (`\\ud800`) are replaced, too: for some providers litellm reads them, and sends values.
    """
    if isinstance(value, dict):
        return {
            sendable(key): _arguments(item) if key == "arguments" else sendable(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [sendable(item) for item in value]
    if isinstance(value, str) and not value.isascii():
        return _HALF.sub(_INSTEAD, value)
    return value


def _arguments(value: Any) -> Any:
    if not isinstance(value, str) or not _HALF_SPELLED.search(value):
        return sendable(value)
    try:
        read = json.loads(value)
        whole = sendable(read)  # pairs, spelled as two halves, are one character once they are read
        return value if whole == read else json.dumps(whole, ensure_ascii=False)
    except (ValueError, RecursionError):
        return sendable(value)
