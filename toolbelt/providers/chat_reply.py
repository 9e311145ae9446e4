"""Answers as replies, whichever transport they came over."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from toolbelt.providers.chat import ChatCall, ChatReply, Failure, ModelError, Turn, Usage
from toolbelt.providers.direct_answers import WHOLE_CONTENT, has_error, read_text
from toolbelt.providers.provider_errors import clean_message, make_answer_error, remove_secrets
from toolbelt.providers.reply_forms import find_form

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""Fields of a message with the model's reasoning, as servers name them."""
_OF_A_MESSAGE = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio", "error"}
)
_OF_A_CALL = frozenset({"id", "type", "index", "function", "caller"})
"""Fields that are read, or are no part of what the model said. The caller of a client's tool is always the model."""
_MOST_TOKENS = 10**12
"""No request has more tokens; a larger reported number is invalid."""


def make_reply(
    response: Any,
    latency_seconds: float,
    secrets: Collection[str],
    hold_seconds: float,
    turn: Turn | None = None,
    dropped: tuple[str, ...] = (),
) -> ChatReply:
    """Read an answer.

    Args:
        response: litellm's `ModelResponse`, or what `read_answer` returned.
        latency_seconds: Duration of the request.
        secrets: Keys in use; they are removed from the answer, because it is stored.
        hold_seconds: Until there is something left of the provider's limits.
        turn: The assistant's turn as it came; `None` to find what a message of chat completions has of it.
        dropped: Names of the parts of earlier turns that were not sent back.

    Raises:
        ModelError: by its form (`toolbelt.providers.reply_forms`) the response is no answer.
    """
    choices = read_field(response, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = read_field(choice, "message")
    if message is None:
        raise ModelError(Failure.BROKEN_ANSWER, "The answer has no choices.", latency_seconds=latency_seconds)

    def clean(text: str) -> str:
        return remove_secrets(text, secrets) if secrets else text

    usage = read_field(response, "usage")
    error, finish_reason = _error(choice) or _error(message), clean(_finish_reason(choice))
    if error:
        body = json.dumps({"error": error}).encode()
        failed = make_answer_error(200, {}, body, secrets, latency_seconds)
        failed.usage = make_usage(usage)
        raise failed
    form = find_form(finish_reason)
    text = clean(read_text(read_field(message, "content")))
    calls = _calls(message, clean)
    refusal = _refusal(message)
    if refusal or (form.failure is Failure.REFUSED and not calls):
        reason = clean_message(refusal or text, secrets) or "The content filter stopped the answer."
        raise ModelError(Failure.REFUSED, reason, latency_seconds=latency_seconds, usage=make_usage(usage))
    if form.failure is not None and form.failure is not Failure.REFUSED:
        reason = f"The answer ended with finish_reason {clean_message(finish_reason)!r}."
        raise ModelError(form.failure, reason, latency_seconds=latency_seconds, usage=make_usage(usage))
    return ChatReply(
        text=text,
        calls=calls,
        usage=make_usage(usage, is_empty=not text and not calls),
        finish_reason="tool_calls" if form.finish_reason == "stop" and calls else form.finish_reason,
        served_by=clean(str(read_field(response, "model") or "")),
        fingerprint=clean(str(read_field(response, "system_fingerprint") or "")),
        latency_seconds=latency_seconds,
        hold_seconds=hold_seconds,
        thoughts=clean(next(filter(None, (read_text(read_field(message, key)) for key in _THOUGHTS)), "")),
        turn=_clean_turn(find_turn(message) if turn is None else turn, secrets),
        dropped=dropped,
    )


def find_turn(message: Any) -> Turn | None:
    """What a message of chat completions has beside its text and calls; `None` if nothing.

    litellm puts what it does not know, and the server's own name of the reasoning, into `provider_specific_fields`.
    """
    parts = _parts(message, _OF_A_MESSAGE)
    if WHOLE_CONTENT in parts:
        parts = {"content": parts[WHOLE_CONTENT]}
    further = parts.get("provider_specific_fields")
    if isinstance(further, dict):
        own = {name: further[name] for name in ("reasoning", "reasoning_details") if further.get(name)}
        if "reasoning" in own:
            parts.pop("reasoning_content", None)
        rest = {
            name: value
            for name, value in further.items()
            if value is not None and name not in own and name not in parts and name != "native_finish_reason"
        }
        parts = {name: value for name, value in parts.items() if name != "provider_specific_fields"} | own
        parts |= {"provider_specific_fields": rest} if rest else {}
    calls = [_parts(call, _OF_A_CALL) for call in _list(read_field(message, "tool_calls"))]
    if not parts and not any(calls):
        return None
    turn: Turn = {"api": "chat", "message": parts, "calls": calls}
    return turn if isinstance(message, dict) else json.loads(json.dumps(turn, default=str))


def _parts(holder: Any, known: Collection[str]) -> dict[str, Any]:
    fields = holder if isinstance(holder, dict) else dict(holder) if hasattr(holder, "model_fields_set") else {}
    return {name: value for name, value in fields.items() if value and name not in known}


def _clean_turn(turn: Turn | None, secrets: Collection[str]) -> Turn | None:
    """As plain JSON, without keys."""
    if turn is None or not secrets:
        return turn
    text = json.dumps(turn)
    cleaned = remove_secrets(text, secrets)
    return turn if cleaned == text else json.loads(cleaned)


def make_usage(usage: Any, *, is_empty: bool = False) -> Usage:
    """Tokens as reported.

    litellm writes zeros where a provider says nothing; no request has a prompt of no tokens. But of an empty answer, 0
    tokens are right.
    """
    prompt = _count(usage, "prompt_tokens")
    if not prompt:
        return Usage(completion_tokens=_count(usage, "completion_tokens")) if is_empty else Usage()
    details = read_field(usage, "prompt_tokens_details")
    read = _count(details, "cached_tokens")
    written = _count(details, "cache_creation_tokens") or _count(details, "cache_write_tokens")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=_count(usage, "completion_tokens"),
        cached_read_tokens=_count(usage, "cache_read_input_tokens") if read is None else read,
        cached_write_tokens=_count(usage, "cache_creation_input_tokens") if written is None else written,
        reasoning_tokens=_count(read_field(usage, "completion_tokens_details"), "reasoning_tokens"),
    )


def read_field(holder: Any, name: str) -> Any:
    """A field of JSON, or an attribute of what litellm makes of it; `None` where it is not there."""
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def _finish_reason(choice: Any) -> str:
    """As the provider words it; litellm writes `stop` for what it does not know, and keeps the word beside it."""
    fields = read_field(choice, "provider_specific_fields")
    native = fields.get("native_finish_reason") if isinstance(fields, dict) else None
    return str(native or read_field(choice, "finish_reason") or "")


def _error(choice: Any) -> Any:
    """The error in a choice or its message; litellm keeps it among unknown fields. `None` if there is none."""
    for holder in (choice, read_field(choice, "provider_specific_fields")):
        if holder is not None and has_error({"error": read_field(holder, "error")}):
            return read_field(holder, "error")
    return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(holder: Any, name: str) -> int | None:
    value = read_field(holder, name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else None


def _refusal(message: Any) -> str:
    refusal = read_field(message, "refusal")
    if not refusal:
        fields = read_field(message, "provider_specific_fields")
        refusal = fields.get("refusal") if isinstance(fields, dict) else None
    return refusal if isinstance(refusal, str) else ""


def _calls(message: Any, clean: Callable[[str], str]) -> tuple[ChatCall, ...]:
    entries = [
        (read_field(call, "id"), read_field(call, "function")) for call in _list(read_field(message, "tool_calls"))
    ]
    if not entries and (old := read_field(message, "function_call")) is not None:
        entries = [(None, old)]
    calls: list[ChatCall] = []
    taken: set[str] = set()
    for number, (call_id, function) in enumerate(entries):
        if function is None:
            continue  # a call of something that is no function
        unique = _unique(clean(call_id) if isinstance(call_id, str) else "", number, taken)
        name = clean(str(read_field(function, "name") or ""))
        calls.append(ChatCall(unique, name, clean(_argument_text(read_field(function, "arguments")))))
    return tuple(calls)


def _unique(call_id: str, number: int, taken: set[str]) -> str:
    """An id that no other call of the reply has; the provider's own id if it is unique."""
    unique_id = call_id or f"call_{number}"
    while unique_id in taken:
        unique_id = f"{unique_id}_{number}"
    taken.add(unique_id)
    return unique_id


def _argument_text(arguments: Any) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
