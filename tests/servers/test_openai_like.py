"""The loopback server does what it is asked to by model name."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers.openai_like import BEHAVIOURS, split_model
from tests.servers.running import ROOT, OpenAIServer, run_openai_server


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with run_openai_server() as running:
        yield running


def _post(server: OpenAIServer, model: str, messages: list[dict[str, Any]], *tools: str) -> tuple[int, Any]:
    definitions = [{"type": "function", "function": {"name": name}} for name in tools]
    return _ask(server, "chat/completions", {"model": model, "messages": messages, "tools": definitions})


def _ask(server: OpenAIServer, path: str, asked: dict[str, Any]) -> tuple[int, Any]:
    body = json.dumps(asked).encode()
    request = urllib.request.Request(f"{server.url}/{path}", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ("pick-first", ("pick-first", 0)),
        ("pick-first@one", ("pick-first", 0)),
        ("server-error-3@x", ("server-error", 3)),
        ("rate-limited-forever-2", ("rate-limited-forever", 2)),
        ("slow-0.5", ("slow", 0.5)),
        ("gpt-4o", ("pick-first", 0)),
    ],
)
def test_a_models_name_says_what_it_does(model: str, asked: tuple[str, float]) -> None:
    assert split_model(model) == asked
    assert asked[0] in BEHAVIOURS


def test_a_tiered_model_browses_loads_and_calls(server: OpenAIServer) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": 'CATEGORY git\nCALL git_push {"to": "x"}'}]
    made: list[tuple[str, str]] = []
    tools = ["browse_tools", "load_tools"]
    for _ in range(4):
        _, answer = _post(server, "tiered", messages, *tools)
        calls = answer["choices"][0]["message"].get("tool_calls", [])
        made.extend((call["function"]["name"], call["function"]["arguments"]) for call in calls)
        messages.append({"role": "assistant", "tool_calls": calls})
        messages.extend({"role": "tool", "tool_call_id": call["id"], "content": "{}"} for call in calls)
        if made[-1][0] == "load_tools":
            tools.append("git_push")
    assert made == [("browse_tools", "{}"), ("load_tools", '{"category": "git"}'), ("git_push", '{"to": "x"}')]


@pytest.mark.parametrize(
    ("tools", "found", "wanted"),
    [
        pytest.param({"find": {"words": "string"}}, ["git_push"], ("git_push", {"to": "x"}), id="offered"),
        pytest.param(
            {"find": {"texts": "array"}, "run": {"tool": "string", "given": "object"}},
            [],
            ("run", {"tool": "git_push", "given": {"to": "x"}}),
            id="called-through",
        ),
    ],
)
def test_a_searching_model_searches_once_and_calls(
    server: OpenAIServer, tools: dict[str, dict[str, str]], found: list[str], wanted: tuple[str, dict[str, Any]]
) -> None:
    properties = {name: {key: {"type": kind} for key, kind in given.items()} for name, given in tools.items()}
    messages: list[dict[str, Any]] = [{"role": "user", "content": 'SEARCH push it\nCALL git_push {"to": "x"}'}]
    made: list[tuple[str, Any]] = []
    for more in ([], found, found):
        offered = {**properties, **{name: {} for name in more}}
        definitions = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": given}}}
            for name, given in offered.items()
        ]
        _, answer = _ask(server, "chat/completions", {"model": "search", "messages": messages, "tools": definitions})
        calls = answer["choices"][0]["message"].get("tool_calls", [])
        made.extend((call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls)
        messages.append({"role": "assistant", "tool_calls": calls})
    (argument, kind), *_ = tools["find"].items()
    assert made == [("find", {argument: ["push it"] if kind == "array" else "push it"}), wanted]


def test_it_makes_vectors_unless_the_model_is_one_that_fails(server: OpenAIServer) -> None:
    status, answer = _ask(server, "embeddings", {"model": "embedder", "input": ["send mail", "mail", "read"]})
    send, mail, read = (each["embedding"] for each in answer["data"])
    near, far = (sum(a * b for a, b in zip(send, other, strict=True)) for other in (mail, read))
    assert (status, near > far) == (200, True)
    assert _ask(server, "embeddings", {"model": "unauthorized", "input": ["x"]})[0] == 401


def test_counts_are_kept_by_model_and_can_be_forgotten(server: OpenAIServer) -> None:
    hello = [{"role": "user", "content": "x"}]
    assert [_post(server, "server-error-2@a", hello, "t")[0] for _ in range(3)] == [500, 500, 200]
    assert _post(server, "server-error-2@b", hello, "t")[0] == 500
    assert server.count("server-error-2@a") == 3
    assert server.requests("server-error-2@b")[0]["body"]["messages"] == hello
    server.reset()
    assert (server.count("server-error-2@a"), server.requests("server-error-2@b")) == (0, [])


def test_it_ends_with_whoever_started_it() -> None:
    command = [sys.executable, "-m", "tests.servers.openai_like"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert int(process.stdout.readline()) > 0
        process.stdin.close()  # as the system does when its parent dies
        assert process.wait(timeout=10) == 0
