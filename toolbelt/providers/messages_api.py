"""Anthropic's Messages API: its bodies, and its answers in the form of chat completions.

Source: the types of Anthropic's Python SDK (2.14) and what they document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolbelt.providers.chat import ChatRequest, Turn
from toolbelt.providers.chat_body import write_body
from toolbelt.providers.direct_answers import objects_in

DEFAULT_MAX_TOKENS = 32_000
"""Where nothing is known of the model: the API wants a limit. Every model since 2025 takes it."""
_CHOICES = {"auto": "auto", "required": "any", "none": "none"}
_REFUSED_AT_THE_ROOT = frozenset({"oneOf", "anyOf", "allOf"})
"""Of a schema: the API refuses the whole request. litellm leaves them out, too; `model fit` names such tools."""
_BUDGETS = {"minimal": 1024, "low": 1024, "medium": 2048, "high": 4096, "xhigh": 8192, "max": 16384}
"""Tokens of reasoning for models that know no effort, as litellm has them."""
_NOT_OF_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
Block = dict[str, Any]


def messages_body(
    model: str, request: ChatRequest, output_limit: int | None = None, *, has_budgets: bool = False
) -> bytes:
    """The body as JSON, in ASCII. It has no seed, which the API does not take.

    Args:
        model: As the endpoint knows it.
        request: What is asked.
        output_limit: Of the model, in tokens; sent where the request has no limit of its own.
        has_budgets: Whether the model is given a budget of tokens for its reasoning, and no effort.
    """
    sampling = request.sampling
    system, turns = _write_messages(request.messages)
    fields: dict[str, Any] = {
        "model": model,
        "max_tokens": sampling.max_tokens or output_limit or DEFAULT_MAX_TOKENS,
        "messages": turns,
    }
    if system:
        fields["system"] = system
    if sampling.temperature is not None:
        fields["temperature"] = sampling.temperature
    fields |= _write_effort(sampling.effort, has_budgets=has_budgets) | dict(sampling.params or {})
    if not request.tools.definitions:
        return write_body(fields)
    if (choice := sampling.tool_choice) is not None:
        fields["tool_choice"] = {"type": _CHOICES[choice]} if choice in _CHOICES else {"type": "tool", "name": choice}
    return write_body(fields, request.tools.write(_define_all))


def _write_effort(effort: str | None, *, has_budgets: bool) -> dict[str, Any]:
    if effort is None or (effort == "none" and has_budgets):
        return {}
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    if has_budgets:
        return {"thinking": {"type": "enabled", "budget_tokens": _BUDGETS[effort]}}
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}


def _define_all(definitions: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [_define(each) if each["type"] == "function" else each for each in definitions]


def _define(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    function = definition["function"]
    tool = {name: function[name] for name in ("name", "description", "strict") if function.get(name) is not None}
    if definition.get("defer_loading"):
        tool["defer_loading"] = True
    schema = function.get("parameters") or {"properties": {}}
    kept = {key: value for key, value in schema.items() if key not in _REFUSED_AT_THE_ROOT}
    return {**tool, "input_schema": {**kept, "type": "object"}}


def _write_messages(messages: Sequence[Mapping[str, Any]]) -> tuple[list[Block], list[dict[str, Any]]]:
    """The system prompt, and the turns of user and assistant in alternation: results stand in a turn of the user's."""
    system: list[Block] = []
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = message["role"]
        if role in ("system", "developer"):
            system += _write_content(message.get("content"))
            continue
        speaker = "assistant" if role == "assistant" else "user"
        if not (blocks := _write_blocks(message)):
            continue  # an empty message, which the API refuses
        if turns and turns[-1]["role"] == speaker:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": speaker, "content": blocks})
    if turns and turns[-1]["role"] == "assistant" and (last := turns[-1]["content"][-1])["type"] == "text":
        turns[-1]["content"][-1] = {**last, "text": last["text"].rstrip()}  # to be continued: no blank may end it
    return system, turns


def _write_blocks(message: Mapping[str, Any]) -> list[Block]:
    if message["role"] in ("tool", "function"):
        use = _clean_id(str(message.get("tool_call_id")))
        content = message.get("content")
        result = content if isinstance(content, str) else _write_content(content)
        return [{"type": "tool_result", "tool_use_id": use, "content": result}]
    turn = message.get("turn")
    if turn is not None and turn["api"] == "messages":
        return list(turn["items"])
    uses = [
        {
            "type": "tool_use",
            "id": _clean_id(call["id"]),
            "name": call["function"]["name"],
            "input": _read_arguments(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls") or ()
    ]
    return _write_content(message.get("content")) + uses


def _write_content(content: Any) -> list[Block]:
    """Blocks of a content of chat completions; an empty text, which the API refuses, is left out."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    return [dict(part) for part in parts if part.get("type") != "text" or str(part.get("text")).strip()]


def _clean_id(call_id: str) -> str:
    return _NOT_OF_AN_ID.sub("_", call_id)


def _read_arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def read_message(data: Mapping[str, Any]) -> tuple[dict[str, Any], Turn | None]:
    """An answer in the form of chat completions, and the turn where it says more than text and calls.

    Raises:
        NotAnAnswer: it is no message.
    """
    blocks = objects_in(data, "content")
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": text,
        "reasoning_content": "\n".join(
            str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking"
        ),
        "tool_calls": [
            {
                "id": use.get("id"),
                "type": "function",
                "function": {"name": use.get("name"), "arguments": json.dumps(use.get("input"), ensure_ascii=False)},
            }
            for use in uses
        ],
    }
    details = data.get("stop_details")
    if data.get("stop_reason") == "refusal" and isinstance(details, dict):
        message["refusal"] = details.get("explanation") or details.get("category")
    answer = {
        "model": data.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": data.get("stop_reason")}],
        "usage": _read_usage(data.get("usage")),
    }
    rebuilt = _write_blocks(message)
    return answer, None if blocks == rebuilt else {"api": "messages", "items": blocks}


def _read_usage(usage: Any) -> dict[str, Any]:
    """In OpenAI's form, where cached tokens are among those of the prompt; Anthropic counts them beside it."""
    if not isinstance(usage, dict) or not isinstance(fresh := usage.get("input_tokens"), int):
        return {}
    read, written = (usage.get(f"cache_{name}_input_tokens") for name in ("read", "creation"))
    details = usage.get("output_tokens_details")
    return {
        "prompt_tokens": fresh + (read or 0) + (written or 0),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
        "completion_tokens_details": {
            "reasoning_tokens": details.get("thinking_tokens") if isinstance(details, dict) else None
        },
    }
