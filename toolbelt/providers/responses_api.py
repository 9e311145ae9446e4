"""OpenAI's Responses API: its bodies, and its answers in the form of chat completions.

Source: the types of OpenAI's Python SDK (3.57) and what they document. Nothing is stored at OpenAI: each request has
the whole conversation, with the items of earlier answers as they came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbelt.providers.chat import TOOL_CHOICES, ChatRequest, Turn
from toolbelt.providers.chat_body import write_body
from toolbelt.providers.direct_answers import objects_in


def responses_body(model: str, request: ChatRequest, *, reasons: bool = False) -> bytes:
    """The body as JSON, in ASCII. It has no seed, which the API does not take.

    Args:
        model: As the endpoint knows it.
        request: What is asked.
        reasons: Whether the model is known to reason; others refuse to be asked for their encrypted reasoning.
    """
    sampling = request.sampling
    namespaces = {
        each["function"]["name"]: each["namespace"]["name"] for each in request.tools.definitions if "namespace" in each
    }
    fields: dict[str, Any] = {
        "model": model,
        "input": [item for message in request.messages for item in _write_items(message, namespaces)],
        "store": False,
    }
    if reasons:
        fields["include"] = ["reasoning.encrypted_content"]
    limits = {"temperature": sampling.temperature, "max_output_tokens": sampling.max_tokens}
    fields |= {name: value for name, value in limits.items() if value is not None}
    if sampling.effort is not None:
        fields["reasoning"] = {"effort": sampling.effort}
    fields |= dict(sampling.params or {})
    if not request.tools.definitions:
        return write_body(fields)
    if (choice := sampling.tool_choice) is not None:
        fields["tool_choice"] = choice if choice in TOOL_CHOICES else {"type": "function", "name": choice}
    return write_body(fields, request.tools.write(_define_all))


def _define_all(definitions: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The tools; those of a namespace within it, where its first one stands."""
    tools: list[Mapping[str, Any]] = []
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for definition in definitions:
        if (namespace := definition.get("namespace")) is None:
            tools.append(_define(definition) if definition["type"] == "function" else definition)
            continue
        if (group := groups.get(namespace["name"])) is None:
            group = groups[namespace["name"]] = []
            tools.append({"type": "namespace", **namespace, "tools": group})
        group.append(_define(definition))
    return tools


def _define(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    function = definition["function"]
    tool = {"type": "function", "name": function["name"], "parameters": function.get("parameters")}
    if function.get("description") is not None:
        tool["description"] = function["description"]
    if definition.get("defer_loading"):
        tool["defer_loading"] = True
    # What is left out is taken as strict, and the schema changed for it.
    return {**tool, "strict": bool(function.get("strict"))}


def _write_items(message: Mapping[str, Any], namespaces: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    role, content = message["role"], message.get("content")
    if role in ("tool", "function"):
        yield {"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": _write_text(content)}
        return
    turn = message.get("turn")
    if turn is not None and turn["api"] == "responses":
        yield from turn["items"]
        return
    if isinstance(content, str) and content:
        yield {"role": role, "content": content}
    elif content:
        kind = "output_text" if role == "assistant" else "input_text"
        yield {"role": role, "content": [{**part, "type": kind} if _is_text(part) else part for part in content]}
    for call in message.get("tool_calls") or ():
        item = {"type": "function_call", "call_id": call["id"], **call["function"]}
        if (namespace := namespaces.get(item["name"])) is not None:
            item["namespace"] = namespace  # without it the API refuses the call of a tool in one
        yield item


def _write_text(content: Any) -> Any:
    return (
        content if isinstance(content, str) else "".join(str(part["text"]) for part in content or () if _is_text(part))
    )


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "text"


def read_response(data: Mapping[str, Any]) -> tuple[dict[str, Any], Turn | None]:
    """An answer in the form of chat completions, and its items where there are any.

    Raises:
        NotAnAnswer: it is no response.
    """
    items = objects_in(data, "output")
    parts = [part for item in items if item.get("type") == "message" for part in objects_in(item, "content")]
    calls = [
        {
            "id": item.get("call_id"),
            "type": "function",
            "function": {"name": item.get("name"), "arguments": item.get("arguments")},
        }
        for item in items
        if item.get("type") == "function_call"
    ]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(str(part.get("text") or "") for part in parts if part.get("type") == "output_text"),
        "reasoning_content": "\n".join(_list_thoughts(items)),
        "tool_calls": calls,
    }
    if refusals := [str(part.get("refusal")) for part in parts if part.get("type") == "refusal"]:
        message["refusal"] = " ".join(refusals)
    finish_reason, details = data.get("status"), data.get("incomplete_details")
    if finish_reason == "incomplete" and isinstance(details, dict):
        finish_reason = details.get("reason") or finish_reason
    answer = {
        "model": data.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": _read_usage(data.get("usage")),
    }
    return answer, {"api": "responses", "items": items} if items else None


def find_withheld(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Reasoning of earlier turns that was sent and not shown to the model, by the reasons that the API gives."""
    if not isinstance(data.get("input_transformations"), list):
        return ()
    reasons = (each.get("reason") for each in objects_in(data, "input_transformations"))
    return tuple(sorted({f"reasoning ({reason})" for reason in reasons}))


def _list_thoughts(items: list[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        if item.get("type") == "reasoning":
            for name in ("summary", "content"):
                yield from (str(part.get("text") or "") for part in item.get(name) or () if isinstance(part, dict))


def _read_usage(usage: Any) -> dict[str, Any]:
    if not isinstance(usage, dict):
        return {}
    return {
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": usage.get("input_tokens_details"),
        "completion_tokens_details": usage.get("output_tokens_details"),
    }
