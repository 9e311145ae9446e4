from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.cases.imports.samples import MAIL, TOOLS, tool
from toolbelt.evals.cases.imports.import_report import BrokenError
from toolbelt.evals.cases.imports.tool_pool import ToolPool, read_tools


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(MAIL, id="openai"),
        pytest.param(MAIL["function"], id="the-older-functions"),
        pytest.param({"type": "function", **MAIL["function"]}, id="flat"),
        pytest.param(
            {"name": "send_mail", "description": "Sends a letter.", "input_schema": MAIL["function"]["parameters"]},
            id="anthropic",
        ),
        pytest.param(
            {"name": "send_mail", "description": "Sends a letter.", "inputSchema": MAIL["function"]["parameters"]},
            id="mcp",
        ),
        pytest.param(
            {
                "toolSpec": {
                    "name": "send_mail",
                    "description": "Sends a letter.",
                    "inputSchema": {"json": MAIL["function"]["parameters"]},
                }
            },
            id="bedrock",
        ),
    ],
)
def test_E3_one_definition_is_one_tool_in_whatever_form(entry: Any) -> None:
    pool = ToolPool("log")
    assert pool.add_list([MAIL]) == pool.add_list([entry]) == ("send_mail",)
    assert [(one.id, one.description) for one in pool.catalog().tools] == [("send_mail", "Sends a letter.")]


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=4), max_size=6))
def test_E3_every_definition_keeps_its_own_tool(lists: list[list[tuple[str, str]]]) -> None:
    pool = ToolPool("log")
    seen: dict[tuple[str, str], str] = {}
    for one in lists:
        offered = list(dict(one).items())
        ids = pool.add_list([tool(name, text) for name, text in offered])
        for wanted, tool_id in zip(offered, ids, strict=True):
            assert seen.setdefault(wanted, tool_id) == tool_id
    catalog = pool.catalog()
    assert {
        tool_id: (catalog.get_tool(tool_id).name, catalog.get_tool(tool_id).description) for tool_id in seen.values()
    } == {tool_id: wanted for wanted, tool_id in seen.items()}
    assert len(pool) == len(catalog.tools) == len(seen)
    assert pool.renamed() == len(seen) - len({name for name, _ in seen})


def test_E3_a_name_that_looks_like_a_digest_takes_no_others_place() -> None:
    pool = ToolPool("log")
    (first,) = pool.add_list([tool("a", "x")])
    (second,) = pool.add_list([tool("a", "y")])
    other = ToolPool("log")
    other.add_list([tool(second, "z")])
    other.add_list([tool("a", "x")])
    (third,) = other.add_list([tool("a", "y")])
    assert len({first, second, third}) == 3


def test_E3_what_runs_at_a_provider_is_no_tool() -> None:
    read = read_tools([{"type": "web_search_preview"}, *TOOLS])
    assert [tool.name for _, tool in read] == ["get_weather", "send_mail"]


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param(["send_mail"], id="a-text"),
        pytest.param([{"type": "function", "function": {"name": ""}}], id="a-blank-name"),
        pytest.param([{"name": "a", "parameters": [1]}], id="a-list-for-a-schema"),
    ],
)
def test_E3_what_no_provider_would_take_is_refused(tools: list[Any]) -> None:
    with pytest.raises(BrokenError):
        ToolPool("log").add_list(tools)


def test_V6_an_entry_that_no_provider_would_take_is_left_out_and_named_once() -> None:
    pool = ToolPool("log")
    entries = [MAIL, "send_mail", tool("send_mail", "By wire.")]
    assert pool.add_list(entries) == pool.add_list([*entries, 7]) == ("send_mail",)
    assert [error.rule for error in pool.take_refused()] == ["invalid-tool", "tool-twice", "invalid-tool"]
    assert list(pool.take_refused()) == []


def test_E3_plugins_ignore_case() -> None:
    pool = ToolPool("log")
    from toolbelt.catalog import Tool

    pool.add(Tool("a"), plugin="Git")
    pool.add(Tool("b"), plugin="git", category="code")
    assert [(plugin.name, len(plugin.tools), plugin.category) for plugin in pool.catalog().plugins] == [
        ("Git", 2, "code")
    ]
