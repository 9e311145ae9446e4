"""What the SDK cannot read costs the call or the tool that has it, and nothing else (rule M7)."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Coroutine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types.jsonrpc import JSONRPCError, jsonrpc_message_adapter

from tests.mcp.tiny import tiny_server
from toolbelt.mcp.upstreams.mending import mend
from toolbelt.mcp.upstreams.upstream import Upstream, UpstreamLimits
from toolbelt.servers.spec import ServerSpec, Transport

QUICK = UpstreamLimits(start=20, list=20, first_wait=0.2)
HALF_PAIR, LONG, DEEP = '"a\\ud83d"', "1" * 4301, "[" * 5000 + "]" * 5000
NUMBERS = {"half-a-pair": HALF_PAIR, "long-integer": LONG, "negative": f"-{LONG}", "deep": DEEP}
WORDS = {
    "half-a-pair": "half a surrogate",
    "long-integer": "4,300 digits",
    "negative": "4,300 digits",
    "deep": "levels",
}
CALL = '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": %s}]}}'


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 30))


UNREADABLE = {
    **{name: (CALL % value, WORDS[name]) for name, value in NUMBERS.items()},
    "null": ('{"jsonrpc": "2.0", "id": ID, "result": null}', "null"),
    "list": ('{"jsonrpc": "2.0", "id": ID, "result": []}', "no object"),
    "neither": ('{"jsonrpc": "2.0", "id": ID}', "no object"),
    "key": ('{"jsonrpc": "2.0", "id": ID, "result": {"content": [], "_meta": {"\\ud83d": 1}, "a\\udc00": 1}}', "key"),
    "id-last": ('{"result": null, "id": ID, "jsonrpc": "2.0"}', "null"),
    "no-json": ('{"jsonrpc": "2.0", "id": ID, "result": {"content": [}', "no JSON"),
    "error-without-code": ('{"jsonrpc": "2.0", "id": ID, "error": {"message": "wrong key"}}', "wrong key"),
    "error-with-half-a-pair": ('{"jsonrpc": "2.0", "id": ID, "error": {"code": 7, "message": "so\\ud83d"}}', "so?"),
}


def test_M7_an_answer_that_cannot_be_read_fails_its_call_at_once_with_the_reason() -> None:
    async def scenario() -> None:
        async with Upstream(tiny_server("tiny"), limits=QUICK) as upstream:
            for name, (raw, reason) in UNREADABLE.items():
                started = time.monotonic()
                with pytest.raises(MCPError, match=reason):
                    await upstream.request("tools/call", {"name": "echo", "arguments": {"raw": raw}}, timeout=15)
                assert time.monotonic() - started < 5, name
            result = await upstream.request("tools/call", {"name": "echo", "arguments": {"a": 1}}, timeout=5)
            assert json.loads(result["content"][0]["text"]) == {"a": 1}

    run(scenario())


def test_M7_an_answer_that_lacks_what_nobody_needs_is_read() -> None:
    async def scenario() -> None:
        async with Upstream(tiny_server("tiny"), limits=QUICK) as upstream:
            for raw in (
                '{"id": ID, "result": {"content": []}}',
                '{"jsonrpc": "2.0", "id": ID.0, "result": {"content": []}}',
            ):
                result = await upstream.request("tools/call", {"name": "echo", "arguments": {"raw": raw}}, timeout=5)
                assert result["content"] == []

    run(scenario())


def test_M7_a_tool_that_cannot_be_read_is_left_out_and_named_and_the_others_are_listed() -> None:
    schema = '{"type": "object"}'
    good = [f'{{"name": "good{number}", "inputSchema": {schema}}}' for number in range(3)]
    bad = [
        *(
            f'{{"name": "bad {name}", "description": {value}, "inputSchema": {schema}}}'
            for name, value in NUMBERS.items()
        ),
        f'{{"name": {HALF_PAIR}, "inputSchema": {schema}}}',
        f'{{"name": "bad key", "inputSchema": {{"type": "object", "properties": {{{HALF_PAIR}: {{}}}}}}}}',
        "null",
    ]

    async def scenario() -> None:
        server = tiny_server("tiny", "--tools", f"[{', '.join([good[0], *bad, *good[1:]])}]")
        async with Upstream(server, limits=QUICK) as upstream:
            assert [tool["name"] for tool in await upstream.list_tools()] == ["good0", "good1", "good2"]
            assert await upstream.list_tools()
            notes = upstream.notes
        assert len(notes) == len(bad)
        for name, reason in WORDS.items():
            assert [note for note in notes if f"'bad {name}', which is left out" in note and reason in note]
        assert [note for note in notes if "number 6, which is left out" in note]
        assert [note for note in notes if "'bad key'" in note]
        assert [note for note in notes if "1 tools that are no objects" in note]

    run(scenario())


class Handler(BaseHTTPRequestHandler):
    """Answers over HTTP what a call asks it to answer, and lists one good and one bad tool."""

    kind = "application/json"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number, method, params = request.get("id"), request.get("method"), request.get("params") or {}
        info = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "h", "version": "1"},
        }
        tools = [{"name": name, "description": "HERE", "inputSchema": {"type": "object"}} for name in ("bad", "good")]
        listed = json.dumps({"tools": tools}).replace('"HERE"', HALF_PAIR, 1)
        texts = {
            "initialize": f'{{"jsonrpc": "2.0", "id": ID, "result": {json.dumps(info)}}}',
            "tools/list": f'{{"jsonrpc": "2.0", "id": ID, "result": {listed}}}',
            "tools/call": (params.get("arguments") or {}).get("raw", ""),
        }
        text = texts.get(method, '{"jsonrpc": "2.0", "id": ID, "error": {"code": -32601, "message": "no"}}')
        text = text.replace("ID", json.dumps(number))
        body = text if self.kind == "application/json" else f": comment\n\nevent: message\ndata: {text}\n\n"
        self.send_response(200 if number is not None else 202)
        self.send_header("Content-Type", self.kind)
        self.send_header("Content-Length", str(len(body) if number is not None else 0))
        self.end_headers()
        self.wfile.write(body.encode() if number is not None else b"")

    def do_GET(self) -> None:
        self.send_error(405)

    do_DELETE = do_GET  # noqa: N815  the name that the base class looks for

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_M7_over_HTTP_too(kind: str) -> None:
    handler = type("OneKind", (Handler,), {"kind": kind})

    async def scenario(port: int) -> None:
        server = ServerSpec("h", Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp")
        async with Upstream(server, limits=QUICK) as upstream:
            assert [tool["name"] for tool in await upstream.list_tools()] == ["good"]
            assert "'bad', which is left out" in upstream.notes[0]
            for name in ("half-a-pair", "deep", "null"):
                raw, reason = UNREADABLE[name]
                with pytest.raises(MCPError, match=reason):
                    await upstream.request("tools/call", {"name": "good", "arguments": {"raw": raw}}, timeout=15)
            raw = CALL % '"good"'
            result = await upstream.request("tools/call", {"name": "good", "arguments": {"raw": raw}}, timeout=15)
            assert result["content"][0]["text"] == "good"

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listener:
        threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            run(scenario(listener.server_port))
        finally:
            listener.shutdown()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no JSON",
        b"[]",
        b"null",
        b'{"id": true, "result": null}',
        b'{"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "\\ud83d"}}',
        b'{"id": "\\ud83d", "result": {}}',
        b'"' * 1_000_001,
        b'{"a": ' + b'"\\"' * 300_000,
        b"[" * 1_000_000,
    ],
)
def test_M7_what_has_no_id_is_no_message_and_costs_little_time(line: bytes) -> None:
    started = time.monotonic()
    assert mend(line) is None
    assert time.monotonic() - started < 2


def test_M7_what_is_mended_is_a_message_of_the_SDK_at_every_depth() -> None:
    for depth in (*range(180, 210), 100_000):
        line = (CALL % ("[" * depth + "]" * depth)).replace("ID", "7")
        try:
            jsonrpc_message_adapter.validate_json(line)
        except ValueError:
            mended = json.dumps(mend(line.encode()))
            assert isinstance(message := jsonrpc_message_adapter.validate_json(mended), JSONRPCError)
            assert message.id == 7
            assert "levels of nesting" in mended
