"""`ollama/NAME` is asked with its tools as tools, over either transport (rules X1 and V2)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt

TOOL = {"name": "feed_cat", "description": "Feeds the cat.", "parameters": {"type": "object", "properties": {}}}
CALL = {"function": {"name": "feed_cat", "arguments": {}}}


class FakeOllama(BaseHTTPRequestHandler):
    """Answers the chat of either API with a call of its first tool, and `/api/generate` with text."""

    asked: list[tuple[str, dict[str, Any]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "show" not in self.path:
            self.asked.append((self.path, body))
        arguments = {"function": {"name": "feed_cat", "arguments": "{}"}, "id": "call_1", "type": "function"}
        own = {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 50, "eval_count": 5}
        answers: dict[str, dict[str, Any]] = {
            "/v1/chat/completions": {
                "choices": [
                    {"index": 0, "message": {"content": "", "tool_calls": [arguments]}, "finish_reason": "stop"}
                ],
                "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55},
            },
            "/api/chat": own | {"message": {"role": "assistant", "content": "", "tool_calls": [CALL]}},
            "/api/generate": own | {"response": "{}"},
        }
        text = json.dumps(answers.get(self.path, {})).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def ollama() -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """The address of a fake Ollama, and what it is asked."""
    asked: list[tuple[str, dict[str, Any]]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (FakeOllama,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("transport", "path"), [("auto", "/v1/chat/completions"), ("litellm", "/api/chat")], ids=["directly", "litellm"]
)
@pytest.mark.parametrize("by", ["variable", "address"])
def test_X1_ollama_gets_its_tools(
    toolbelt: Toolbelt,
    project: Path,
    ollama: tuple[str, list[tuple[str, dict[str, Any]]]],
    transport: str,
    path: str,
    by: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, asked = ollama
    (project / "cats").mkdir()
    catalog = {"name": "cats", "plugins": [{"name": "cats", "tools": [TOOL]}]}
    (project / "cats" / "catalog.json").write_text(json.dumps(catalog))
    case = {"id": "hungry", "query": "The cat is hungry.", "expected": [{"tool": "feed_cat"}]}
    (project / "cats" / "cases.jsonl").write_text(json.dumps(case))
    options = ("--api-base", address) if by == "address" else ()
    if by == "variable":
        monkeypatch.setenv("OLLAMA_API_BASE", address)
    given = ("-d", "cats", "-m", "ollama/llama3", "-t", "full", "--transport", transport, *options)
    ran = toolbelt("eval", "run", *given, "--json")
    assert ran.code == 0, ran.err
    [arm] = ran.json["arms"]
    assert (arm["model"], arm["outcomes"]) == ("ollama/llama3", {"correct": 1})
    [(asked_path, body)] = asked
    assert (asked_path, body["model"]) == (path, "llama3")
    assert [tool["function"]["name"] for tool in body["tools"]] == ["feed_cat"]
    assert "format" not in body
    assert "feed_cat" not in json.dumps(body["messages"])
