"""The form in which tools are sent: it breaks no rule, and leads back to the tools."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.models.schema_strategies import tools
from toolbelt import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS, assign_wire_names
from toolbelt.catalog.frozen import thaw
from toolbelt.errors import InvalidDefinitionError
from toolbelt.models.claude_rules import ANTHROPIC, BEDROCK
from toolbelt.models.google_rules import GEMINI
from toolbelt.models.json_patches import find_differences, restore_definition
from toolbelt.models.provider_rules import COHERE, OPENAI, PROVIDER_RULES
from toolbelt.models.rules import Fact, MaxTools, ToolName
from toolbelt.models.violations import inspect_tools
from toolbelt.models.wire_form import WireMap, make_wire_form, wire_data

FACTS: Mapping[str, tuple[Fact, ...]] = {
    **{
        rules.key: rules.for_model("amazon.nova")
        for rules in PROVIDER_RULES
        if any(not isinstance(fact.rule, MaxTools) for fact in rules.facts)
    },
    "all-at-once": tuple(fact for rules in (OPENAI, ANTHROPIC, GEMINI, BEDROCK, COHERE) for fact in rules.facts),
}
EVERY_FACT = [pytest.param(facts, id=key) for key, facts in FACTS.items()]


def _each_fact() -> Iterator[tuple[Fact, ...]]:
    """The rules of every provider, for one example: it takes twenty times as long to draw as to check."""
    for key, facts in FACTS.items():
        note(f"under the rules of {key}")
        yield facts


def _tool(name: str = "read", description: str = "Reads.", **schema: object) -> Tool:
    return Tool(name, description, schema, plugin="file", id=f"file/{name}")


def _sent(tool: Tool, facts: tuple[Fact, ...]) -> Tool:
    return make_wire_form([tool], assign_wire_names([tool]), facts).tools[0]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(given_tools=tools())
def test_the_fixed_form_breaks_no_rule_and_leads_back(given_tools: list[Tool]) -> None:
    for facts in _each_fact():
        form = make_wire_form(given_tools, assign_wire_names(given_tools), facts)
        inspected = inspect_tools(form.tools, {tool.id: tool.name for tool in form.tools})
        assert inspected.find_violations(facts) == ()
        # Names are unique and reversible; so are those of parameters, within a tool.
        assert [form.map.find_tool(tool.name) for tool in form.tools] == [tool.id for tool in given_tools]
        assert len({tool.name for tool in form.tools}) == len(given_tools)
        assert [tool.id for tool in form.tools] == [tool.id for tool in given_tools]
        for sent, tool in zip(form.tools, given_tools, strict=True):
            # What is `false` may never be given; some APIs have no words for that.
            own = {name for name, part in tool.parameters.get("properties", {}).items() if part is not False}
            arguments = dict.fromkeys(sent.parameters.get("properties", {}), 1)
            assert set(form.map.restore(sent.name, arguments)) >= set(own)
            assert len(form.map.restore(sent.name, arguments)) == len(arguments)
        assert WireMap(**json.loads(json.dumps(form.map.to_dict()))) == form.map


@settings(max_examples=20, deadline=None)
@given(given_tools=tools(), seed=st.integers(0, 9))
def test_names_do_not_depend_on_the_order_of_the_tools(given_tools: list[Tool], seed: int) -> None:
    names = assign_wire_names(given_tools)
    shuffled = random.Random(seed).sample(given_tools, len(given_tools))
    one, other = (make_wire_form(some, names, COHERE.facts).map for some in (given_tools, shuffled))
    assert one == other


@pytest.mark.parametrize("facts", EVERY_FACT)
def test_what_breaks_no_rule_is_sent_as_it_is(facts: tuple[Fact, ...]) -> None:
    tool = _tool(type="object", properties={"path": {"type": "string", "description": "Where."}}, required=["path"])
    form = make_wire_form([tool], assign_wire_names([tool]), facts)
    assert (form.tools, form.changes) == ((tool,), ())
    assert form.map.to_dict() == {"names": {"read": "file/read"}, "parameters": {}}


def test_names_that_become_alike_stay_apart() -> None:
    catalog = Catalog((Plugin("p", tuple(Tool(name) for name in ("a-b", "a_b", "a.b", "a b"))),))
    form = make_wire_form(catalog.tools, catalog.wire_names, COHERE.facts)
    names = [tool.name for tool in form.tools]
    assert names[1] == "a_b"  # the one that is legal keeps its name
    assert len(set(names)) == 4
    assert all(name.startswith("a_b") for name in names)


def test_a_long_name_keeps_its_beginning_and_is_told_apart() -> None:
    long = ["x" * 70 + "1", "x" * 70 + "2"]
    catalog = Catalog((Plugin("p", tuple(map(Tool, long))),))
    facts = tuple(fact for fact in OPENAI.facts if isinstance(fact.rule, ToolName))
    names = [tool.name for tool in make_wire_form(catalog.tools, {f"p/{name}": name for name in long}, facts).tools]
    assert len(set(names)) == 2
    assert all(len(name) == 64 and name.startswith("x" * 50) for name in names)


@pytest.mark.parametrize(
    ("description", "sent"),
    [
        pytest.param("x" * 1_024, "x" * 1_024, id="what-is-as-long-as-allowed-stays"),
        pytest.param("x" * 1_025, "x" * 1_023 + "…", id="without-a-blank-it-is-cut-where-it-must-be"),
        pytest.param("word " * 300, ("word " * 204).rstrip() + "…", id="else-between-words"),
        pytest.param("A tool. " * 150, ("A tool. " * 127).rstrip() + "…", id="best-after-a-sentence"),
    ],
)
def test_a_long_description_is_cut_where_one_would(description: str, sent: str) -> None:
    assert _sent(_tool(description=description, type="object"), OPENAI.facts).description == sent


def test_what_has_no_description_is_described_by_its_name() -> None:
    assert _sent(_tool(description="", type="object"), BEDROCK.facts).description == "read"


def test_parameters_are_renamed_and_restored() -> None:
    tool = _tool(
        type="object",
        properties={"filter[id]": {"type": "string"}, "filter_id": {"type": "string"}, "$top": {"type": "integer"}},
        required=["filter[id]", "filter_id"],
    )
    form = make_wire_form([tool], assign_wire_names([tool]), ANTHROPIC.facts)
    sent = form.tools[0].parameters
    renamed = dict(form.map.parameters["read"])
    new = {own: name for name, own in renamed.items()}
    assert set(renamed.values()) == {"filter[id]", "$top"}
    assert new["$top"] == "top"
    assert list(sent["properties"]) == [new["filter[id]"], "filter_id", "top"]
    assert sent["required"] == [new["filter[id]"], "filter_id"]
    assert form.map.restore("read", {new["filter[id]"]: "7", "top": 1, "filter_id": "8"}) == {
        "filter[id]": "7",
        "$top": 1,
        "filter_id": "8",
    }
    assert form.map.restore("no_such_tool", {"a": 1}) == {"a": 1}


def test_every_change_is_written_down() -> None:
    tool = Tool(
        "read file",
        "x" * 2_000,
        {"type": "object", "properties": {"a b": {"type": "string", "format": "uri", "title": "A"}}, "not": {}},
        plugin="p",
        id="p/r",
    )
    facts = (*ANTHROPIC.facts, *OPENAI.facts, *GEMINI.facts)
    form = make_wire_form([tool], {"p/r": "read_file"}, facts)
    changed = {(one.tool, *one.change.place): (one.change.was, one.change.now) for one in form.changes}
    assert changed["p/r", "name"] == ("read file", "read_file")
    assert changed["p/r", "description"][0] == "x" * 2_000
    assert changed["p/r", "parameters", "not"] == ({}, None)
    assert changed["p/r", "parameters", "properties", "a b", "format"] == ("uri", None)
    assert changed["p/r", "parameters", "properties", "a b"] == ("a b", "a_b")
    data = wire_data(form, "openai")
    assert [row["place"] for row in data["changes"]][:2] == ["name", "description"]
    assert data["tools"][0]["function"]["name"] == "read_file"
    assert json.loads(json.dumps(data)) == data


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(given_tools=tools(), form=st.sampled_from(sorted(DEFINITION_FORMATS)))
def test_each_tools_own_definition_is_made_again(given_tools: list[Tool], form: str) -> None:
    for facts in _each_fact():
        written = json.loads(
            json.dumps(wire_data(make_wire_form(given_tools, assign_wire_names(given_tools), facts), form))
        )
        definitions = written["tools"]["tools"] if form == "mcp" else written["tools"]
        changed = {row["tool"] for row in written["changes"]}
        for sent, tool in zip(definitions, given_tools, strict=True):
            name = sent["function"]["name"] if "function" in sent else sent["name"]
            restored = restore_definition(sent, written["originals"].get(name, []))
            of_function = restored.get("function", restored)
            schema = of_function[{"anthropic": "input_schema", "mcp": "inputSchema"}.get(form, "parameters")]
            described = {"description": tool.description} if tool.description or form != "mcp" else {}
            kept = {key: of_function[key] for key in ("name", "description") if key in of_function}
            assert kept == {"name": tool.name, **described}
            assert _canonical(schema) == _canonical(thaw(tool.parameters))
            # A tool has a way back just where something is told of it.
            assert (name in written["originals"]) == (tool.id in changed)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(given_tools=tools())
def test_no_difference_is_left_untold(given_tools: list[Tool]) -> None:
    for facts in _each_fact():
        form = make_wire_form(given_tools, assign_wire_names(given_tools), facts)
        for sent, tool in zip(form.tools, given_tools, strict=True):
            told = {one.change.place for one in form.changes if one.tool == tool.id}
            now = thaw(sent.parameters)
            own = form.map.parameters.get(sent.name, {})
            if own:
                now["properties"] = {own.get(name, name): part for name, part in now["properties"].items()}
            for one in find_differences(thaw(tool.parameters), now, ("parameters",)):
                assert one.place in told


def test_what_came_with_a_change_is_told_too() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/N"}, "s": {"type": ["string", "null"]}},
        "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}},
    }
    tool = _tool(**schema)
    form = make_wire_form([tool], assign_wire_names([tool]), GEMINI.facts)
    told = {one["place"]: (one["was"], one["now"]) for one in wire_data(form, "openai")["changes"]}
    assert told["parameters.properties.n.$ref"] == ("#/$defs/N", "what it refers to")
    assert told["parameters.properties.n.type"] == (None, "object")
    assert told["parameters.properties.n.properties"] == (None, {"next": {"type": "object"}})
    assert told["parameters.properties.s.nullable"] == (None, True)
    assert told["parameters.$defs"] == (schema["$defs"], None)


def test_a_way_back_of_another_definition_is_refused() -> None:
    wrong: list[Any] = [[{"op": "move", "from": "/a", "path": "/b"}], [{"op": "test", "path": ""}], [{}], [{"op": "x"}]]
    for patch in wrong:
        with pytest.raises(InvalidDefinitionError):
            restore_definition({"name": "read"}, patch)
    assert restore_definition({"name": "read"}, []) == {"name": "read"}


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
