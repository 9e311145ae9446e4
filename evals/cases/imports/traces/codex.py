"""Sessions of Codex, `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`, as its releases since September 2025 write them.

A line has a `type` and a `payload`. The items of OpenAI's Responses API in it are the conversation; events tell which
calls of servers failed and how many turns the user took back. Left aside: what the program wrote in the user's name
(the environment, AGENTS.md, aborted turns) and summaries. A server's tool is named `mcp__SERVER__TOOL`, or has the
server as its `namespace`; all others are the program's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbelt.evals.cases.imports.messages import Message, check_messages
from toolbelt.evals.cases.imports.openai_log_records import LoggedExchange
from toolbelt.evals.cases.imports.traces.conversations import as_text, part_text

_KINDS = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_OF_PROGRAM = re.compile(r"\s*(?:<(\w+)>.*</\1>\s*\Z|# AGENTS\.md instructions\b|<(?:turn_aborted|skill)>)", re.DOTALL)
_SERVER = "mcp__"


def recognises(data: Any) -> bool:
    """Whether a value looks like a line of a session."""
    return isinstance(data, Mapping) and data.get("type") in _KINDS and isinstance(data.get("payload"), Mapping)


def read(values: Sequence[Any]) -> Iterator[LoggedExchange]:
    """The conversation of a session."""
    lines = [(value["type"], value["payload"]) for value in values if recognises(value)]
    session: Mapping[str, Any] = next((payload for kind, payload in lines if kind == "session_meta"), {})
    failed = {
        str(payload.get("call_id"))
        for kind, payload in lines
        if kind == "event_msg" and payload.get("type") == "mcp_tool_call_end" and _is_failure(payload.get("result"))
    }
    items: list[Message] = []
    for kind, payload in lines:
        if kind == "response_item":
            items += _items(payload, failed)
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            starts = [index for index, item in enumerate(items) if item.get("role") == "user"]
            del items[starts[-min(int(payload.get("num_turns", 1)), len(starts))] if starts else 0 :]
    if items:
        names = {item["name"] for item in items if "name" in item}
        own = frozenset(name for name in names if not name.startswith(_SERVER))
        yield LoggedExchange(check_messages(items), None, None, id=str(session.get("id", "")), own_tools=own)


def _is_failure(result: Any) -> bool:
    if not isinstance(result, Mapping):
        return False
    answer = result.get("Ok")
    return "Err" in result or (isinstance(answer, Mapping) and bool(answer.get("isError") or answer.get("is_error")))


def _items(item: Mapping[str, Any], failed: set[str]) -> Iterator[Message]:
    """The items of a line in the forms that `check_messages` converts."""
    match item.get("type"):
        case "message":
            text = part_text(item.get("content"))
            if item.get("role") == "assistant" or (item.get("role") == "user" and not _OF_PROGRAM.match(text)):
                yield {"role": item["role"], "content": text}
        case "function_call":
            name, server = str(item.get("name")), str(item.get("namespace") or "").rstrip("_")
            full = f"{server}__{name}" if server and not name.startswith(server) else name
            yield {"type": "function_call", "call_id": item["call_id"], "name": full, "arguments": item["arguments"]}
        case "custom_tool_call":
            yield {key: item.get(key) for key in ("type", "call_id", "name", "input")}
        case "local_shell_call" if item.get("call_id"):
            yield {**item, "type": "function_call", "name": "local_shell", "arguments": item.get("action")}
        case "function_call_output" | "custom_tool_call_output" | "mcp_tool_call_output":
            output = item.get("output")
            body = output.get("content") if isinstance(output, Mapping) else output
            is_failed = isinstance(output, Mapping) and (output.get("success") is False or output.get("is_error"))
            answer = {"role": "tool", "tool_call_id": item["call_id"], "content": part_text(body) or as_text(body)}
            yield answer | ({"is_error": True} if is_failed or item["call_id"] in failed else {})
