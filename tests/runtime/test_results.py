"""Calls and results: read from whatever form they come in."""

from __future__ import annotations

import asyncio
import collections
import datetime
import decimal
import enum
import json
import math
import pathlib
import uuid
import warnings
from dataclasses import dataclass, replace
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wording import mentions
from toolbelt.runtime.results import (
    CallResult,
    FailureCode,
    ToolCall,
    ToolResult,
    chars_per_call,
    close_unawaited,
    cut_result,
    cut_text,
    describe_error,
    make_encodable,
    make_result,
    max_chars_of_call,
)

TEXT = '{"path": "a"}'


@pytest.mark.parametrize(
    ("call", "read"),
    [
        pytest.param(ToolCall("1", "read", {"a": 1}), ToolCall("1", "read", {"a": 1}), id="as-it-is"),
        pytest.param({"tool_call_id": "1", "name": "read", "args": {}}, ToolCall("1", "read", {}), id="our-own-form"),
        pytest.param(
            {"id": "1", "type": "function", "function": {"name": "read", "arguments": TEXT}},
            ToolCall("1", "read", TEXT), id="openai-chat",
        ),
        pytest.param(
            SimpleNamespace(id="1", function=SimpleNamespace(name="read", arguments=TEXT)),
            ToolCall("1", "read", TEXT), id="openai-chat-object",
        ),
        pytest.param(
            {"type": "tool-call", "toolCallId": "1", "toolName": "read", "input": {"a": 1}},
            ToolCall("1", "read", {"a": 1}), id="camel-case",
        ),
        pytest.param(SimpleNamespace(callId="1", name="read"), ToolCall("1", "read", {}), id="camel-case-object"),
        pytest.param(
            {"type": "function_call", "id": "fc_9", "call_id": "1", "name": "read", "arguments": TEXT},
            ToolCall("1", "read", TEXT), id="openai-responses",
        ),
        pytest.param(
            {"type": "tool_use", "id": "1", "name": "read", "input": {"a": 1}},
            ToolCall("1", "read", {"a": 1}), id="anthropic",
        ),
        pytest.param({"name": "read", "arguments": {"a": 1}}, ToolCall("", "read", {"a": 1}), id="mcp"),
        pytest.param({"id": 7, "name": "read", "args": []}, ToolCall("7", "read", []), id="no-object-is-kept"),
        pytest.param({"id": "1", "name": "read", "args": None}, ToolCall("1", "read", {}), id="null-is-nothing"),
        pytest.param({"id": "1", "function": {"arguments": ""}}, ToolCall("1", "", ""), id="no-name"),
        pytest.param({}, ToolCall("", "", {}), id="nothing"),
        pytest.param(None, ToolCall("", "", {}), id="none"),
    ],
)  # fmt: skip
def test_R3_a_call_is_read_in_every_form(call: Any, read: ToolCall) -> None:
    assert ToolCall.of(call) == read


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult(True, "done"), "done"),
        (ToolResult(True, "", structured=[1]), ""),
        (ToolResult.failure(FailureCode.TIMEOUT, "It took too long."), "It took too long."),
        (ToolResult(False), ""),
    ],
)
def test_R3_a_result_is_told_as_a_message(result: ToolResult, text: str) -> None:
    message = {"role": "tool", "tool_call_id": "1", "content": text}
    assert CallResult("1", "read", result).to_message() == message


def test_R3_a_code_is_its_text() -> None:
    assert [f"{code}" for code in FailureCode] == ["not_available", "execution_failed", "input_invalid", "timeout"]


class Colour(enum.Enum):
    RED = "red"


class Shade(enum.StrEnum):
    RED = "red"


class Word(str):
    __slots__ = ()


@dataclass
class Point:
    x: int
    what: Any = None


class Event(pydantic.BaseModel):
    when: datetime.date
    tags: set[str] = set()


Pair = collections.namedtuple("Pair", "left right")
DAY = datetime.date(2024, 1, 31)


@pytest.mark.parametrize(
    ("returned", "value", "structured"),
    [
        pytest.param("plain", "plain", None, id="text-as-it-is"),
        pytest.param(Word("plain"), "plain", None, id="a-kind-of-text"),
        pytest.param("", "", None, id="empty-text"),
        pytest.param(None, "", None, id="nothing"),
        pytest.param(3, "3", 3, id="int"),
        pytest.param(True, "true", True, id="bool"),
        pytest.param(1.5, "1.5", 1.5, id="float"),
        pytest.param({"é": [1, None]}, '{"é": [1, null]}', {"é": [1, None]}, id="characters-are-not-escaped"),
        pytest.param((1, "a"), '[1, "a"]', [1, "a"], id="tuple"),
        pytest.param(Pair(1, 2), "[1, 2]", [1, 2], id="namedtuple"),
        pytest.param({3, 1, 2}, "[1, 2, 3]", [1, 2, 3], id="a-set-in-order"),
        pytest.param(frozenset({"b", "a"}), '["a", "b"]', ["a", "b"], id="a-frozenset-in-order"),
        pytest.param({1: 2}, '{"1": 2}', {"1": 2}, id="keys-that-are-numbers"),
        pytest.param({DAY: 2}, '{"2024-01-31": 2}', {"2024-01-31": 2}, id="keys-that-are-dates"),
        pytest.param({"a": 1}.keys(), '["a"]', ["a"], id="keys-of-a-dict"),
        pytest.param({"a": 1}.values(), "[1]", [1], id="values-of-a-dict"),
        pytest.param(range(3), "[0, 1, 2]", [0, 1, 2], id="range"),
        pytest.param(collections.deque([1]), "[1]", [1], id="deque"),
        pytest.param(MappingProxyType({"a": 1}), '{"a": 1}', {"a": 1}, id="mapping"),
        pytest.param(Colour.RED, "red", "red", id="enum"),
        pytest.param(Shade.RED, "red", "red", id="enum-of-text"),
        pytest.param([Colour.RED, Shade.RED], '["red", "red"]', ["red", "red"], id="enums-in-a-list"),
        pytest.param(DAY, "2024-01-31", "2024-01-31", id="date"),
        pytest.param(datetime.timedelta(seconds=3), "PT3S", "PT3S", id="timedelta"),
        pytest.param(decimal.Decimal("1.50"), "1.50", "1.50", id="decimal"),
        pytest.param(uuid.UUID(int=0), str(uuid.UUID(int=0)), str(uuid.UUID(int=0)), id="uuid"),
        pytest.param(pathlib.PurePosixPath("/a/b"), "/a/b", "/a/b", id="path"),
        pytest.param("é".encode(), "é", "é", id="bytes-of-text"),
        pytest.param(b"\xff\x00", "_wA=", "_wA=", id="bytes-that-are-no-text-in-base64"),
        pytest.param([b"\xff\x00"], '["_wA="]', ["_wA="], id="such-bytes-in-a-list"),
        pytest.param(
            Point(1, Point(2, {DAY})),
            '{"x": 1, "what": {"x": 2, "what": ["2024-01-31"]}}',
            {"x": 1, "what": {"x": 2, "what": ["2024-01-31"]}},
            id="dataclasses",
        ),
        pytest.param(
            [Event(when=DAY, tags={"a"})],
            '[{"when": "2024-01-31", "tags": ["a"]}]',
            [{"when": "2024-01-31", "tags": ["a"]}],
            id="pydantic-models",
        ),
    ],
)
def test_R3_what_is_returned_becomes_text_and_a_plain_value(returned: Any, value: str, structured: Any) -> None:
    result = make_result("t", returned)
    assert result == ToolResult(True, value, structured=structured)
    assert type(result.value) is str
    assert type(result.structured) is type(structured)


def test_R3_what_is_structured_is_nobody_else_s() -> None:
    returned = {"items": [1]}
    result = make_result("t", returned)
    returned["items"].append(2)
    assert result.structured == {"items": [1]}


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


def _abyss() -> list[Any]:
    abyss: list[Any] = []
    for _ in range(100_000):
        abyss = [abyss]
    return abyss


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        pytest.param(object(), ("an object", "JSON"), id="object"),
        pytest.param({"a": [object()]}, ("JSON", "an object in it"), id="inside"),
        pytest.param(Point(1, object()), "a Point", id="inside-a-dataclass"),
        pytest.param((each for each in (1,)), "a generator", id="generator"),
        pytest.param({"a": (each for each in (1,))}, "a generator in it", id="generator-inside"),
        pytest.param(print, "a builtin_function_or_method", id="function"),
        pytest.param(int, "a type", id="class"),
        pytest.param(ValueError("x"), "a ValueError", id="exception"),
        pytest.param(_circle(), "it holds itself", id="circular"),
        pytest.param(_abyss(), "it is too deep", id="bottomless"),
        pytest.param(10**5000, "an int", id="a-number-without-end"),
    ],
)
def test_R7_what_cannot_be_written_fails_and_names_the_type(returned: Any, named: object) -> None:
    result = make_result("t", returned)
    assert result.code is FailureCode.EXECUTION_FAILED
    assert mentions(result.error, "Tool t failed", named)


def test_R7_a_coroutine_that_is_returned_is_closed() -> None:
    async def nothing() -> None: ...

    coroutines = [nothing(), nothing()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for returned in (coroutines[0], [coroutines[1]]):
            result = make_result("t", returned)
            assert "coroutine" in result.text
        for coroutine in coroutines:
            with pytest.raises(RuntimeError, match="already awaited"):
                asyncio.run(coroutine)


def test_dispose_leaves_alone_what_is_no_coroutine() -> None:
    values: list[Any] = [None, "a", iter("ab")]
    for value in values:
        close_unawaited(value)
    assert list(values[2]) == ["a", "b"]  # nor is it used up


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        pytest.param({"ok": 1}, ("ok", "an int"), id="ok"),
        pytest.param({"value": 5}, ("value", "an int"), id="value"),
        pytest.param({"value": None}, ("value", "a NoneType"), id="no-value"),
        pytest.param({"ok": False, "error": 5}, ("error", "an int"), id="error"),
        pytest.param({"ok": False, "code": "no such"}, ("code", "a str"), id="code"),
        pytest.param({"ok": False, "code": ["x"]}, ("code", "a list"), id="a-list-for-a-code"),
        pytest.param({"cost_usd": "1"}, ("cost_usd", "a str"), id="cost"),
        pytest.param({"printed": b""}, ("printed", "a bytes"), id="printed"),
    ],
)
def test_R7_a_result_with_parts_of_the_wrong_type_is_a_failure(changed: dict[str, Any], named: object) -> None:
    result = make_result("t", replace(ToolResult(True, "v"), **changed))
    assert (result.ok, result.code) == (False, FailureCode.EXECUTION_FAILED)
    assert mentions(result.error, "Tool t failed", named)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            ToolResult(True, "v", structured=[1], cost_usd=1, printed="p"),
            ToolResult(True, "v", structured=[1], cost_usd=1, printed="p"),
            id="a-right-one-stays",
        ),
        pytest.param(
            ToolResult(False),
            ToolResult(False, error="Tool t failed and did not say why.", code=FailureCode.EXECUTION_FAILED),
            id="a-failure-without-reason-is-given-one",
        ),
        pytest.param(
            ToolResult(False, error="no", code="timeout"),  # type: ignore[arg-type]
            ToolResult(False, error="no", code=FailureCode.TIMEOUT),
            id="a-code-as-text",
        ),
        pytest.param(
            ToolResult(True, "v", error="no", code=FailureCode.TIMEOUT),
            ToolResult(True, "v"),
            id="no-error-in-success",
        ),
    ],
)
def test_R3_a_result_of_the_tool_s_own_making(given: ToolResult, expected: ToolResult) -> None:
    result = make_result("t", given)
    assert result == expected
    assert result.code is expected.code


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(json_values.filter(lambda value: value is not None and not isinstance(value, str)))
def test_R3_json_goes_through_unchanged(value: Any) -> None:
    result = make_result("t", value)
    assert result.structured == value
    assert json.loads(result.value) == value


class Measured(pydantic.BaseModel):
    value: float


@pytest.mark.parametrize(
    ("returned", "value", "structured"),
    [
        pytest.param(math.nan, "null", None, id="alone"),
        pytest.param([1.5, math.inf, -math.inf], "[1.5, null, null]", [1.5, None, None], id="in-a-list"),
        pytest.param({"é": math.nan}, '{"é": null}', {"é": None}, id="in-a-mapping"),
        pytest.param(Point(1, math.nan), '{"x": 1, "what": null}', {"x": 1, "what": None}, id="in-a-dataclass"),
        pytest.param([Measured(value=math.nan)], '[{"value": null}]', [{"value": None}], id="in-a-pydantic-model"),
        pytest.param({1: math.nan, DAY: 2}, '{"1": null, "2024-01-31": 2}', {"1": None, "2024-01-31": 2}, id="by-date"),
        pytest.param(["NaN", math.nan], '["NaN", null]', ["NaN", None], id="beside-its-name-as-text"),
        pytest.param({"Infinity": 1}, '{"Infinity": 1}', {"Infinity": 1}, id="its-name-alone-is-text"),
    ],
)
def test_R3_numbers_that_json_lacks_are_null(returned: Any, value: str, structured: Any) -> None:
    assert make_result("t", returned) == ToolResult(True, value, structured=structured)


@given(st.text(st.characters()))  # half characters among them
def test_R3_texts_are_made_encodable_and_otherwise_left_alone(text: str) -> None:
    made = make_encodable(text)
    made.encode()
    try:
        text.encode()
    except UnicodeEncodeError:
        assert len(made) <= len(text)
    else:
        assert made == text


class Wordless(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError("  \n"), "ValueError"),
        (KeyError("a"), "KeyError: 'a'"),
        (Wordless(), "Wordless"),
        (
            ExceptionGroup("two", [ValueError("a"), ExceptionGroup("one", [OSError()])]),
            "ExceptionGroup: two (2 sub-exceptions): ValueError: a; ExceptionGroup: one (1 sub-exception): OSError",
        ),
    ],
)
def test_R7_exceptions_are_described_whatever_they_are(error: BaseException, said: str) -> None:
    assert describe_error(error) == said


@pytest.mark.parametrize(
    ("total", "calls", "share"),
    [
        pytest.param(80_000, 1, 80_000, id="one-call-has-it-all"),
        pytest.param(80_000, 0, 80_000, id="no-call-is-no-division-by-zero"),
        pytest.param(100, 3, 33, id="rounded-down"),
        pytest.param(2, 3, 0, id="less-than-one-each-is-none"),
        pytest.param(0, 2, 0, id="nothing-is-nothing-each"),
    ],
)
def test_R4_the_budget_is_shared_evenly(total: int, calls: int, share: int) -> None:
    assert chars_per_call(total, calls) == share


@pytest.mark.parametrize(("own", "cap"), [(None, 100), (50, 50), (0, 0), (500, 100)])
def test_R4_a_tool_may_lower_its_cap(own: int | None, cap: int) -> None:
    assert max_chars_of_call(100, own) == cap


@pytest.mark.parametrize(
    ("text", "cap", "left"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "abc\n[truncated — 4 chars total]"),
        ("abcd", 0, "\n[truncated — 4 chars total]"),
        ("", 0, ""),
        ("x" * 12_345, 1, "x\n[truncated — 12345 chars total]"),
    ],
)
def test_R4_a_cut_text_says_how_long_it_was(text: str, cap: int, left: str) -> None:
    assert cut_text(text, cap) == left


def test_R4_errors_are_cut_to_the_same_cap_and_the_rest_survives() -> None:
    failed = ToolResult(False, "also long", "very long", FailureCode.TIMEOUT, [1], 0.5, "printed text")
    assert cut_result(failed, 4) == ToolResult(
        False,
        "also\n[truncated — 9 chars total]",
        "very\n[truncated — 9 chars total]",
        FailureCode.TIMEOUT,
        [1],
        0.5,
        "printed text",
    )


@given(st.text(), st.integers(0, 50))
def test_R4_what_fits_is_left_alone(text: str, cap: int) -> None:
    result = ToolResult(True, text)
    assert (cut_result(result, cap) is result) is (len(text) <= cap)
