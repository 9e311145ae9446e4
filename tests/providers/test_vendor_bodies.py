"""Every body that is sent directly is one of the vendor's, by the types of its own SDK (rule X1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.evals.test_offers import context
from tests.providers.vendor_asking import HELLO, MODELS, ask, offer_of
from tests.servers.vendors import Json, VendorServer, completion, message, response, vendor_server
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation, Exchange, Message, Reply, ToolUse
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.providers.chat import Sampling
from toolbelt.providers.endpoints import Transport
from toolbelt.providers.hosted_search import SearchMethod

ANSWERS: Mapping[str, Callable[[], Json]] = {"messages": message, "responses": response, "chat": completion}
TEXT = {"type": "string"}
SCHEMAS: tuple[dict[str, Any], ...] = (
    {},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {"properties": {"a": TEXT}},
    {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
    {"type": "object", "properties": {"a": TEXT}, "required": [], "additionalProperties": False},
    {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
    {"type": "object", "properties": {"a": {"enum": ["x", 1, None, True]}}},
    {"type": "object", "properties": {"a": {"const": 4}}},
    {"type": "object", "properties": {"a": {"anyOf": [TEXT, {"type": "integer"}]}}},
    {"type": "object", "properties": {"a": {"oneOf": [TEXT, {"type": "array", "items": TEXT}]}}},
    {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": TEXT, "b": TEXT}},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"type": "object"}}},
    {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "title": "T"},
    {"type": "object", "properties": {"strict": {"type": "boolean"}, "$schema": TEXT, "": TEXT}},
    {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "array", "items": TEXT}}}},
    {"type": "object", "properties": {"a": {"type": "number", "minimum": -1e300, "default": 0.1}}},
    {"type": "object", "patternProperties": {"^x-": TEXT}, "propertyNames": {"maxLength": 9}},
    {"type": "object", "properties": {"naïve 😀": {"type": "string", "pattern": "^\\d+$", "description": "é"}}},
    {"type": "object", "properties": {"a": True, "b": {}}},
    {"type": "object", "examples": [{"a": 1}], "deprecated": True, "x-own": [1, {"y": None}]},
)
TOOLS = tuple(
    Tool(name=f"tool_{number}-{kind}", description=text, parameters=schema)
    for kind, text in (("plain", ""), ("described", 'Does "it".\n\tAnd\u2028more \ud83d\ude00'))
    for number, schema in enumerate(SCHEMAS)
)
MANY = offer_of(*TOOLS)
SETTINGS = (
    Sampling(),
    Sampling(temperature=0.0),
    Sampling(temperature=1.0, seed=7),
    Sampling(tool_choice="auto"),
    Sampling(tool_choice="required"),
    Sampling(tool_choice="none"),
    Sampling(tool_choice="tool_1-described"),
    Sampling(max_tokens=99),
    Sampling(effort="low"),
    Sampling(effort="high", max_tokens=20_000),
    Sampling(0.5, 7, "required", 100, "max"),
    Sampling(params={"top_p": 0.9}),
)
USE, BROKEN = (
    ToolUse.from_text("call 1/é", "tool_1-described", '{"a": "b"}'),
    ToolUse.from_text("c2", "tool_2-described", "{"),
)
CONVERSATIONS: tuple[tuple[Message, ...], ...] = (
    HELLO,
    ({"role": "system", "content": "Be short."}, *HELLO, {"role": "user", "content": "More."}),
    tuple(Conversation(HELLO, (Exchange(Reply("Both.", (USE, BROKEN)), ("a", ""), "and?"),)).to_messages()),
    tuple(Conversation(HELLO, (Exchange(Reply("", (USE,)), ("half: \ud800",)),)).to_messages()),
    (*HELLO, {"role": "assistant", "content": "Yes. "}, {"role": "user", "content": [{"type": "text", "text": "x"}]}),
    ({"role": "developer", "content": "Be kind."}, {"role": "user", "content": "half: \ud800"}),
    ({"role": "system", "content": ""}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Begin"}),
)


@pytest.fixture(scope="module")
def server() -> Iterator[VendorServer]:
    with pytest.MonkeyPatch.context() as patch, vendor_server() as running:
        patch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-a-test")
        patch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        yield running


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("api", MODELS)
def test_X1_every_body_is_accepted_by_the_types_of_the_vendors_sdk(
    api: str, settings: Sampling, server: VendorServer
) -> None:
    server.answer = lambda body: ANSWERS[api]()
    offers = (offer_of(), MANY)
    for messages, offer in zip(CONVERSATIONS, cycle(offers[::-1]), strict=False):
        ask(server, api, messages, offer=offer, sampling=settings)  # else it is a `ModelError`
        ends = {"messages": "/v1/messages", "responses": "/v1/responses", "chat": "/v1/chat/completions"}
        assert server.paths[-1] == ends[api]
        assert len(server.bodies[-1].get("tools", ())) == len(offer.tools)


def test_X1_a_key_goes_to_each_vendor_as_it_wants_it(server: VendorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = lambda body: message()
    ask(server, "messages")
    assert (server.headers["x-api-key"], server.headers["anthropic-version"]) == ("sk-ant-of-a-test", "2023-06-01")
    assert "Authorization" not in server.headers
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-a-test")
    ask(server, "messages")
    assert server.headers["Authorization"] == "Bearer token-of-a-test"
    server.answer = lambda body: response()
    ask(server, "responses")
    assert server.headers["Authorization"] == "Bearer sk-of-a-test"


def test_X1_what_is_left_out_would_mean_something_else(server: VendorServer) -> None:
    """Responses takes a schema without `strict` as a strict one, and stores answers at the vendor."""
    server.answer = lambda body: response()
    ask(server, "responses", offer=MANY)
    body = server.bodies[-1]
    assert {tool["strict"] for tool in body["tools"]} == {False}
    assert body["store"] is False


@pytest.mark.parametrize(
    ("model", "effort", "fields"),
    [
        pytest.param("claude-opus-5-5", "max", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}),
        pytest.param("claude-haiku-5-5", "none", {"thinking": {"type": "disabled"}}),
        pytest.param("claude-haiku-4-5", "low", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        pytest.param("claude-haiku-4-5", "none", {}),
    ],
)
def test_an_effort_is_said_as_the_model_takes_it(
    model: str, effort: str, fields: dict[str, Any], server: VendorServer
) -> None:
    server.answer = lambda body: message()
    ask(server, "messages", model=f"anthropic/{model}", sampling=Sampling(effort=effort))
    assert {name: server.bodies[-1].get(name) for name in ("thinking", "output_config")} == {
        "thinking": None,
        "output_config": None,
        **fields,
    }


APIS = {"bm25": "messages", "regex": "messages", "namespaces": "responses", "functions": "responses"}


@pytest.mark.parametrize("method", SearchMethod)
def test_X1_every_body_with_the_vendors_own_search_is_accepted_by_its_types(
    method: SearchMethod, server: VendorServer
) -> None:
    """Conversations in which deferred tools were called before are among them."""
    api = APIS[method]
    plugins = (Plugin("some: tools", TOOLS[:20]), Plugin("more", TOOLS[20:]))
    catalog = Catalog(plugins, core=(f"more/{TOOLS[-1].name}",))
    searching = replace(context(catalog), choose_search=lambda _: method)
    offer = make_toolset(parse_toolset("hosted-search"), searching).offer(Case("c", HELLO, ()), Conversation(HELLO))
    server.answer = lambda body: ANSWERS[api]()
    for messages, settings in zip(cycle(CONVERSATIONS), SETTINGS, strict=False):
        ask(server, api, messages, offer=offer, sampling=settings)  # else it is a `ModelError`
        tools = server.bodies[-1]["tools"]
        members = [member for tool in tools for member in tool.get("tools", (tool,))]
        assert [len(members), sum(member.get("defer_loading", False) for member in members)] == [43, 41]
        assert sum(tool.get("type") == "namespace" for tool in tools) == (2 if method == "namespaces" else 0)
        assert {item.get("namespace") for item in server.bodies[-1].get("input", ())} <= {None, "more"}


ROOT_KEYS = {"type", "properties", "required", "additionalProperties", "$defs"}
"""Of a schema, which litellm sends to Anthropic; it leaves out all others. The documentation has a row for them."""


@pytest.mark.parametrize("messages", CONVERSATIONS, ids=[str(number) for number in range(len(CONVERSATIONS))])
def test_X1_messages_are_those_of_litellm_but_for_two_documented_differences(
    messages: tuple[Message, ...], server: VendorServer
) -> None:
    server.answer = lambda body: message()
    claude = "anthropic/claude-haiku-4-5"
    for sampling in (
        Sampling(0.5, tool_choice="required"),
        Sampling(tool_choice="tool_1-described"),
        Sampling(effort="low"),
    ):
        bodies = []
        for transport in Transport:
            ask(server, "messages", messages, offer=MANY, sampling=sampling, transport=transport, model=claude)
            body = server.bodies[-1] | {"max_tokens": 0}
            tools = body.pop("tools")
            if transport is Transport.AUTO:
                refused = [tool["name"] for tool in tools if tool["input_schema"].keys() & {"oneOf", "anyOf", "allOf"}]
                assert refused == []
            schemas = {
                tool["name"]: {key: value for key, value in tool["input_schema"].items() if key in ROOT_KEYS}
                for tool in tools
            }
            bodies.append((body, schemas, [tool.get("description") for tool in tools]))
        assert bodies[0] == bodies[1]


def test_X1_the_differences_over_messages_are_documented() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "evals.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith("| over Messages: keys")]
    assert all(f"`{key}`" in row for key in ROOT_KEYS)
