"""What a client asks a server, so that the answers, notifications and questions can be compared (rule M5)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.servers.raw_mcp import Json, RawClient

SERVER_INFO = "io.modelcontextprotocol/serverInfo"


@dataclass(frozen=True)
class Case:
    """One request.

    Attributes:
        name: Of the case.
        method: Of the protocol.
        params: Of the request.
        eras: Of the client, in which there is such a request.
    """

    name: str
    method: str
    params: Json = field(default_factory=dict)
    eras: tuple[str, ...] = ("2025", "2026")


ODD_ARGUMENTS = {"tree": {"name": "ü", "children": [{"name": "b"}]}, "ünïcode key": None, "number": 1.5}


def _call(tool: str, label: str = "", _meta: Json | None = None, **arguments: Any) -> Case:
    params: Json = {"name": tool, "arguments": arguments} | ({} if _meta is None else {"_meta": _meta})
    return Case(f"call {tool} {label}".strip(), "tools/call", params)


LONG = _call("huge", "beyond 1 MiB", bytes=2 << 20)
"""Longer than the SDK's client takes over SSE, which has no setting for it."""

CASES = (
    _call("echo", message="Grüße 👩‍👩‍👧 \u2028 \u0000"),
    _call("echo", "meta", {"example.org/trace": {"id": [1, None, "ü"]}, "n": 1.5}, message=""),
    _call("add", a=1, b=2.5),
    _call("add", "large", a=9007199254740993, b=1),
    _call("add_wrongly"),
    _call("draw"),
    _call("speak"),
    _call("link"),
    _call("embed"),
    _call("mixed"),
    _call("nothing"),
    _call("fail"),
    _call("refuse"),
    *(_call("refuse", f"code {code}", code=code, message="m", data=None) for code in (-32602, -32603, -32601, 0, 7)),
    _call("crash"),
    _call("count", "progress", {"progressToken": "ü-1"}, steps=4),
    _call("count", "progress by number", {"progressToken": 0}, steps=2),
    _call("count", "without progress", steps=2),
    _call("log", logger="ü"),
    _call("log", "at a level", {"io.modelcontextprotocol/logLevel": "warning"}),
    _call("ask_user"),
    _call("ask_user", "thrice", times=3),
    _call("ask_user", "url", url="https://example.org/ü"),
    _call("ask_user", "with progress", {"progressToken": 5}),
    _call("ask_model", prompt="Wer – ü?"),
    _call("ask_roots"),
    Case("call odd_schema", "tools/call", {"name": "odd_schema", "arguments": ODD_ARGUMENTS}),
    _call("bare"),
    Case("call bare without arguments", "tools/call", {"name": "bare"}),
    _call("unicode"),
    _call("long_description"),
    _call("a_tool_whose_name_is_longer_than_some_clients_accept_with_a_prefix"),
    _call("with.dots-and_dashes"),
    _call("destroy", what="it"),
    _call("huge", bytes=1_000_000),
    LONG,
    _call("nowhere"),
    Case("read text", "resources/read", {"uri": "everything://text"}),
    Case("read blob", "resources/read", {"uri": "everything://blob"}),
    Case("read unicode", "resources/read", {"uri": "everything://größe/ä?q=1#f"}),
    Case("read of a template", "resources/read", {"uri": "everything://items/7"}),
    Case("get greet", "prompts/get", {"name": "greet", "arguments": {"person": "Ä", "language": "日本語"}}),
    Case("get show", "prompts/get", {"name": "show"}),
    Case("get without argument", "prompts/get", {"name": "greet"}),
    Case(
        "complete prompt",
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "person", "value": "A"}},
    ),
    Case(
        "complete with context",
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "language", "value": ""},
            "context": {"arguments": {"person": "Ä"}},
        },
    ),
    Case(
        "complete template",
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "everything://items/{id}"}, "argument": {"name": "id", "value": "1"}},
    ),
    Case("level", "logging/setLevel", {"level": "warning"}, eras=("2025",)),
    Case("ping", "ping", eras=("2025",)),
    Case("unknown method", "example/unknown"),
)
LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


async def record(
    client: RawClient, names: Mapping[str, str] | None = None, left_out: Collection[Case] = ()
) -> dict[str, Any]:
    """What comes of every list and case, by name.

    Args:
        client: Connected.
        names: Names of tools as this client sees them, by the names that the server knows.
        left_out: Cases that are not for this connection.
    """
    outcomes: dict[str, Any] = {method: await client.list_all(method, key) for method, key in LISTS.items()}
    for case in CASES:
        if client.era in case.eras and case not in left_out:
            outcomes[case.name] = await _record(client, case, names or {})
    return outcomes


async def _record(client: RawClient, case: Case, names: Mapping[str, str]) -> Json:
    client.notifications.clear()
    client.questions.clear()
    params = case.params
    if case.method == "tools/call":
        params = params | {"name": names.get(params["name"], params["name"])}
    answer = await asyncio.wait_for(client.ask(case.method, params), 30)
    outcome: Json = {key: answer[key] for key in ("result", "error") if key in answer}
    return outcome | {"notifications": [*client.notifications], "questions": [*client.questions]}


def settle(value: Any) -> Any:
    """Without what a version of the protocol adds to results and what a connection adds to requests."""
    if isinstance(value, list):
        return [settle(item) for item in value]
    if not isinstance(value, dict):
        return value
    settled = {key: settle(item) for key, item in value.items() if key not in ("ttlMs", "cacheScope", SERVER_INFO)}
    if settled.get("resultType") == "complete":
        del settled["resultType"]
    if settled.get("_meta") == {}:
        del settled["_meta"]
    return settled
