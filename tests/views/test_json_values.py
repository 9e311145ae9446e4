"""A dataclass, its JSON and its JSON Schema agree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolbelt.views.json_values import (
    Amount,
    Count,
    PositiveCount,
    Share,
    described,
    json_schema,
    json_schemas,
    to_json,
)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Part:
    """A part."""

    name: str
    share: Share | None = field(default=None, metadata=described("of the whole", "share"))


@dataclass(frozen=True)
class Whole:
    """A whole.

    Attributes are described with their fields.
    """

    name: str
    is_new: bool
    weight: Amount
    colour: Colour
    second_colour: Colour | None
    parts: tuple[Part, ...]
    counts: Mapping[Colour, PositiveCount]
    labels: Mapping[str, str]
    anything: Any
    best: Part | None = None
    passed: Count = field(default=0, metadata=described("trials that passed", key="pass"))
    note: str | None = field(default=None, metadata=described("what else to know", may_be_absent=True))
    extra: tuple[Part, ...] = field(default=(), metadata=described("further parts", may_be_absent=True))


WHOLE = Whole("w", True, 1.5, Colour.RED, None, (Part("p", 0.5),), {Colour.BLUE: 2}, {"a": "b"}, [1, None])
SCHEMA = json_schema(Whole, {"part": Part})

amounts = st.floats(0, 1e9)
parts = st.builds(Part, st.text(), st.none() | st.floats(0, 1))
wholes = st.builds(
    Whole,
    st.text(),
    st.booleans(),
    amounts,
    st.sampled_from(Colour),
    st.none() | st.sampled_from(Colour),
    st.lists(parts).map(tuple),
    st.dictionaries(st.sampled_from(Colour), st.integers(1)),
    st.dictionaries(st.text(), st.text()),
    st.none() | st.integers() | st.text(),
    st.none() | parts,
    st.integers(0),
    st.none() | st.text(),
    st.lists(parts).map(tuple),
)


def test_keys_are_the_fields_in_order_and_what_may_be_absent_is() -> None:
    assert json.dumps(to_json(WHOLE)) == (
        '{"name": "w", "is_new": true, "weight": 1.5, "colour": "red", "second_colour": null, '
        '"parts": [{"name": "p", "share": 0.5}], "counts": {"blue": 2}, "labels": {"a": "b"}, "anything": [1, null], '
        '"best": null, "pass": 0}'
    )
    data = to_json(replace(WHOLE, note="so", extra=(Part("q"),)))
    assert (data["note"], data["extra"]) == ("so", [{"name": "q", "share": None}])


def test_what_json_has_no_word_for_is_an_error() -> None:
    with pytest.raises(TypeError):
        to_json({"set": {1}})


@given(wholes)
def test_the_schema_of_a_class_accepts_each_of_its_values(whole: Whole) -> None:
    Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(to_json(whole))))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"weight": -0.1}, id="below-its-bound"),
        pytest.param({"parts": [{"name": "p", "share": 1.1}]}, id="above-its-bound"),
        pytest.param({"colour": None}, id="null"),
        pytest.param({"second_colour": "green"}, id="a-value-that-the-enum-lacks"),
        pytest.param({"counts": {"green": 1}}, id="a-key-that-the-enum-lacks"),
        pytest.param({"counts": {"red": 0}}, id="a-count-of-nothing"),
        pytest.param({"labels": {"a": 1}}, id="another-type"),
        pytest.param({"pass": None}, id="null-in-place-of-a-count"),
        pytest.param({"passed": 1}, id="the-fields-own-name-where-the-key-differs"),
        pytest.param({"parts": [{"name": "p"}]}, id="a-key-that-is-missing"),
    ],
)
def test_the_schema_refuses_what_the_class_cannot_hold(change: dict[str, Any]) -> None:
    validator = Draft202012Validator(SCHEMA)
    assert validator.is_valid(to_json(WHOLE))
    assert not validator.is_valid({**to_json(WHOLE), **change})


def test_descriptions_state_the_unit_first_and_a_class_is_described_by_its_first_paragraph() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["description"] == "A whole."
    assert SCHEMA["$defs"]["part"]["properties"]["share"]["description"] == "share: of the whole"
    assert SCHEMA["properties"]["pass"]["description"] == "trials that passed"
    assert "description" not in SCHEMA["properties"]["name"]


def test_a_class_inside_another_has_to_be_named() -> None:
    with pytest.raises(KeyError):
        json_schemas({"whole": Whole})
