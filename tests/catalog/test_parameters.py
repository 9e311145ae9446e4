"""Arguments of tools as others write them, as a JSON Schema (V6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.parameters import is_flat, read_parameters, read_type
from toolbelt.evals.scoring.schemas import ArgumentSchemas

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("word", "schema"),
    [
        ("str", TEXT),
        ("Integer", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("List[int]", {"type": "array", "items": {"type": "integer"}}),
        ("list", {"type": "array"}),
        ("List[Dict[str, int]]", {"type": "array", "items": {"type": "object"}}),
        ("Tuple[float, float]", {"type": "array"}),
        ("Dict[str, List[int]]", {"type": "object"}),
        ("Optional[bool]", {"type": "boolean"}),
        ("Union[int, List[str]]", {"anyOf": [{"type": "integer"}, {"type": "array", "items": TEXT}]}),
        ("str | None", TEXT),
        ("typing.List[str]", {"type": "array", "items": TEXT}),
        ("Any", {}),
        ("datetime", {}),
        ("List[Any]", {"type": "array"}),
    ],
)
def test_K7_types_as_python_and_people_write_them(word: str, schema: dict[str, Any]) -> None:
    assert read_type(word) == schema


@pytest.mark.parametrize(
    ("written", "properties", "required"),
    [
        pytest.param(
            {"lat": {"type": "float"}, "unit": {"description": "One.", "type": "str, optional", "enum": ["C", "F"]}},
            {"lat": {"type": "number"}, "unit": {"description": "One.", "enum": ["C", "F"], "type": "string"}},
            ["lat"],
            id="xlam",
        ),
        pytest.param(
            {"type": {"type": "str", "default": "game"}, "items": {"type": "list"}},
            {"type": {"default": "game", "type": "string"}, "items": {"type": "array"}},
            ["items"],
            id="arguments-with-names-of-keywords",
        ),
        pytest.param(
            {"task": {"type": "string", "nullable": True}, "code": {"description": "It."}},
            {"task": TEXT, "code": {"description": "It."}},
            ["code"],
            id="smolagents",
        ),
        pytest.param(
            {"a": {"type": "string"}, "b": {"type": "string"}, "required": ["b"]},
            {"a": TEXT, "b": TEXT},
            ["b"],
            id="a-list-of-what-is-required",
        ),
        pytest.param(
            [{"name": "a", "type": "string", "required": True}, {"name": "b", "type": "int", "required": False}],
            {"a": TEXT, "b": {"type": "integer"}},
            ["a"],
            id="a-list-of-arguments",
        ),
        pytest.param(
            {"user": {"type": "object", "properties": {"name": TEXT}}},
            {"user": {"type": "object", "properties": {"name": TEXT}}},
            ["user"],
            id="an-object-inside",
        ),
    ],
)
def test_K7_arguments_by_name_are_properties(written: Any, properties: Any, required: list[str]) -> None:
    assert read_parameters(written) == {"type": "object", "properties": properties, "required": required}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"city": TEXT}},
        {"properties": {"city": TEXT}},
        {"additionalProperties": {"type": "string"}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
        {"anyOf": [{"type": "object"}]},
        {"not": {"type": "string"}},
        {"type": "object"},
        None,
        "none",
    ],
)
def test_K7_a_schema_stays_as_it_is(schema: Any) -> None:
    assert read_parameters(schema) == schema
    assert not is_flat(schema)


@given(
    st.dictionaries(st.text("abc_", min_size=1, max_size=4), st.sampled_from(["str", "int", "List[str]"]), min_size=1)
)
def test_K7_what_is_made_of_arguments_is_a_schema_that_checks_them(types: dict[str, str]) -> None:
    schema = read_parameters({name: {"type": word} for name, word in types.items()})
    values = {"str": "x", "int": 1, "List[str]": ["x"]}
    schemas = ArgumentSchemas(Catalog((Plugin("p", (Tool("t", id="t", parameters=schema),)),)))
    assert schemas.can_check("t")
    assert schemas.find_fault("t", {name: values[word] for name, word in types.items()}) is None
    assert schemas.find_fault("t", {name: {} for name in types}) is not None
    assert schemas.find_fault("t", {}) is not None
    assert read_parameters(schema) == schema
