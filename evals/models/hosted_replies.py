"""litellm's answers as replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from toolbelt.evals.conversation import Reply, ToolUse, Usage
from toolbelt.evals.models.hosted_errors import clean_message, remove_secrets
from toolbelt.evals.models.model import Failure, ModelError

_FILTERED = "content_filter"
_MOST_TOKENS = 10**12
"""No request has more; what a server says beyond it is no count."""


def make_reply(response: Any, latency_seconds: float, secrets: Collection[str] = ()) -> Reply:
    """Read an answer.

    Args:
        response: litellm's `ModelResponse`.
        latency_seconds: How long it took.
        secrets: Keys in use, which are taken out wherever the answer repeats them: it is kept.

    Raises:
        ModelError: it holds no answer, or the provider or the model refused.
    """
    choices = getattr(response, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        raise ModelError(Failure.BROKEN_ANSWER, "The answer has no choices.", latency_seconds=latency_seconds)

    def clean(text: str) -> str:
        return remove_secrets(text, secrets)

    finish_reason = clean(str(getattr(choice, "finish_reason", None) or ""))
    text = clean(_text(getattr(message, "content", None)))
    calls = _calls(message, clean)
    refusal = _refusal(message)
    if refusal or (finish_reason == _FILTERED and not calls):
        said = clean_message(refusal or text, secrets) or "The content filter stopped the answer."
        usage = make_usage(getattr(response, "usage", None))
        raise ModelError(Failure.REFUSED, said, latency_seconds=latency_seconds, usage=usage)
    return Reply(
        text=text,
        calls=calls,
        usage=make_usage(getattr(response, "usage", None)),
        finish_reason=finish_reason,
        served_by=clean(str(getattr(response, "model", None) or "")),
        latency_seconds=latency_seconds,
    )


def make_usage(usage: Any) -> Usage:
    """Tokens as reported.

    litellm writes zeros where a provider says nothing; no request has a prompt of no tokens.
    """
    prompt = _count(usage, "prompt_tokens")
    if not prompt:
        return Usage()
    details = getattr(usage, "prompt_tokens_details", None)
    read = _count(details, "cached_tokens")
    written = _count(details, "cache_creation_tokens") or _count(details, "cache_write_tokens")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=_count(usage, "completion_tokens"),
        cached_read_tokens=_count(usage, "cache_read_input_tokens") if read is None else read,
        cached_write_tokens=_count(usage, "cache_creation_input_tokens") if written is None else written,
    )


def _count(holder: Any, name: str) -> int | None:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def _text(content: Any) -> str:
    if isinstance(content, list):  # parts, as some providers send them
        parts = (part.get("text") if isinstance(part, dict) else None for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _refusal(message: Any) -> str:
    said = getattr(message, "refusal", None)
    if not said:
        fields = getattr(message, "provider_specific_fields", None)
        said = fields.get("refusal") if isinstance(fields, dict) else None
    return said if isinstance(said, str) else ""


def _calls(message: Any, clean: Callable[[str], str]) -> tuple[ToolUse, ...]:
    asked = [(getattr(call, "id", None), getattr(call, "function", None)) for call in message.tool_calls or ()]
    if not asked and (old := getattr(message, "function_call", None)) is not None:
        asked = [(None, old)]
    calls: list[ToolUse] = []
    taken: set[str] = set()
    for number, (call_id, function) in enumerate(asked):
        if function is None:
            continue  # a call of something that is no function
        unique = _unique(clean(call_id) if isinstance(call_id, str) else "", number, taken)
        name = clean(str(getattr(function, "name", None) or ""))
        calls.append(ToolUse.from_text(unique, name, clean(_argument_text(getattr(function, "arguments", None)))))
    return tuple(calls)


def _unique(call_id: str, number: int, taken: set[str]) -> str:
    """An id that no other call of the reply has; the provider's own wherever that is one."""
    wanted = call_id or f"call_{number}"
    while wanted in taken:
        wanted = f"{wanted}_{number}"
    taken.add(wanted)
    return wanted


def _argument_text(arguments: Any) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
