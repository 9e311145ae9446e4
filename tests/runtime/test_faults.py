"""Faults of arguments as a model is told of them: one line, each with its place."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.runtime.faults import describe_faults


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
    assert describe_faults(args, [found], (), ("a",), beside="**").startswith(told)


def test_R3_what_was_tried_in_turn_is_one_fault() -> None:
    tried = [
        fault(("a", "int")),
        fault(("a", "str"), "string_type", "Input should be a valid string"),
        fault(("a", "int")),
    ]
    assert describe_faults({"a": []}, tried, (), ("a",)) == (
        "'a' is [] but should be a valid integer or should be a valid string."
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("pth", "there is no argument 'pth' (did you mean 'path'?)."),
        ("colour", "there is no argument 'colour'."),
    ],
)
def test_R3_an_unknown_name_gets_the_nearest(name: str, told: str) -> None:
    assert describe_faults({}, (), [name], ["path", "limit"]) == told
