"""Tool lists of OpenAI, Anthropic and MCP: recognised, read whole, refused with every mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import each_mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import export_definitions
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidFileError
from toolbelt.importers.tool_lists import (
    convert_anthropic,
    convert_mcp,
    convert_openai,
    is_anthropic,
    is_mcp,
    is_openai,
)
from toolbelt.sources import Document, parse_json

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
OPENAI = {"type": "function", "function": {"name": "f", "description": "D.", "parameters": SCHEMA, "strict": True}}
RESPONSES = {"type": "function", "name": "f", "description": "D.", "parameters": SCHEMA, "strict": True}
ANTHROPIC = {"name": "f", "description": "D.", "input_schema": SCHEMA}
MCP = {"name": "f", "title": "F", "description": "D.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
HOSTED = {"type": "web_search"}
Convert = Callable[[Document, str], CatalogFile]
CONVERT: dict[str, Convert] = {"openai": convert_openai, "anthropic": convert_anthropic, "mcp": convert_mcp}


def read(form: str, data: Any) -> CatalogFile:
    return CONVERT[form](parse_json(json.dumps(data, indent=1), "t.json"), "mine")


@pytest.mark.parametrize(
    ("data", "forms"),
    [
        pytest.param([OPENAI], {"openai"}, id="chat-completions"),
        pytest.param([RESPONSES], {"openai"}, id="responses"),
        pytest.param([{"function": OPENAI["function"]}], {"openai"}, id="without-its-type"),
        pytest.param({"model": "m", "tools": [OPENAI]}, {"openai"}, id="a-whole-request"),
        pytest.param([HOSTED, RESPONSES], {"openai"}, id="a-hosted-tool-first"),
        pytest.param([ANTHROPIC], {"anthropic"}, id="anthropic"),
        pytest.param({"tools": [ANTHROPIC]}, {"anthropic"}, id="anthropic's-request"),
        pytest.param([{"type": "web_search_20250305", "name": "w"}, ANTHROPIC], {"anthropic"}, id="its-own-tool-first"),
        pytest.param({"tools": [MCP]}, {"mcp"}, id="mcp"),
        pytest.param([MCP], {"mcp"}, id="mcp-without-the-result"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}}, {"mcp"}, id="mcp-in-its-envelope"),
        pytest.param([], {"openai"}, id="an-empty-list"),
        pytest.param({}, set(), id="an-empty-mapping"),
        pytest.param(None, set(), id="nothing"),
        pytest.param("tools", set(), id="text"),
        pytest.param({"tools": {"f": MCP}}, set(), id="a-mapping-of-tools"),
        pytest.param([{"name": "f", "parameters": SCHEMA}], {"openai"}, id="the-older-functions"),
        pytest.param({"tools": []}, set(), id="no-tools-of-anybody"),
        pytest.param([{"name": "f", "description": "D."}], set(), id="nobody's"),
        pytest.param([5, None, "x", []], set(), id="a-list-of-anything"),
    ],
)
def test_which_it_looks_like(data: Any, forms: set[str]) -> None:
    looks = {"openai": is_openai, "anthropic": is_anthropic, "mcp": is_mcp}
    assert {form for form, recognises in looks.items() if recognises(data)} == forms


@pytest.mark.parametrize(
    ("form", "data", "annotations", "extra"),
    [
        pytest.param("openai", [OPENAI], {}, {"strict": True}, id="chat-completions"),
        pytest.param("openai", [RESPONSES], {}, {"strict": True}, id="responses"),
        pytest.param("openai", [{"name": "f", "description": "D.", "parameters": SCHEMA}], {}, {}, id="functions"),
        pytest.param("openai", {"tools": [{**OPENAI, "x": 1}]}, {}, {"x": 1, "strict": True}, id="what-stands-outside"),
        pytest.param("anthropic", [{**ANTHROPIC, "type": "custom", "cache_control": {"type": "ephemeral"}}], {},
                     {"cache_control": {"type": "ephemeral"}}, id="anthropic"),
        pytest.param("mcp", {"tools": [{**MCP, "outputSchema": {}, "_meta": {"a": 1}}]}, {"readOnlyHint": True},
                     {"title": "F", "outputSchema": {}, "_meta": {"a": 1}}, id="mcp"),
        pytest.param("mcp", {"result": {"tools": [MCP]}}, {"readOnlyHint": True}, {"title": "F"}, id="mcp-enveloped"),
    ],
)  # fmt: skip
def test_a_tool_is_read_whole(form: str, data: Any, annotations: Any, extra: Any) -> None:
    reading = read(form, data)
    (tool,) = reading.catalog.tools
    assert (tool.id, tool.name, tool.description, tool.parameters) == ("mine/f", "f", "D.", SCHEMA)
    assert (tool.annotations, tool.extra, reading.notes) == (annotations, extra, ())
    assert (reading.catalog.name, [plugin.name for plugin in reading.catalog.plugins]) == ("mine", ["mine"])


@pytest.mark.parametrize(
    ("form", "entry"),
    [
        ("openai", {"type": "function", "function": {"name": "f", "description": None, "parameters": None}}),
        ("openai", {"type": "function", "name": "f"}),
        ("anthropic", {"name": "f", "input_schema": {}}),
        ("mcp", {"name": "f", "inputSchema": {}, "annotations": None}),
    ],
)
def test_what_may_be_left_out(form: str, entry: Any) -> None:
    (tool,) = read(form, [entry]).catalog.tools
    assert (tool.description, tool.parameters, tool.annotations, tool.extra) == ("", {}, {}, {})


@pytest.mark.parametrize(
    ("form", "data", "named"),
    [
        ("openai", [HOSTED, RESPONSES], ("'web_search'", "provider's own", "left out")),
        (
            "anthropic",
            [{"type": "bash_20250124", "name": "bash"}, ANTHROPIC],
            ("'bash'", "no schema", "left out"),
        ),
        (
            "mcp",
            {"tools": [MCP], "nextCursor": "x"},
            ("more tools", "nextCursor"),
        ),
        (
            "mcp",
            {"result": {"tools": [MCP], "nextCursor": "x"}},
            ("more tools", "nextCursor"),
        ),
    ],
)
def test_what_is_left_out_is_said(form: str, data: Any, named: object) -> None:
    reading = read(form, data)
    assert each_mentions(reading.notes, named)
    assert [tool.name for tool in reading.catalog.tools] == ["f"]


def test_the_end_of_the_pages_is_no_note() -> None:
    assert read("mcp", {"tools": [MCP], "nextCursor": None}).notes == ()


@pytest.mark.parametrize("form", CONVERT)
def test_every_mistake_at_once_each_with_its_line(form: str) -> None:
    key = {"openai": "parameters", "anthropic": "input_schema", "mcp": "inputSchema"}[form]
    rows: list[Any] = [
        5,
        {"name": "good", key: {}},
        {key: {}},
        {"name": " ", key: {}},
        {"name": 7, key: {}},
        {"name": "a", "description": 0, key: {}},
        {"name": "b", key: []},
        {"name": "c", key: {}, "annotations": "x"},
        {"name": "good", key: {}},
        None,
    ]
    text = '{"tools": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]}"
    made = CONVERT[form](parse_json(text, "t.json"), "mine")
    assert [tool.name for tool in made.catalog.tools] == ["good"]
    assert [(finding.rule, finding.line) for finding in made.findings] == [
        ("wrong-type", 2),
        *[("invalid-tool", line) for line in (4, 5, 6, 7, 8, 9)],
        ("duplicate-tool-id", 10),
        ("wrong-type", 11),
    ]


@pytest.mark.parametrize("form", CONVERT)
@pytest.mark.parametrize("data", [[], {}, {"tools": []}, {"tools": None}, None, "x", 5, {"result": 5}])
def test_a_list_of_nothing_is_refused(form: str, data: Any) -> None:
    with pytest.raises(InvalidFileError, match="no tool"):
        read(form, data)


@pytest.mark.parametrize("form", CONVERT)
def test_lines_of_tools(form: str) -> None:
    data = [{"name": name, "parameters": {}, "input_schema": {}, "inputSchema": {}} for name in "fg"]
    made = CONVERT[form](parse_json("[" + ",\n\n".join(map(json.dumps, data)) + "]", "t.json"), "mine")
    assert [made.find_line(tool) for tool in made.catalog.tools] == [1, 3]
    assert made.find_line(made.catalog.plugins[0]) == 1


SCHEMAS = st.builds(
    lambda properties: {"type": "object", "properties": properties},
    st.dictionaries(st.text(max_size=5), st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5))),
)
TOOLS = st.lists(
    st.builds(
        Tool,
        name=st.from_regex(r"\A[a-z_][a-z0-9_-]{0,20}\Z"),
        description=st.text(),
        parameters=SCHEMAS,
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda tool: tool.name,
)


@given(TOOLS, st.sampled_from(sorted(CONVERT)))
def test_what_was_exported_is_imported_the_same(tools: list[Tool], form: str) -> None:
    catalog = Catalog((Plugin("mine", tuple(tools)),), name="mine")
    exported = export_definitions(catalog.tools, catalog.wire_names, form)
    assert read(form, exported).catalog == catalog


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "find", "parameters": {"kind": {"type": "str, optional"}, "count": {"type": "int"}}},
        {
            "type": "function",
            "function": {
                "name": "find",
                "parameters": {"kind": {"type": "str", "default": "x"}, "count": {"type": "int"}},
            },
        },
        {
            "name": "find",
            "inputs": {"kind": {"type": "string", "nullable": True}, "count": {"type": "integer"}},
            "output_type": "any",
        },
    ],
    ids=["xlam", "nested", "smolagents"],
)
def test_K7_arguments_by_name_are_a_schema_and_that_is_said(entry: dict[str, Any]) -> None:
    catalog_file = read("openai", [entry])
    (tool,) = catalog_file.catalog.tools
    assert {name: schema["type"] for name, schema in tool.parameters["properties"].items()} == {
        "kind": "string",
        "count": "integer",
    }
    assert tool.parameters["required"] == ["count"]
    assert len(catalog_file.notes) == 1
