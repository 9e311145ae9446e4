"""Definitions as each provider takes them."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SHARED_DATA, needs_shared_data
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import (
    DEFINITION_FORMATS,
    assign_wire_names,
    definition_text,
    export_definitions,
    is_legal_wire_name,
)
from toolbelt.catalog.json_lines import parse_catalog_lines
from toolbelt.sources import read_text

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOL = Tool(
    "read.file",
    "Reads « a file ».",
    SCHEMA,
    {"readOnlyHint": True},
    extra={
        "strict": True,
        "cache_control": {"type": "ephemeral"},
        "title": "Read",
        "outputSchema": {"type": "object"},
        "x": 1,
    },
)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (
            "openai",
            {
                "type": "function",
                "function": {"name": "wire", "description": "Reads « a file ».", "parameters": SCHEMA, "strict": True},
            },
        ),
        (
            "litellm",
            {
                "type": "function",
                "function": {"name": "wire", "description": "Reads « a file ».", "parameters": SCHEMA, "strict": True},
            },
        ),
        (
            "anthropic",
            {
                "name": "wire",
                "description": "Reads « a file ».",
                "input_schema": SCHEMA,
                "cache_control": {"type": "ephemeral"},
            },
        ),
        (
            "mcp",
            {
                "name": "wire",
                "description": "Reads « a file ».",
                "inputSchema": SCHEMA,
                "title": "Read",
                "outputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": True},
            },
        ),
    ],
)
def test_each_form_whole(form: str, expected: dict[str, Any]) -> None:
    assert DEFINITION_FORMATS[form](TOOL, "wire") == expected


def test_the_table_is_complete() -> None:
    assert list(DEFINITION_FORMATS) == ["openai", "anthropic", "mcp", "litellm"]


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        pytest.param({}, {"type": "object", "properties": {}}, id="a-tool-that-takes-nothing"),
        pytest.param(SCHEMA, SCHEMA, id="a-schema-of-an-object-as-it-is"),
        pytest.param({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}, id="the-type-is-added"),
        pytest.param({"type": "object"}, {"type": "object", "properties": {}}, id="properties-are-added"),
        pytest.param({"type": "string"}, {"type": "object", "properties": {}}, id="another-type-is-replaced"),
        pytest.param({"type": ["object"]}, {"type": "object", "properties": {}}, id="so-is-a-choice-of-types"),
        pytest.param({"$defs": {}}, {"type": "object", "properties": {}, "$defs": {}}, id="the-rest-is-kept"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("form", "where"), [("openai", "parameters"), ("anthropic", "input_schema")])
def test_a_schema_is_sent_as_one_of_an_object(form: str, where: str, parameters: Any, sent: Any) -> None:
    definition = DEFINITION_FORMATS[form](Tool("f", parameters=parameters), "f")
    assert definition.get("function", definition)[where] == sent


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [({}, {"type": "object"}), (SCHEMA, SCHEMA), ({"properties": {}}, {"properties": {}})],
)
def test_M5_mcp_definitions_are_never_normalised(parameters: Any, sent: Any) -> None:
    extra = {"_meta": {"a": 1}, "icons": [], "execution": {"taskSupport": "forbidden"}, "strict": True}
    definition = DEFINITION_FORMATS["mcp"](Tool("f", parameters=parameters, extra=extra), "f")
    del extra["strict"]
    assert definition == {"name": "f", "inputSchema": sent, **extra}


def test_M4_a_fixed_wire_name_stays_whatever_is_added() -> None:
    kept = Tool("get", plugin="git", wire_name="get")
    others = (
        Tool("get", plugin="a"),
        Tool("x", plugin="b", wire_name="get"),
        Tool("y", plugin="c", wire_name="no name"),
    )
    assert assign_wire_names((kept, *others)) == {"git/get": "get", "a/get": "a__get", "b/x": "x", "c/y": "y"}


def test_the_text_is_compact_and_escapes_nothing_needlessly() -> None:
    assert definition_text(DEFINITION_FORMATS["anthropic"](Tool("f", "« é\n\x1b"), "f")) == (
        '{"name":"f","description":"« é\\n\\u001b","input_schema":{"type":"object","properties":{}}}'
    )


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_the_text_is_the_definition(description: str, properties: dict[str, str]) -> None:
    definition = DEFINITION_FORMATS["openai"](Tool("f", description, {"type": "object", "properties": properties}), "f")
    assert json.loads(definition_text(definition)) == definition


def test_what_is_exported_is_plain_in_order_and_under_wire_names() -> None:
    catalog = Catalog((Plugin("p", (Tool("a.b"), Tool("c"))), Plugin("q", (Tool("c"),))))
    chosen = [catalog.get_tool("q/c"), catalog.get_tool("a.b")]
    made = export_definitions(chosen, catalog.wire_names, "openai")
    assert [entry["function"]["name"] for entry in made] == ["q__c", "a_b"]
    assert type(made[0]["function"]["parameters"]["properties"]) is dict
    made[0]["function"]["parameters"]["properties"]["x"] = 1
    assert catalog.get_tool("q/c").parameters == {}
    result = export_definitions(chosen, catalog.wire_names, "mcp")
    assert list(result) == ["tools"]
    assert [entry["name"] for entry in result["tools"]] == ["q__c", "a_b"]
    with pytest.raises(KeyError):
        export_definitions(chosen, catalog.wire_names, "nope")


# As the documentation of each provider has it, written down apart from the code.
OPENAI = re.compile(r"\A[a-zA-Z0-9_-]{1,64}\Z")
ANTHROPIC = re.compile(r"\A[a-zA-Z0-9_-]{1,128}\Z")
GEMINI = re.compile(r"\A[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}\Z")
PROVIDERS = (OPENAI, ANTHROPIC, GEMINI)


def hashed(tool_id: str, name: str, digits: int = 8) -> str:
    return f"{name[: 63 - digits]}_{hashlib.sha256(tool_id.encode()).hexdigest()[:digits]}"


def wire_names(*tools: Tool) -> list[str]:
    return list(assign_wire_names(tools).values())


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("git_status", True),
        ("a", True),
        ("_x-1", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("1x", False),
        ("-x", False),
        ("a.b", False),
        ("a b", False),
        ("a/b", False),
        ("ü", False),
        ("x\n", False),
        ("x١", False),
    ],
)
def test_legal_is_what_every_provider_takes(name: str, legal: bool) -> None:
    assert is_legal_wire_name(name) is legal
    assert all(provider.match(name) for provider in PROVIDERS) is legal


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        pytest.param([Tool("f", plugin="p")], ["f"], id="plain-where-nobody-else-has-it"),
        pytest.param([Tool("f", plugin="p"), Tool("f", plugin="q")], ["p__f", "q__f"], id="the-plugin-tells-apart"),
        pytest.param([Tool("a.b", plugin="p")], ["a_b"], id="what-is-illegal-is-replaced"),
        pytest.param([Tool("a . b!", plugin="p")], ["a_b"], id="a-run-of-it-by-one"),
        pytest.param([Tool("2fa", plugin="p")], ["t_2fa"], id="a-digit-cannot-be-first"),
        pytest.param(
            [Tool("a.b", plugin="p"), Tool("a_b", plugin="p")],
            [hashed("p/a.b", "a_b"), "a_b"],
            id="the-plain-name-goes-to-who-has-it",
        ),
        pytest.param(
            [Tool("a.b", plugin="p"), Tool("a:b", plugin="p")],
            [hashed("p/a.b", "a_b"), hashed("p/a:b", "a_b")],
            id="who-would-get-the-same-both-get-a-hash",
        ),
        pytest.param(
            [Tool("f", id="f#1", plugin="p"), Tool("f", id="f#2", plugin="p")],
            [hashed("f#1", "f"), hashed("f#2", "f")],
            id="one-plugin-cannot-tell-apart",
        ),
        pytest.param(
            [Tool("f", plugin="p"), Tool("f", plugin="q"), Tool("p__f", plugin="r")],
            [hashed("p/f", "p__f"), "q__f", "p__f"],
            id="nor-where-another-is-called-so",
        ),
        pytest.param([Tool("x" * 65)], [hashed("x" * 65, "x" * 65)], id="too-long-is-cut"),
        pytest.param([Tool("日本")], ["t__cf2abf0c"], id="nothing-legal-in-it"),
        pytest.param([Tool("日本"), Tool("語")], [hashed("日本", "t_"), hashed("語", "t_")], id="nor-in-any-of-them"),
        pytest.param(
            [Tool("a.b"), Tool("a_b"), Tool(hashed("a.b", "a_b"))],
            [hashed("a.b", "a_b", 9), "a_b", hashed("a.b", "a_b")],
            id="a-name-that-looks-like-the-hashed-one-keeps-it",
        ),
        pytest.param([Tool("F"), Tool("f")], ["F", "f"], id="case-tells-apart"),
    ],
)
def test_wire_names_are(tools: Sequence[Tool], expected: list[str]) -> None:
    assert wire_names(*tools) == expected


def test_reserved_names_are_not_given_away() -> None:
    made = assign_wire_names([Tool("load_tools", plugin="p"), Tool("f")], reserved=["load_tools"])
    assert made == {"p/load_tools": hashed("p/load_tools", "load_tools"), "f": "f"}


@st.composite
def tool_sets(draw: st.DrawFn) -> list[Tool]:
    """Names that clash, that are illegal, too long, and (the adversary's) that look like what would be made of them."""
    names = st.text("ab._ 1", min_size=1, max_size=4) | st.sampled_from(["x" * 64, "x" * 65, "x" * 66, "ü", "\ud800"])
    rows = draw(st.lists(st.tuples(st.sampled_from(["p", "q", "p.q", "a__b"]), names), max_size=12, unique=True))
    tools = [Tool(name, plugin=plugin) for plugin, name in rows if name.strip()]
    for _ in range(draw(st.integers(0, 3))):
        made = assign_wire_names(tools)
        known = {tool.name for tool in tools}
        aped = [name for name in made.values() if name not in known]
        if not aped:
            break
        tools.append(Tool(draw(st.sampled_from(aped)), plugin=draw(st.sampled_from(["p", "ape"]))))
    return list({tool.id: tool for tool in tools}.values())


@given(tool_sets(), st.randoms(use_true_random=False), st.sets(st.sampled_from(["a", "b", "a_b", "p__a"])))
def test_the_laws_hold_whatever_the_names(tools: list[Tool], random: Random, reserved: set[str]) -> None:
    made = assign_wire_names(tools, reserved)
    assert list(made) == [tool.id for tool in tools]
    assert [name for name in made.values() if not all(provider.match(name) for provider in PROVIDERS)] == []
    assert len(set(made.values())) == len(tools), "unique, and so reversible"
    assert reserved.isdisjoint(made.values())
    bearers = Counter(tool.name for tool in tools)
    for tool in tools:
        if (
            bearers[tool.name] == 1
            and OPENAI.match(tool.name)
            and GEMINI.match(tool.name)
            and tool.name not in reserved
        ):
            assert made[tool.id] == tool.name, "plain where legal and unambiguous"
    shuffled = random.sample(tools, len(tools))
    assert assign_wire_names(shuffled, reserved) == made, "whatever the order"


@given(tool_sets())
def test_nobody_is_sent_under_a_name_that_others_bear(tools: list[Tool]) -> None:
    made = assign_wire_names(tools)
    for tool in tools:
        assert {other.name for other in tools if other.name == made[tool.id] and other is not tool} == set()


@needs_shared_data
@pytest.mark.parametrize("dataset", ["github_mcp", "livemcpbench", "seal_tools", "bfcl", "metatool"])
def test_T5_the_laws_hold_on_the_public_catalogues(dataset: str) -> None:
    path = SHARED_DATA / dataset / "catalog.jsonl"
    catalog = parse_catalog_lines(read_text(path), str(path), dataset, Catalog).catalog
    made = catalog.wire_names
    assert len(set(made.values())) == len(catalog.tools)
    assert [name for name in made.values() if not all(provider.match(name) for provider in PROVIDERS)] == []
    bearers = Counter(tool.name for tool in catalog.tools)
    plain = {tool.id for tool in catalog.tools if bearers[tool.name] == 1 and is_legal_wire_name(tool.name)}
    assert plain == {tool.id for tool in catalog.tools if made[tool.id] == tool.name}
    for tool in catalog.tools:
        assert catalog.find_tool_by_wire_name(made[tool.id]) is tool
