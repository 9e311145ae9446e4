"""Documents that are huge, or broken anywhere."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.importers.openapi.samples import LIBRARY, hold_to_be_sound
from toolbelt.errors import InvalidFileError
from toolbelt.importers.openapi import convert_openapi
from toolbelt.sources import Document, parse_yaml


def count_calls(work: Callable[[], object]) -> int:
    """How many functions `work` calls, those of Python and C: the same on a busy machine."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


class TestSize:
    def test_a_thousand_operations_that_share_five_hundred_schemas(self) -> None:
        def ref(i: int, schemas: int) -> dict[str, Any]:
            return {"$ref": f"#/components/schemas/S{i % schemas}"}

        def operation(i: int, schemas: int) -> dict[str, Any]:
            parameters = [{"name": f"q{j}", "in": "query", "schema": ref(i * j, schemas)} for j in range(5)]
            content = {"application/json": {"schema": ref(i, schemas)}}
            return {"parameters": parameters, "requestBody": {"content": content}}

        def document(operations: int, count: int) -> Document:
            schemas = {
                f"S{i}": {"type": "object", "properties": {f"p{j}": ref(i * j + 1, count) for j in range(1, 21)}}
                for i in range(count)
            }
            paths = {f"/p{i}": {"post": operation(i, count)} for i in range(operations)}
            return Document({"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}, "big.json")

        made = convert_openapi(document(1000, 500), "big")
        assert len(made.catalog.tools) == 1000
        assert len(made.catalog.tools[-1].parameters["$defs"]) == 500
        quarter, half = document(250, 125), document(500, 250)
        calls = count_calls(lambda: convert_openapi(half, "big"))
        assert calls < 2.2 * count_calls(lambda: convert_openapi(quarter, "big"))

    @pytest.mark.parametrize("keyword", ["allOf", "anyOf", "properties"])
    def test_doubling_does_not_multiply(self, keyword: str) -> None:
        schemas: dict[str, Any] = {"S60": {"type": "object", "properties": {"x": {"type": "string"}}}}
        for i in range(60):
            ref = {"$ref": f"#/components/schemas/S{i + 1}"}
            schemas[f"S{i}"] = {keyword: {"a": ref, "b": ref} if keyword == "properties" else [ref, ref]}
        body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
        data = {
            "openapi": "3.1.0",
            "paths": {"/a": {"post": {"requestBody": body}}},
            "components": {"schemas": schemas},
        }
        (tool,) = convert_openapi(Document(data, "bomb.json"), "bomb").catalog.tools
        assert len(tool.parameters.get("$defs", ())) <= 61

    def test_a_long_chain_of_references_needs_no_stack(self) -> None:
        def read_chain(length: int) -> None:
            schemas: dict[str, Any] = {
                f"S{i}": {"allOf": [{"$ref": f"#/components/schemas/S{i + 1}"}]} for i in range(length)
            }
            schemas[f"S{length}"] = {"properties": {"x": {}}}
            body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
            data = {
                "openapi": "3.1.0",
                "paths": {"/a": {"post": {"requestBody": body}}},
                "components": {"schemas": schemas},
            }
            (tool,) = convert_openapi(Document(data, "chain.json"), "chain").catalog.tools
            assert list(tool.parameters["properties"]) == ["x"]

        assert count_calls(lambda: read_chain(3000)) < 2.2 * count_calls(lambda: read_chain(1500))


_SEED = parse_yaml(LIBRARY, "library.yaml").data
_REFS = ("#/components/schemas/Book", "#/components/schemas/Shelf", "#/paths/~1books", "#/components/parameters/Trace")
_KEYS = (
    "$ref",
    "allOf",
    "properties",
    "required",
    "nullable",
    "type",
    "schema",
    "content",
    "in",
    "name",
    "get",
    "items",
)
_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
    | st.sampled_from(("", "#", "#/", "x.yaml", "query", "object", "null", *_REFS)),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=3), inner, max_size=3)
    | st.sampled_from(_REFS).map(lambda ref: {"$ref": ref}),
    max_leaves=6,
)  # fmt: skip

_NAMES = "ABCDE"
_REFERENCE = st.sampled_from(_NAMES).map(lambda name: {"$ref": f"#/components/schemas/{name}"})
_TANGLE = st.recursive(
    _REFERENCE | st.sampled_from(({"type": "string"}, {"properties": {"x": {}}, "required": ["x"]}, {}, True, False)),
    lambda inner: (
        st.fixed_dictionaries(
            {},
            optional={
                **dict.fromkeys(("allOf", "anyOf", "oneOf"), st.lists(inner, min_size=1, max_size=3)),
                **dict.fromkeys(("not", "if", "then", "else", "items"), inner),
                **dict.fromkeys(("properties", "dependentSchemas"), st.dictionaries(st.sampled_from("xy"), inner)),
                "nullable": st.booleans(),
            },
        )
        | st.tuples(_REFERENCE, inner).map(lambda both: both[0] | (both[1] if isinstance(both[1], dict) else {}))
    ),
    max_leaves=6,
)


def containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from containers(inner)


class TestFuzz:
    @settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.data())
    def test_nothing_but_findings_comes_out(self, data: st.DataObject) -> None:
        mutant = copy.deepcopy(_SEED)
        mutant["openapi"] = data.draw(st.sampled_from(("3.0.3", "3.1.0")))
        for _ in range(data.draw(st.integers(1, 4))):
            places = list(containers(mutant))
            place = places[data.draw(st.integers(0, len(places) - 1))]
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = keys[data.draw(st.integers(0, len(keys) - 1))]
            action = data.draw(st.sampled_from(("replace", "delete", "add")))
            if action == "delete" and len(places) > 1:
                del place[key]
            elif action == "add" and isinstance(place, dict):
                place[data.draw(st.sampled_from(_KEYS))] = data.draw(_JUNK)
            else:
                place[key] = data.draw(_JUNK)
            if not mutant:
                break
        try:
            made = convert_openapi(Document(mutant, "mutant.yaml"), "mutant")
        except InvalidFileError:
            return
        for tool in made.catalog.tools:
            hold_to_be_sound(tool)

    @settings(max_examples=200, deadline=None)
    @given(_JUNK)
    def test_a_schema_of_junk(self, junk: Any) -> None:
        body = {"content": {"application/json": {"schema": junk}}}
        data = {"openapi": "3.0.0", "paths": {"/a": {"post": {"requestBody": body}}}}
        data["components"] = _SEED["components"]
        try:
            (tool,) = convert_openapi(Document(data, "junk.yaml"), "junk").catalog.tools
        except InvalidFileError:
            return
        hold_to_be_sound(tool)

    @settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(
        st.fixed_dictionaries(dict.fromkeys(_NAMES, _TANGLE)),
        st.lists(_REFERENCE, min_size=1, max_size=3),
        st.sampled_from(("3.0.3", "3.1.0")),
    )
    def test_no_tangle_of_schemas_is_refused_or_endless(self, schemas: Any, used: list[Any], version: str) -> None:
        bodies = [{"content": {"application/json": {"schema": schema}}} for schema in used]
        paths = {f"/{index}": {"post": {"requestBody": body}} for index, body in enumerate(bodies)}
        data = {"openapi": version, "paths": paths, "components": {"schemas": schemas}}
        for tool in convert_openapi(Document(data, "tangle.yaml"), "tangle").catalog.tools:
            hold_to_be_sound(tool)
