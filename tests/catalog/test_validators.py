from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from toolbelt.catalog.validators import make_validator

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("value", "places"),
    [
        pytest.param({"a": 1}, [], id="right"),
        pytest.param({"a": "1", "b": "y"}, [["a"], ["b"]], id="every-fault"),
        pytest.param({}, [[]], id="what-is-missing"),
    ],
)
def test_faults_are_told_with_their_places(value: Any, places: list[list[str]]) -> None:
    validator = make_validator(SCHEMA)
    assert validator is not None
    assert sorted(list(fault.absolute_path) for fault in validator.faults(value)) == places
    assert not validator.is_broken


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="empty"),
        pytest.param({"type": "nonsense"}, id="no-schema"),
        pytest.param({"properties": {"a": {"pattern": "(?<n>x"}}}, id="a-pattern-of-another-language"),
    ],
)
def test_nothing_can_be_held_against_a_schema_that_is_none(schema: dict[str, Any]) -> None:
    validator = make_validator(schema)
    assert validator is None or (list(validator.faults({"a": "x"})) == [] and validator.is_broken)


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param("http://127.0.0.1:9/x.json", id="elsewhere"),
        pytest.param("#/properties/a", id="itself"),
        pytest.param("#/$defs/none", id="nothing"),
    ],
)
def test_a_reference_that_leads_nowhere_breaks_the_schema_in_silence(reference: str) -> None:
    validator = make_validator({"properties": {"a": {"$ref": reference}}})
    assert validator is not None
    assert list(validator.faults({"a": 1})) == []
    assert validator.is_broken
    assert list(validator.faults({"a": 1})) == []


def test_the_dialect_is_the_one_the_schema_names() -> None:
    tuple_of_two = {"items": [{"type": "integer"}, {"type": "string"}]}
    old = make_validator({"$schema": "http://json-schema.org/draft-07/schema#", **tuple_of_two})
    assert old is not None
    assert len(list(old.faults([1, 2]))) == 1
    assert make_validator(tuple_of_two) is None  # no schema in 2020-12


def test_importing_it_loads_no_jsonschema() -> None:
    program = "import sys, toolbelt.catalog.validators; sys.exit('jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"next": value}
    return value


LINKED = {"properties": {"next": {"$ref": "#"}, "a": {"type": "integer"}, "price": {"multipleOf": 0.1}}}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"price": 10**400}, id="a-number-of-400-digits"),
        pytest.param({"price": float("inf")}, id="no-number"),
        pytest.param(_nested(600), id="an-object-600-deep"),
    ],
)
def test_one_value_does_not_switch_the_check_off_for_those_to_come(value: Any) -> None:
    validator = make_validator(LINKED)
    assert validator is not None
    list(validator.faults(value))
    assert not validator.is_broken
    assert len(list(validator.faults({"a": "x"}))) == 1


def test_a_caller_deep_in_the_stack_does_not_switch_the_check_off_either() -> None:
    validator = make_validator(LINKED)
    assert validator is not None

    def call(at: int) -> None:
        list(validator.faults({"next": {"next": {"a": "x"}}}))
        if at:
            call(at - 1)

    with pytest.raises(RecursionError):
        call(sys.getrecursionlimit())
    assert not validator.is_broken
    assert len(list(validator.faults({"a": "x"}))) == 1
