"""What a search toolset shows, finds and answers (rule S1)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.samples import CATALOG, make_search
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tool_names import describe_tools
from toolbelt.search.presets import PRESETS
from toolbelt.search.search import CalledThrough, make_meta_tools

SEND_REFERENCE = {"type": "tool_reference", "tool_name": "send"}
COMMIT, PUSH, LOG, SEND = "git/commit", "git/push", "git/log", "mail/send"


@pytest.mark.parametrize(
    ("preset", "tools"),
    [
        ("", {"search_tools": ["query"]}),
        ("anthropic-bm25", {"tool_search_tool_bm25": ["query"]}),
        ("anthropic-regex", {"tool_search_tool_regex": ["pattern"]}),
        ("openai", {"tool_search": ["paths"]}),
        ("pydantic-ai", {"search_tools": ["queries"]}),
        ("fastmcp", {"search_tools": ["query"], "call_tool": ["name", "arguments"]}),
        ("fastmcp:rank=regex", {"search_tools": ["pattern"], "call_tool": ["name", "arguments"]}),
        ("bigtool", {"retrieve_tools": ["query"]}),
        ("rag-mcp", {}),
        (
            "toolhive",
            {"find_tool": ["tool_description", "tool_keywords"], "call_tool": ["tool_name", "parameters"]},
        ),
    ],
)
def test_S1_meta_tools_have_the_names_and_arguments_of_their_project(preset: str, tools: dict[str, list[str]]) -> None:
    made = make_search(preset).meta_tools
    assert {name: list(tool.parameters["properties"]) for name, tool in made.items()} == tools


@pytest.mark.parametrize(
    ("preset", "arguments", "answer"),
    [
        pytest.param("anthropic-bm25", {"query": "send a message"},
            {"type": "tool_search_tool_search_result", "tool_references": [SEND_REFERENCE]},
            id="anthropic-bm25"),
        pytest.param("anthropic-regex", {"pattern": "SEND"},
            {"type": "tool_search_tool_search_result", "tool_references": [SEND_REFERENCE]},
            id="anthropic-regex-in-any-case"),
        pytest.param("anthropic-regex", {"pattern": "nothing"},
            {"type": "tool_search_tool_search_result", "tool_references": []}, id="anthropic-nothing"),
        pytest.param("pydantic-ai", {"queries": ["Send", "mail"]}, {"discovered_tools": [{"name": "send"}]},
            id="pydantic-ai"),
        pytest.param("pydantic-ai", {"queries": ["nothing"]},
            {"discovered_tools": [], "message": "No matching tools found. The tools you need may not be available."},
            id="pydantic-ai-nothing"),
        pytest.param("bigtool", {"query": "send"}, "Available tools: ['send']", id="bigtool"),
        pytest.param("fastmcp", {"query": "send"},
            [{"name": "send", "description": "Send a message",
              "inputSchema": {"type": "object", "properties": {"to": {"type": "string"}}}}], id="fastmcp"),
        pytest.param("fastmcp", {"query": "nothing"}, [], id="fastmcp-nothing"),
        pytest.param("openai", {"paths": ["Mail"]},
            {"type": "tool_search_output", "execution": "server", "status": "completed",
             "tools": [{"type": "function", "name": "send", "defer_loading": True}]}, id="openai-a-group"),
        pytest.param("", {"query": "send"},
            {"tools": [{"name": "send", "description": "Send a message"}],
             "message": "From your next message on you can call them like any other tool."}, id="plain"),
    ],
)  # fmt: skip
def test_S1_answers_have_the_shape_of_their_project(preset: str, arguments: dict[str, Any], answer: Any) -> None:
    made = make_search(preset).answer(arguments, ())
    assert made.value == answer
    assert made.text == answer if isinstance(answer, str) else json.loads(made.text) == answer


def test_S1_toolhive_states_what_is_saved() -> None:
    value = make_search("toolhive").answer({"tool_description": "send", "tool_keywords": ["message"]}, ()).value
    assert [tool["name"] for tool in value["tools"]] == ["send"]
    baseline, returned = value["token_metrics"]["baseline_tokens"], value["token_metrics"]["returned_tokens"]
    assert value["token_metrics"]["savings_percent"] == pytest.approx((baseline - returned) / baseline * 100)


def test_S1_a_search_that_finds_nothing_says_what_to_do() -> None:
    answer = make_search("").answer({"query": "zebra"}, (COMMIT,))
    assert answer.found == (COMMIT,)
    assert "other words" in answer.value["message"]


@pytest.mark.parametrize("arguments", [None, {}, {"query": ""}, {"query": 3}, {"query": ["a", 1]}, {"query": None}])
@pytest.mark.parametrize("preset", ["", "fastmcp", "bigtool"])
def test_S1_arguments_that_cannot_be_used_are_answered_with_the_usage(preset: str, arguments: Any) -> None:
    answer = make_search(preset).answer(arguments, (COMMIT,))
    assert (answer.hits, answer.found) == ((), (COMMIT,))
    assert 'with {"query": TEXT}' in answer.value["error"]


@pytest.mark.parametrize("pattern", ["(", "x" * 201])
def test_S1_a_pattern_that_cannot_be_searched_for_is_an_answer(pattern: str) -> None:
    value = make_search("anthropic-regex").answer({"pattern": pattern}, ()).value
    assert value["type"] == "tool_search_tool_result_error"
    assert value["error_code"] == "invalid_tool_input"


@pytest.mark.parametrize(
    ("settings", "searches", "shown"),
    [
        pytest.param("", [["commit"], ["send"]], ["files/read", COMMIT, PUSH, LOG, SEND], id="append-keeps-what-was"),
        pytest.param("reveal=rebind", [["commit"], ["send"]], ["files/read", SEND], id="rebind-replaces"),
        pytest.param("reveal=rebind", [["commit", "send"]], ["files/read", COMMIT, PUSH, LOG, SEND],
            id="rebind-in-one-reply-adds"),
        pytest.param("reveal=rebind", [["send"], ["zebra"]], ["files/read", SEND], id="rebind-by-nothing-keeps"),
        pytest.param("bigtool", [["send"], ["commit"]], [SEND, COMMIT, PUSH], id="bigtool-keeps"),
        pytest.param("fastmcp", [["send"]], ["files/read"], id="call-shows-what-is-pinned"),
        pytest.param("pinned=none", [["send"]], [SEND], id="nothing-pinned"),
    ],
)  # fmt: skip
def test_S1_what_is_shown_follows_from_what_was_found(
    settings: str, searches: list[list[str]], shown: list[str]
) -> None:
    search = make_search(settings)
    found: tuple[str, ...] = ()
    for reply in searches:
        for number, query in enumerate(reply):
            found = search.answer({"query": query}, found, begins=not number).found
    assert list(search.shown(found)) == shown


def test_S1_pydantic_ai_puts_what_was_found_before_last() -> None:
    search = make_search("pydantic-ai:k=2")
    first = search.answer({"queries": ["commit commits"]}, ())
    again = search.answer({"queries": ["commit commits"]}, first.found)
    assert first.hits == (COMMIT, PUSH)
    assert again.hits == (LOG, COMMIT)


def test_S1_pinned_tools_are_not_searched_for_and_others_are_out_of_sight() -> None:
    search = make_search("").within([COMMIT, SEND])
    assert search.pinned == ()
    assert [tool.id for tool in search.searched] == [COMMIT, SEND]
    assert search.find("commits") == (COMMIT,)
    assert make_search("").find("read file") == ("files/write",), "read is pinned"


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        ("", []),
        ("listing=names", ["Tools: write, commit, push, log, send"]),
        ("listing=groups", ["Groups:", "- files: Disk.", "- git: commit, push, log", "- mail: send"]),
    ],
)
def test_S1_the_listing_stands_in_the_description(settings: str, lines: list[str]) -> None:
    plain = make_meta_tools(make_search(settings).settings)[0].description
    (tool,) = make_search(settings).meta_tools.values()
    assert tool.description.removeprefix(plain).split("\n")[1:] == lines


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ({"name": "send", "arguments": {"to": "me"}}, CalledThrough("send", {"to": "me"})),
        ({"name": " send "}, CalledThrough("send", {})),
        ({"name": "send", "arguments": "{}"}, CalledThrough("send", None)),
        ({"name": "zebra", "arguments": None}, CalledThrough("zebra", {})),
    ],
)
def test_S1_a_call_through_names_the_tool(arguments: dict[str, Any], call: CalledThrough) -> None:
    assert make_search("fastmcp").call_through(arguments) == call


@pytest.mark.parametrize("arguments", [None, {}, {"name": 3}, {"name": " "}, {"name": "search_tools"}])
def test_S1_a_call_through_without_a_tool_is_answered(arguments: Any) -> None:
    assert "name of a tool" in json.loads(str(make_search("fastmcp").call_through(arguments)))["error"]


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "rag-mcp"])
def test_E5_every_tool_has_a_query_that_finds_it(preset: str) -> None:
    search = make_search(f"{preset}:k=1:pinned=none")
    for tool in CATALOG.tools:
        query = search.find_query(tool.id)
        assert query is not None
        assert tool.id in search.find(query)
    assert search.find_query("files/none") is None


def test_E5_a_tool_that_no_words_find_is_out_of_reach() -> None:
    catalog = Catalog((Plugin("p", (Tool("天気", "予報"), Tool("send", "Send"))),))
    assert make_search("pydantic-ai", catalog).find_query("p/天気") is None, "its words are of ASCII alone"
    assert make_search("", catalog).find_query("p/天気") is not None


@given(st.lists(st.sampled_from(["commit", "send message", "zebra", "write file", "log"]), max_size=5))
def test_T3_appending_never_moves_what_is_shown(queries: list[str]) -> None:
    search = make_search("k=2")
    found: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    for query in queries:
        found = search.answer({"query": query}, found).found
        shown = search.shown(found)
        assert shown[: len(before)] == before
        before = shown


def test_S4_a_description_that_was_made_from_names_does_not_name_what_is_left_out() -> None:
    tools = [Tool(f"{verb}_pearl", "Does.") for verb in ("list", "wipe")]
    catalog = Catalog((Plugin("box", tuple(tools), description=describe_tools(tool.name for tool in tools)),))
    narrowed = make_search("openai", catalog).within({"box/list_pearl"})
    (meta_tool,) = narrowed.meta_tools.values()
    assert "- box: list_pearl" in meta_tool.description
    assert "wipe" not in meta_tool.description
