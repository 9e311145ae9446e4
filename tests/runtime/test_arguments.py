"""Arguments as models write them (rule R3)."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wording import mentions
from toolbelt.runtime.arguments import (
    MAX_DEPTH,
    ArgumentsError,
    check_schema,
    describe_arguments_error,
    describe_faults,
    read_arguments,
)
from toolbelt.runtime.executable import ExecutableTool


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


def tool_with(**parameters: Any) -> ExecutableTool:
    return ExecutableTool(name="t", function=lambda **_: None, parameters=parameters)


@pytest.mark.parametrize(
    ("args", "read"),
    [
        pytest.param({"a": 1}, {"a": 1}, id="mapping"),
        pytest.param(MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}, id="any-mapping-with-tuples-as-lists"),
        pytest.param('{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}, id="json-text"),
        pytest.param(b'{"a": "\xc3\xa9"}', {"a": "é"}, id="json-bytes"),
        pytest.param(bytearray(b"{}"), {}, id="json-bytearray"),
        pytest.param("", {}, id="empty-text"),
        pytest.param(" \n", {}, id="blank-text"),
        pytest.param('{"a": Infinity}', {"a": float("inf")}, id="infinity"),
        pytest.param('{"a": 1, "a": 2}', {"a": 2}, id="the-last-of-two"),
        pytest.param('{"a": "\\ud800"}', {"a": "\ud800"}, id="half-a-character"),
    ],
)
def test_R3_arguments_are_read(args: Any, read: dict[str, Any]) -> None:
    assert read_arguments(args) == read
    assert type(read_arguments(args)) is dict


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            '{"a": 1',
            "they are not JSON: Expecting ',' delimiter at line 1, column 8, near '{\"a\": 1'.",
            id="cut-short",
        ),
        pytest.param(
            '{\n"a" 1}',
            "they are not JSON: Expecting ':' delimiter at line 2, column 5, near '{\\n\"a\" 1}'.",
            id="no-colon-on-line-two",
        ),
        pytest.param("[]", "they must be a JSON object, not a list.", id="list"),
        pytest.param('"{}"', "they must be a JSON object, not text.", id="json-in-json"),
        pytest.param("3.5", "they must be a JSON object, not a number.", id="number"),
        pytest.param("true", "they must be a JSON object, not a boolean.", id="boolean"),
        pytest.param("null", "they must be a JSON object, not null.", id="null"),
        pytest.param(None, "they must be a JSON object, not null.", id="None"),
        pytest.param({1}, "they must be a JSON object, not a value of type set.", id="set"),
        pytest.param(b"{\xff}", "they are not JSON: not UTF-8 at byte 2.", id="no-utf-8"),
        pytest.param(
            {"a": {None: 1}}, "the names in an object must be text, not null.", id="nested-name-that-is-no-text"
        ),
        pytest.param({"a": 1 << 20_000}, "they hold a number with too many digits.", id="value-without-end"),
        pytest.param('{"a": ' + "1" * 5_000 + "}", "they hold a number with too many digits.", id="number-without-end"),
        pytest.param("[" * 200_000, "they are nested more than 100 deep.", id="brackets-without-end"),
        pytest.param(nested(MAX_DEPTH + 2), "they are nested more than 100 deep.", id="deep-mapping"),
        pytest.param(json.dumps(nested(MAX_DEPTH + 2)), "they are nested more than 100 deep.", id="deep-json"),
    ],
)
def test_R3_what_cannot_be_read_says_why_and_where(args: Any, message: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        read_arguments(args)
    assert str(caught.value) == message


def test_R3_a_mapping_that_holds_itself_is_too_deep() -> None:
    circle: dict[str, Any] = {}
    circle["a"] = [circle]
    with pytest.raises(ArgumentsError, match="nested"):
        read_arguments(circle)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.text(), json_values))
def test_R3_reading_json_gives_what_was_written_and_shares_nothing(args: dict[str, Any]) -> None:
    assert read_arguments(json.dumps(args)) == args
    copied = read_arguments(args)
    assert copied == args

    def containers(value: Any) -> set[int]:
        items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return set() if items is None else {id(value)}.union(*map(containers, items))

    assert not containers(args) & containers(copied)


RECURSIVE = {
    "$ref": "#/$defs/node",
    "$defs": {"node": {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}},
}


@pytest.mark.parametrize(
    ("schema", "args", "message"),
    [
        pytest.param(
            {"type": "object", "required": ["a", "b"]},
            {},
            '"a" is a required property; "b" is a required property.',
            id="all-that-is-missing",
        ),
        pytest.param(
            {"properties": {"a": {"items": {"properties": {"b": {"type": "integer"}}}}}},
            {"a": [{}, {"b": "x"}]},
            'a[1].b: "x" is not of type "integer".',
            id="the-path",
        ),
        pytest.param(
            {"additionalProperties": {"type": "integer"}},
            {str(number): "x" for number in range(9)},
            "; ".join(f'{number}: "x" is not of type "integer"' for number in range(5)) + "; and more.",
            id="a-handful-of-them",
        ),
        pytest.param(RECURSIVE, nested(MAX_DEPTH), None, id="a-schema-that-refers-to-itself"),
        pytest.param({}, {"a": 1}, None, id="no-schema"),
        pytest.param({"type": "nonsense"}, {"a": 1}, None, id="a-broken-schema"),
        pytest.param({"$ref": "#/nowhere"}, {"a": 1}, None, id="a-reference-to-nothing"),
    ],
)
def test_R3_arguments_are_held_against_the_schema(
    schema: dict[str, Any], args: dict[str, Any], message: str | None
) -> None:
    tool = tool_with(**schema)
    if message is None:
        check_schema(tool.validator, args)
    else:
        with pytest.raises(ArgumentsError) as caught:
            check_schema(tool.validator, args)
        assert str(caught.value) == message


def test_R3_what_was_wrong_with_a_long_value_is_short() -> None:
    tool = tool_with(properties={"a": {"type": "integer"}})
    with pytest.raises(ArgumentsError) as caught:
        check_schema(tool.validator, {"a": "x" * 100_000})
    assert str(caught.value).endswith('is not of type "integer".')
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        pytest.param({"properties": {"a": {}, "b": {}}, "required": ["b"]}, " It takes: a, b (required).", id="names"),
        pytest.param({"properties": {}}, " It takes no arguments.", id="none"),
        pytest.param({"type": "object"}, "", id="not-said"),
        pytest.param({"properties": 5, "required": 5}, "", id="broken"),
        pytest.param(
            {"properties": {f"p{number}": {} for number in range(30)}},
            f" It takes: {', '.join(f'p{number}' for number in range(20))}, ....",
            id="many",
        ),
    ],
)
def test_R3_a_fault_is_told_with_what_the_tool_takes(schema: dict[str, Any], said: str) -> None:
    assert mentions(describe_arguments_error(tool_with(**schema), "no."), "t", f"no.{said}")


def fault(loc: tuple[str | int, ...], kind: str = "int_type", msg: str = "Input should be a valid integer") -> Any:
    return {"type": kind, "loc": loc, "msg": msg, "input": None}


@pytest.mark.parametrize(
    ("args", "found", "told"),
    [
        pytest.param({"a": [{"b": "x"}]}, fault(("a", 0, "b")), "'a[0].b' is \"x\" but", id="a-path"),
        pytest.param({"a": "x"}, fault(("a", "int")), "'a' is \"x\" but", id="the-kind-that-was-tried-is-no-place"),
        pytest.param({"a": {"b": 1}}, fault(("a", "Point", "b")), "'a.b' is 1 but", id="nor-on-the-way"),
        pytest.param({"a": {}}, fault(("a", "Point")), "'a' is {} but", id="nor-of-an-object"),
        pytest.param({"a": {}}, fault(("a", "Point", "x"), "missing"), "'a.x' is missing.", id="missing"),
        pytest.param({"a": [{}]}, fault(("a", 0, "x"), "missing"), "'a[0].x' is missing.", id="missing-in-a-list"),
        pytest.param({"**": {"a": "x"}}, fault(("**", "a")), "'a' is \"x\" but", id="of-the-rest"),
        pytest.param({"a": 1}, fault(("a",), "value_error", "Value error, a\n  b."), "'a' is 1 but a b.", id="line"),
        pytest.param({"a": "é" * 99}, fault(("a",)), f"'a' is \"{'é' * 58}… but", id="shortened"),
        pytest.param({"a": {1}}, fault(("a",)), "'a' is {1} but", id="no-JSON"),
    ],
)  # fmt: skip
def test_R3_where_a_fault_is(args: dict[str, Any], found: Any, told: str) -> None:
    assert describe_faults(args, [found], (), ("a",), extra_key="**").startswith(told)


def test_R3_what_was_tried_in_turn_is_one_fault() -> None:
    tried = [
        fault(("a", "int")),
        fault(("a", "str"), "string_type", "Input should be a valid string"),
        fault(("a", "int")),
    ]
    assert mentions(describe_faults({"a": []}, tried, (), ("a",)), "'a' is []", "integer", "string")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("pth", "there is no argument 'pth' (did you mean 'path'?)."),
        ("colour", "there is no argument 'colour'."),
    ],
)
def test_R3_an_unknown_name_gets_the_nearest(name: str, told: str) -> None:
    assert describe_faults({}, (), [name], ["path", "limit"]) == told
