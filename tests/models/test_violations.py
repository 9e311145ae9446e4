"""Which tools break which rules, where, and what is said of it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings

from tests.models.schema_strategies import tools
from tests.wording import mentions
from toolbelt import Tool
from toolbelt.catalog.definitions import assign_wire_names
from toolbelt.models.google_rules import GEMINI
from toolbelt.models.provider_rules import PROVIDER_RULES
from toolbelt.models.rules import (
    ArrayItems,
    DescriptionLength,
    Effect,
    Fact,
    FilledEnum,
    MaxTools,
    NamePattern,
    ParameterName,
    RequiredDescribed,
    RootKeywords,
    RootObject,
    Rule,
    SchemaKeywords,
    SchemaObjects,
    SingleType,
    Source,
    TextEnum,
    TextFormat,
    ToolName,
    TypeGiven,
)
from toolbelt.models.schema_parts import format_place, read_shape
from toolbelt.models.violation_text import describe_problem, describe_repair, describe_violation
from toolbelt.models.violations import breaks, explain, inspect_tools

SOURCE = (Source("https://example.com", date(2026, 1, 1)),)
OBJECT = {"type": "object", "properties": {}}
DASHES = NamePattern("A-Za-z_", "A-Za-z0-9_", 8)


def _fact(rule: Rule, effect: Effect = Effect.REFUSED) -> Fact:
    return Fact(rule, SOURCE, effect)


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("rule", "tool", "said", "mend", "places"),
    [
        pytest.param(
            ToolName(DASHES), Tool("a-b"), "the name 'a-b' is not", "send it under another name", [], id="name"
        ),
        pytest.param(
            ToolName(NamePattern()), Tool("a.b"), "the name 'a.b' is not", "sent as 'a_b'", [], id="name-sent-otherwise"
        ),
        pytest.param(
            ParameterName(DASHES),
            Tool("t", parameters=_object(ok={}, **{"a-b": {}, "c d": {}})),
            "parameters 'a-b', 'c d' are not named",
            "send them under other names",
            ["properties.a-b", "properties.c d"],
            id="parameters-by-their-names",
        ),
        pytest.param(
            DescriptionLength(longest=10),
            Tool("t", "x" * 1_500),
            "its description has 1,500 characters, over 10",
            "shorten it",
            [],
            id="a-long-description-in-numbers",
        ),
        pytest.param(DescriptionLength(1), Tool("t"), "it has no description", "describe it", [], id="no-description"),
        pytest.param(
            RootObject(),
            Tool("t", parameters={"type": "array"}),
            "its parameters are not of type 'object'",
            "sent as such",
            ["its root"],
            id="no-object",
        ),
        pytest.param(
            SchemaKeywords(barred=frozenset({"const"})),
            Tool("t", parameters=_object(a={"const": 1}, b={"items": {"const": 2}})),
            "'const'",
            "leave out or rewrite",
            ["properties.a.const", "properties.b.items.const"],
            id="a-keyword-wherever-it-stands",
        ),
        pytest.param(
            RootKeywords(barred=frozenset({"anyOf", "oneOf"})),
            Tool("t", parameters={**_object(a={"anyOf": []}), "oneOf": []}),
            "'oneOf' at the root",
            "leave out or rewrite",
            ["oneOf"],
            id="at-the-root-only-there",
        ),
        pytest.param(
            ArrayItems(),
            Tool("t", parameters=_object(a={"type": "array"}, b={"type": "array", "items": {}})),
            "arrays without items: properties.a",
            "say what they hold",
            ["properties.a"],
            id="an-array-of-nobody-knows-what",
        ),
        pytest.param(
            SingleType(),
            Tool("t", parameters=_object(a={"type": ["string", "null"]})),
            "several types at once: properties.a",
            "give one type each",
            ["properties.a"],
            id="several-types",
        ),
        pytest.param(
            TextEnum(),
            Tool("t", parameters=_object(a={"type": "integer", "enum": [1]}, b={"type": "string", "enum": ["x"]})),
            "enum of what is no text: properties.a",
            "name the values in the description",
            ["properties.a"],
            id="an-enum-of-numbers",
        ),
        pytest.param(
            TextFormat(frozenset({"date-time"})),
            Tool("t", parameters=_object(a={"type": "string", "format": "uri"}, b={"type": "number", "format": "x"})),
            "format 'uri'",
            "leave it out",
            ["properties.a.format"],
            id="a-format-of-a-text",
        ),
        pytest.param(
            RequiredDescribed(),
            Tool("t", parameters={**_object(a={}), "required": ["a", "b"]}),
            "requires 'b' without describing it",
            "describe it",
            ["required"],
            id="required-and-not-described",
        ),
        pytest.param(
            FilledEnum(),
            Tool("t", parameters=_object(a={"type": "string", "enum": ["", "x"]}, b={"type": "string", "enum": ["x"]})),
            "enum that is empty or has '' in it: properties.a",
            "name the values instead",
            ["properties.a"],
            id="an-empty-value",
        ),
        pytest.param(
            TypeGiven(),
            Tool("t", parameters=_object(a={"description": "A."}, b={"anyOf": [{}, {"type": "string"}]})),
            "no type: properties.a, properties.b.anyOf.0",
            "say what it is",
            ["properties.a", "properties.b.anyOf.0"],
            id="no-type",
        ),
        pytest.param(
            SchemaObjects(),
            Tool(
                "t",
                parameters={**_object(a=True, b={"items": False}, c={"anyOf": [True]}), "additionalProperties": True},
            ),
            "no object as a schema: properties.a, properties.b.items, properties.c.anyOf.0",
            "write {} for true",
            ["properties.a", "properties.b.items", "properties.c.anyOf.0"],
            id="true-and-false-as-schemas",
        ),
    ],
)
def test_a_violation_names_what_is_wrong_where_and_the_mend(
    rule: Rule, tool: Tool, said: str, mend: str, places: list[str]
) -> None:
    fact = _fact(rule)
    assert breaks(tool, read_shape(tool.parameters), fact)
    violation = explain(tool, assign_wire_names([tool])[tool.id], fact)
    assert describe_problem(violation).startswith(said)
    assert describe_repair(violation) == mend
    assert [format_place(place) for place in violation.places] == places
    assert describe_violation(violation) == f"{tool.id}: {describe_problem(violation)}; {mend}"


def test_what_toolbelt_sends_mended_is_not_refused() -> None:
    tool = Tool("a.b", parameters={"type": "array"})
    inspected = inspect_tools([tool], assign_wire_names([tool]))
    facts = [_fact(ToolName(NamePattern())), _fact(RootObject()), _fact(DescriptionLength(1))]
    found = inspected.find_violations([*facts, _fact(DescriptionLength(1), Effect.SOME_REFUSE)])
    assert [(one.rule, one.is_repaired, one.is_refused) for one in found] == [
        ("tool-name", True, False),
        ("root-object", True, False),
        ("description-length", False, True),
        ("description-length", False, False),  # some refuse it, so it is not sure
    ]


def test_a_number_of_tools_is_no_violation_of_a_tool() -> None:
    tool = Tool("t")
    assert not breaks(tool, read_shape(tool.parameters), _fact(MaxTools(0)))


def test_many_names_are_not_all_said() -> None:
    tool = Tool("t", parameters=_object(**{f"p-{number}": {} for number in range(9)}))
    violation = explain(tool, "t", _fact(ParameterName(DASHES)))
    assert mentions(describe_problem(violation), "p-3", 5)
    assert len(violation.places) == 9


@settings(max_examples=15, deadline=None)
@given(given_tools=tools())
def test_a_glance_sees_what_a_long_look_finds(given_tools: list[Tool]) -> None:
    names = assign_wire_names(given_tools)
    inspected = inspect_tools(given_tools, names)
    for rules in PROVIDER_RULES:
        for violation in inspected.find_violations(rules.for_model("nova")):
            assert describe_problem(violation)
            # What is about the schema and not about its root as a whole has a place there.
            if violation.rule in ("schema-keyword", "array-items", "single-type", "text-enum", "text-format"):
                assert violation.places


def test_sound_tools_break_nothing() -> None:
    tool = Tool("read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
    inspected = inspect_tools([tool], {"read": "read"})
    for rules in PROVIDER_RULES:
        assert inspected.find_violations(rules.for_model("nova")) == ()


def test_no_parameters_are_no_violation() -> None:
    assert inspect_tools([Tool("now", "Tells the time.")], {"now": "now"}).find_violations(GEMINI.facts) == ()
