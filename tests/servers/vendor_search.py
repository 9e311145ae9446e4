"""Plays a vendor's own tool search: searches within the request, expands what it found, and takes it back unchanged.

Anthropic's as its page "Tool search tool" has it, OpenAI's as its guide "Tool search" and its error texts do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.servers.vendors import Json, message, response

REFERENCES = 3
"""Tools that a search of Anthropic's finds here."""


def search_and_call(body: Json) -> Json:
    """Searches for the last words of the user, and calls the first that it finds; says so where it finds nothing.

    After a result it has nothing to add. A body that the vendor would refuse, though its types take it, is refused.
    """
    return _messages(body) if "messages" in body else _responses(body)


def refuse(text: str) -> Json:
    """As a vendor refuses a body."""
    return {"http_status": 400, "error": {"type": "invalid_request_error", "message": text}}


def _words(text: str) -> set[str]:
    return set(re.findall("[a-z]+", text.lower()))


def _rank(query: str, tools: list[Json]) -> list[Json]:
    """Those that share words with it, the most first."""
    shared = {id(tool): len(_words(query) & _words(f"{tool['name']} {tool.get('description')}")) for tool in tools}
    return sorted((tool for tool in tools if shared[id(tool)]), key=lambda tool: -shared[id(tool)])


def _messages(body: Json) -> Json:
    turns, tools = body["messages"], body.get("tools", [])
    deferred = [tool for tool in tools if tool.get("defer_loading")]
    searching = [tool for tool in tools if str(tool.get("type")).startswith("tool_search_tool")]
    if deferred and len(searching) != 1:
        return refuse("At least one tool must have defer_loading=false")
    referred = [name for turn in turns for block in turn["content"] for name in _references(block)]
    if unknown := set(referred) - {tool["name"] for tool in deferred}:
        return refuse(f"Tool reference '{unknown.pop()}' not found in available tools")
    last = turns[-1]["content"][-1]
    if last["type"] == "tool_result" or not deferred:
        return message({"type": "text", "text": "Done.", "citations": None})
    found = _rank(last["text"], deferred)[:REFERENCES]
    name, number = searching[0]["name"], len(turns)
    use = {"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": name, "input": {"query": last["text"]}}
    references = [{"type": "tool_reference", "tool_name": tool["name"]} for tool in found]
    result = {"type": "tool_search_tool_search_result", "tool_references": references}
    blocks: list[Json] = [
        {**use, "caller": {"type": "direct"}},
        {"type": "tool_search_tool_result", "tool_use_id": use["id"], "content": result},
    ]
    if not found:
        return message(*blocks, {"type": "text", "text": "There is no such tool.", "citations": None})
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": found[0]["name"], "input": {}}
    return message(*blocks, {**call, "caller": {"type": "direct"}}, stop_reason="tool_use")


def _references(block: Json) -> Iterator[str]:
    if block["type"] == "tool_search_tool_result":
        yield from (reference["tool_name"] for reference in block["content"].get("tool_references", ()))


def _responses(body: Json) -> Json:
    items, tools = body["input"], body.get("tools", [])
    spaces = [tool for tool in tools if tool["type"] == "namespace"]
    members = {member["name"]: space["name"] for space in spaces for member in space["tools"]}
    deferred = [member for space in spaces for member in space["tools"]] or [t for t in tools if t.get("defer_loading")]
    if deferred and [tool for tool in tools if tool["type"] == "tool_search"] != [{"type": "tool_search"}]:
        return refuse("tool_search is needed once")
    for number, item in enumerate(items):
        if item.get("type") == "function_call" and item.get("namespace") != members.get(item["name"]):
            return refuse(f"input[{number}]: Missing namespace for function_call '{item['name']}'.")
    if items[-1].get("type") == "function_call_output" or not deferred:
        return response(_said("Done."))
    query = items[-1]["content"]
    found = _rank(query, deferred)
    loaded: list[Json] = found[:1]
    if found and (space := next((each for each in spaces if each["name"] == members[found[0]["name"]]), None)):
        loaded = [space]
    path = [each["name"] for each in loaded]
    run: Json = {"execution": "server", "call_id": None, "status": "completed"}
    searched: list[Json] = [
        {"type": "tool_search_call", "id": f"tsc_{len(items)}", "arguments": {"paths": path}, **run},
        {"type": "tool_search_output", "id": f"tso_{len(items)}", "tools": loaded, **run},
    ]
    if not found:
        return response(*searched, _said("There is no such tool."))
    call: dict[str, Any] = {"type": "function_call", "id": "fc_1", "call_id": f"call_{len(items)}", "arguments": "{}"}
    call |= {"name": found[0]["name"], "status": "completed"}
    return response(*searched, call | ({"namespace": loaded[0]["name"]} if spaces else {}))


def _said(text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
