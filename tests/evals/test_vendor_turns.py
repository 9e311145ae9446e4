"""Runs of several requests over a vendor's own API: what it reasoned goes back, live, recorded and resumed (V4, X3)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.providers.vendor_asking import MODELS
from tests.servers.vendors import VendorServer, message, response, vendor_server
from toolbelt.evals import run_eval
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.run import Run
from toolbelt.evals.running.records import parse_reply
from toolbelt.models.project_models import ProjectModel
from toolbelt.providers.chat import Usage

Json = dict[str, Any]
NAMES = {"messages": "anthropic/claude-haiku-4-5", "responses": MODELS["responses"]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[VendorServer]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-a-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    with vendor_server() as running:
        yield running


def _browse_first(body: Json) -> Json:
    """Thinks, and browses; then it has nothing to add. What it thinks is new each time, as a vendor's cipher is."""
    turns = body.get("messages") or body["input"]
    secret = f"cipher-{len(turns)}-{id(body)}"
    is_first = len([turn for turn in turns if turn.get("role") == "user"]) == len(turns)
    if "messages" in body:
        thinking = {"type": "thinking", "thinking": "hm", "signature": secret}
        use = {"type": "tool_use", "id": f"toolu_{secret}", "name": "browse_tools", "input": {}}
        return message(thinking, use, stop_reason="tool_use") if is_first else message({"type": "text", "text": "No."})
    reasoning = {"type": "reasoning", "id": f"rs_{secret}", "summary": [], "encrypted_content": secret}
    call = {"type": "function_call", "id": "fc", "call_id": f"call_{secret}", "name": "browse_tools", "arguments": "{}"}
    if is_first:
        return response(reasoning, call)
    text = {"type": "output_text", "text": "No.", "annotations": []}
    return response({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]})


def _run(server: VendorServer, api: str, folder: Path, **settings: Any) -> Run:
    api_base = server.url if api == "messages" else f"{server.url}/v1"
    return run_eval("assistant", NAMES[api], "tiered", api_base=api_base, limit=4, store=folder / "runs.db", **settings)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    own = ProjectModel(MODELS["responses"], api="responses")
    (tmp_path / "toolbelt.yaml").write_text(
        f"models:\n  - name: {own.name}\n    api: {own.api}\n    provider: openai\n"
    )
    return tmp_path


@pytest.mark.parametrize("api", NAMES)
def test_V4_what_was_reasoned_goes_back_within_a_trial(server: VendorServer, api: str, project: Path) -> None:
    server.answer = _browse_first
    run = _run(server, api, project, response_cache=(str(project / "cache.db"),))
    assert (run.summary.errors, run.summary.dropped, len(server.bodies)) == (0, 0, 8)
    seconds = [body for body in server.bodies if len(body.get("messages") or body["input"]) > 1]
    assert len(seconds) == 4
    for body in seconds:
        assert "cipher-1" in json.dumps((body.get("messages") or body["input"])[1])
    with sqlite3.connect(run.store) as connection:
        texts = connection.execute("SELECT reply, reasoning_tokens FROM requests WHERE request = 0").fetchall()
    for text, reasoning in texts:
        turn = parse_reply(text, Usage(), 0.0).turn
        assert turn is not None
        assert (turn["api"], "cipher-1" in json.dumps(turn), reasoning) == (api, True, 30)


@pytest.mark.parametrize("api", NAMES)
def test_X3_a_recorded_conversation_is_found_again_though_each_cipher_is_new(
    server: VendorServer, api: str, project: Path
) -> None:
    server.answer = _browse_first
    cache = project / "cache.db"
    first = _run(server, api, project, response_cache=(str(cache),))
    again = _run(server, api, project, response_cache=(str(cache),), offline=True)
    assert (len(server.bodies), again.summary.errors) == (8, 0)
    assert [arm.outcomes for arm in again.summary.arms] == [arm.outcomes for arm in first.summary.arms]
    with ResponseCache(cache, read_only=True) as responses:
        turns = [recorded.reply.turn for recorded in responses.read_all()]
    assert sum("cipher-1" in json.dumps(turn) for turn in turns) == 4
