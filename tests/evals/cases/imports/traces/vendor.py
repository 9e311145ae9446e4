"""A model that answers over HTTP from a list, in the forms of four APIs, for scripts that record real clients.

    with Vendor(ANSWERS) as vendor: client = OpenAI(base_url=f"{vendor.url}/v1", api_key="test")

Standard library only: the scripts run in environments of their own.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SYSTEM = "You work for a shop."
TOOLS = [
    {
        "name": "find_order",
        "description": "Find an order by its number.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    },
    {
        "name": "refund",
        "description": "Pay an order back.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    },
]
QUERIES = ("Where is order 12? I am jane.roe@acme.io", "Pay order 7 back.")
ANSWERS: list[tuple[str, dict[str, Any]] | str] = [
    ("find_order", {"number": 21}),
    ("find_order", {"number": 12}),
    "It is on its way.",
    ("refund", {"number": 7}),
    "It is paid back.",
]
"""A call or a text for each request in turn: the first call is wrong and fails, the second is its retry."""


def run_tool(name: str, number: int) -> str:
    """What the tools answer; there is no order 21.

    Raises:
        LookupError: for order 21.
    """
    if number == 21:
        raise LookupError("there is no order 21")
    return f"{name}: order {number} is fine"


class Vendor:
    """Serves the answers on a port of its own."""

    def __init__(self, answers: list[tuple[str, dict[str, Any]] | str]) -> None:
        left = iter(enumerate(answers))

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                number, answer = next(left)
                data = _body(self.path, number, answer)
                body = _streamed(data) if asked.get("stream") else json.dumps(data).encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if asked.get("stream") else "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Vendor:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self._server.shutdown()


def _streamed(completion: dict[str, Any]) -> bytes:
    """A chat completion as a stream of two events."""
    [choice] = completion["choices"]
    delta = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": index, **call} for index, call in enumerate(delta["tool_calls"])]
    first = {"index": 0, "delta": delta, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks = [{**completion, "object": "chat.completion.chunk", "choices": [each]} for each in (first, last)]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


def _body(path: str, number: int, answer: tuple[str, dict[str, Any]] | str) -> dict[str, Any]:
    if path.endswith("/responses"):
        item: dict[str, Any] = (
            {
                "type": "message",
                "id": f"msg_{number}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": answer, "annotations": []}],
            }
            if isinstance(answer, str)
            else {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": f"call_{number}",
                "name": answer[0],
                "arguments": json.dumps(answer[1]),
                "status": "completed",
            }
        )
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 1790000000,
            "status": "completed",
            "model": "gpt-6-luna",
            "output": [item],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 9,
                "output_tokens": 9,
                "total_tokens": 18,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }
    if "generateContent" in path:
        part = {"text": answer} if isinstance(answer, str) else {"functionCall": {"name": answer[0], "args": answer[1]}}
        return {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18},
            "modelVersion": "gemini-3.5-flash",
            "responseId": f"r{number}",
        }
    calls = (
        None
        if isinstance(answer, str)
        else [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": answer[0], "arguments": json.dumps(answer[1])},
            }
        ]
    )
    message = {"role": "assistant", "content": answer if isinstance(answer, str) else None} | (
        {"tool_calls": calls} if calls else {}
    )
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1790000000,
        "model": "gpt-6-luna",
        "choices": [{"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
    }
