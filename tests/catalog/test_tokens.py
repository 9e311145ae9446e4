"""Counting tools: each once, as it is sent, with the tokenizer the number comes from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS
from toolbelt.catalog.tokens import EstimateCounter, TokenCounter, count_tool_tokens, namespace_text

CATALOG = Catalog((Plugin("p", (Tool("a.b", "Does « it »."), Tool("c"))), Plugin("q", (Tool("c", "x" * 100),))))


class Characters:
    """A tokenizer of one token a character, that remembers what it was asked."""

    name = "characters"
    exact = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, texts: Sequence[str]) -> list[int]:
        self.asked.extend(texts)
        return [len(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("éé", 1),
        ("日本", 2),
        ("😀", 1),
        ("\ud800", 1),
        ("x" * 1_000_000, 250_000),
    ],
)
def test_the_estimate_is_four_bytes_a_token_rounded_up(text: str, tokens: int) -> None:
    assert EstimateCounter().count([text]) == [tokens]


def test_the_estimate_says_that_it_is_one() -> None:
    counter: TokenCounter = EstimateCounter()
    assert (counter.name, counter.exact) == ("estimate", False)
    assert counter.count([]) == []


@given(st.lists(st.text()))
def test_the_estimate_counts_each_text_apart(texts: list[str]) -> None:
    counter = EstimateCounter()
    assert counter.count(texts) == [counter.count([text])[0] for text in texts]


@pytest.mark.parametrize("form", DEFINITION_FORMATS)
def test_a_tool_is_counted_as_it_is_sent(form: str) -> None:
    counter = Characters()
    made = count_tool_tokens(CATALOG, counter, form)
    sent = {
        tool.id: json.dumps(DEFINITION_FORMATS[form](tool, CATALOG.wire_names[tool.id]), ensure_ascii=False)
        for tool in CATALOG.tools
    }
    assert [json.loads(text) for text in counter.asked] == [json.loads(text) for text in sent.values()]
    assert (made.tokenizer, made.exact, made.form) == ("characters", True, form)
    assert made.by_id == dict(zip(sent, map(len, counter.asked), strict=True))


def test_sums() -> None:
    made = count_tool_tokens(CATALOG, Characters())
    empty = '{"type":"function","function":{"name":"","description":"","parameters":{"type":"object","properties":{}}}}'
    assert made.by_id == {
        "p/a.b": len(empty) + len("a_b") + len("Does « it »."),
        "p/c": len(empty) + len("p__c"),
        "q/c": len(empty) + len("q__c") + 100,
    }
    assert made.total == sum(made.by_id.values())
    assert made.of(["q/c", "p/c"]) == made.by_id["q/c"] + made.by_id["p/c"]
    assert made.of([]) == 0
    with pytest.raises(KeyError):
        made.of(["nope"])


def test_nothing_costs_nothing() -> None:
    assert count_tool_tokens(Catalog(), EstimateCounter()).total == 0


ROOM = {"type": "object", "properties": {"floor": {"type": "integer"}}, "required": ["floor"]}


def test_a_function_is_written_like_typescript() -> None:
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {
            "lamp": {"type": "string", "description": "Which one."},
            "colour": {"enum": ["red", "blue"], "default": "red"},
            "levels": {"type": "array", "items": {"type": "number"}},
            "room": {"$ref": "#/$defs/room"},
            "until": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "further": {"type": "object"},
            "anything": True,
        },
        "required": ["lamp"],
        "$defs": {"room": ROOM},
    }
    assert (
        namespace_text(Tool(name="light", description="Switches a lamp on.", parameters=parameters), "house__light")
        == """\
// Switches a lamp on.
type house__light = (_: {
// Which one.
lamp: string,
colour?: "red" | "blue", // default: "red"
levels?: number[],
room?: {
floor: number,
},
until?: number | null,
further?: object,
anything?: any,
}) => any;

"""
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"properties": []},
        {"type": "object", "properties": {}},
    ],
)
def test_nothing_to_fill_in(parameters: dict[str, Any]) -> None:
    text = namespace_text(Tool(name="ping", description="", parameters=parameters), "ping")
    assert text == "type ping = () => any;\n\n"


def test_a_schema_without_end_is_written_to_some_depth() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    text = namespace_text(Tool(name="walk", description="", parameters=node), "walk")
    assert 10 < text.count("next?:") < 100


@pytest.mark.parametrize("target", ["#/nowhere", "https://example.org/schema", "#/properties/at/type"])
def test_a_reference_to_nothing_is_any(target: str) -> None:
    parameters = {"type": "object", "properties": {"at": {"type": "string"}, "to": {"$ref": target}}}
    assert "to?: any," in namespace_text(Tool(name="go", description="", parameters=parameters), "go")
