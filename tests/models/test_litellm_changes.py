"""What the rules say of litellm is what the installed release sends, over loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from toolbelt import Tool
from toolbelt.models.provider_rules import PROVIDER_RULES
from toolbelt.models.rules import Fact, NamePattern, ParameterName
from toolbelt.models.schema_parts import read_shape
from toolbelt.models.violations import breaks
from toolbelt.providers.litellm_loading import load_litellm

MODELS = {
    "gemini": "gemini/gemini-2.5-flash",
    "azure": "azure/gpt-4.1",
    "xai": "xai/grok-4",
    "hosted_vllm": "hosted_vllm/m",
    "mistral": "mistral/mistral-large-latest",
    "azure-claude": "azure_ai/claude-sonnet-4-5",
}
BROKEN: list[dict[str, Any]] = [
    {"properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}, "b": {"const": "x"}}},
    {"properties": {"a": {"type": "object", "additionalProperties": False, "$comment": "c"}}},
    {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}], "default": 1, "description": "Which."}}},
    {"properties": {"a": {"type": ["string", "integer"]}, "b": {"enum": [1, 2]}, "c": {"description": "Any."}}},
    {"properties": {"a": {"type": "array"}, "b": {"type": "string", "format": "uri"}}},
    {"properties": {"a": {"type": "string"}}, "oneOf": [{"required": ["a"]}], "not": {"required": ["b"]}},
]


@pytest.fixture(scope="module")
def sent() -> Iterator[Any]:
    bodies: list[dict[str, Any]] = []

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(400)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    litellm = load_litellm()

    def send(model: str, schema: dict[str, Any]) -> dict[str, Any]:
        function = {"name": "f", "description": "Does.", "parameters": {"type": "object", **schema}}
        with pytest.raises(Exception):  # noqa: B017  the server refuses all; what was sent is what counts
            litellm.completion(
                model=model,
                messages=[{"role": "user", "content": "Hi."}],
                tools=[{"type": "function", "function": json.loads(json.dumps(function))}],
                api_base=f"http://127.0.0.1:{server.server_port}/v1",
                api_key="k",
                api_version="2025-01-01",
                max_retries=0,
            )
        tool = bodies.pop()["tools"][0]
        own = tool.get("function_declarations", [tool.get("function", tool)])[0]
        found: dict[str, Any] = own.get("parameters") or own.get("input_schema")
        return found

    yield send
    server.shutdown()
    server.server_close()


REPAIRED = [(r.key, fact) for r in PROVIDER_RULES if r.key in MODELS for fact in r.facts if fact.litellm]


@pytest.mark.parametrize(("key", "fact"), REPAIRED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_litellm_is_said_to_repair_breaks_no_rule_as_it_sends_it(key: str, fact: Fact, sent: Any) -> None:
    for schema in BROKEN:
        if _breaks({"type": "object", **schema}, fact):
            assert not _breaks(sent(MODELS[key], schema), fact)


DELETED = [
    (rules.key, name)
    for rules in PROVIDER_RULES
    for fact in rules.facts
    if isinstance(fact.rule, ParameterName) and isinstance(fact.rule.pattern, NamePattern)
    for name in fact.rule.pattern.reserved
    if rules.key in MODELS
]


@pytest.mark.parametrize(("key", "name"), DELETED)
def test_a_parameter_that_litellm_is_said_to_delete_is_gone_but_required(key: str, name: str, sent: Any) -> None:
    schema = sent(MODELS[key], {"properties": {name: {"type": "string"}, "n": {"type": "integer"}}, "required": [name]})
    assert (list(schema["properties"]), schema["required"]) == (["n"], [name])


def _breaks(schema: dict[str, Any], fact: Fact) -> bool:
    tool = Tool("f", "Does.", schema)
    return breaks(tool, read_shape(schema), fact)
