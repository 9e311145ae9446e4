"""Arguments against the schemas of a catalog's tools."""

from __future__ import annotations

import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from tests.conftest import SHARED_DATA, needs_shared_data
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.scoring.schemas import ArgumentSchemas

CITY = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}
OLD = {"type": "object", "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}}


def schemas(parameters: Mapping[str, Any]) -> ArgumentSchemas:
    return ArgumentSchemas(Catalog((Plugin("p", (Tool("t", parameters=parameters, id="t"),)),)))


@pytest.mark.parametrize(
    ("parameters", "arguments", "fault"),
    [
        pytest.param(CITY, {"city": "Rome", "days": 3}, None, id="right"),
        pytest.param(CITY, {"city": 3}, "argument 'city': 3 is not of type \"string\"", id="wrong-type"),
        pytest.param(CITY, {}, '"city" is a required property', id="missing"),
        pytest.param(CITY, {"city": "x", "days": True}, "argument 'days': true is not of type \"integer\"", id="bool"),
        pytest.param(CITY, {"city": "x", "days": 3.0}, None, id="3.0-is-an-integer-to-json-schema"),
        pytest.param({"type": ["array", "null"], "minItems": 2}, {}, None, id="K10-a-root-that-is-sent-as-an-object"),
        pytest.param({"type": "string", "const": "x"}, {"a": 1}, None, id="K10-one-that-no-object-could-fit"),
        pytest.param(
            {**CITY, "type": "string"}, {}, '"city" is a required property', id="K10-what-is-said-of-objects-counts"
        ),
        pytest.param(CITY, {"city": "x", "more": 1}, None, id="further-ones-are-not-forbidden-unless-said"),
        pytest.param(
            {**CITY, "additionalProperties": False},
            {"city": "x", "more": 1},
            "Additional properties are not allowed ('more' was unexpected)",
            id="further-ones-are-forbidden-if-said",
        ),
        pytest.param(
            {"properties": {"a": {"items": {"enum": [1]}}}},
            {"a": [1, 2]},
            "argument 'a.1': 2 is not one of [1]",
            id="path",
        ),
        pytest.param(CITY, None, "the arguments are no JSON object", id="no-object"),
        pytest.param({}, None, "the arguments are no JSON object", id="no-object-is-a-fault-without-a-schema"),
        pytest.param({}, {"a": 1}, None, id="no-schema"),
        pytest.param(OLD, {"n": "x"}, None, id="broken-in-the-dialect-of-today-is-unchecked"),
        pytest.param(
            {**OLD, "$schema": "http://json-schema.org/draft-04/schema#"},
            {"n": 0},
            "argument 'n': 0 is less than or equal to the minimum of 0",
            id="the-named-dialect-is-honoured",
        ),
        pytest.param({**CITY, "$schema": 7}, {"city": 3}, None, id="a-dialect-that-is-no-text-is-broken"),
        pytest.param(
            {**CITY, "$schema": "urn:none"}, {}, '"city" is a required property', id="an-unknown-dialect-is-todays"
        ),
        pytest.param({"type": "nonsense"}, {"n": 1}, None, id="an-unknown-type-is-broken"),
        pytest.param({"properties": {"a": {"required": True}}}, {"a": 1}, None, id="a-draft-3-required-is-broken"),
        pytest.param({"properties": {"a": {"pattern": "(?<x"}}}, {"a": "b"}, None, id="a-broken-pattern-is-unchecked"),
        pytest.param({"$ref": "#"}, {"a": 1}, None, id="an-endless-reference-says-nothing"),
        pytest.param({"$ref": "#/$defs/none"}, {"a": 1}, None, id="a-reference-to-nothing-is-unchecked"),
        pytest.param(
            {"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}},
            {"a": "x"},
            'argument \'a\': "x" is not of type "integer"',
            id="a-reference-within-is-followed",
        ),
    ],
)
def test_E4_faults(parameters: dict[str, Any], arguments: dict[str, Any] | None, fault: str | None) -> None:
    checked = schemas(parameters)
    assert checked.find_fault("t", arguments) == fault
    assert checked.find_fault("t", arguments) == fault, "the second time as the first"


def test_E4_a_tool_of_no_catalog_is_unchecked() -> None:
    assert schemas(CITY).find_fault("other", {"a": 1}) is None
    assert not schemas(CITY).can_check("other")


def test_E4_a_fault_is_short_however_long_the_arguments() -> None:
    fault = schemas(CITY).find_fault("t", {"city": ["x" * 10_000]})
    assert fault is not None
    assert len(fault) < 300


@pytest.mark.parametrize(
    ("parameters", "can"),
    [
        pytest.param(CITY, True, id="a-schema"),
        pytest.param({"type": "object", "properties": {}}, True, id="one-of-no-arguments"),
        pytest.param({}, False, id="none"),
        pytest.param(OLD, False, id="a-broken-one"),
    ],
)
def test_E4_what_there_is_to_check(parameters: dict[str, Any], can: bool) -> None:
    assert schemas(parameters).can_check("t") == can


def test_nothing_is_ever_fetched() -> None:
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "integer"}')

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            reference = f"http://127.0.0.1:{server.server_port}/schema.json"
            checked = schemas({"properties": {"a": {"$ref": reference}}})
            assert checked.find_fault("t", {"a": "x"}) is None
        finally:
            server.shutdown()
            thread.join()
    assert asked == []


def test_a_schema_is_read_once() -> None:
    checked = schemas(CITY)
    checked.find_fault("t", {"city": "x"})  # jsonschema is imported
    fresh = schemas(CITY)
    started = time.perf_counter()
    fresh.find_fault("t", {"city": "x"})
    first = time.perf_counter() - started
    started = time.perf_counter()
    for _ in range(20):
        fresh.find_fault("t", {"city": "x"})
    assert (time.perf_counter() - started) / 20 < first / 2, "compiling a schema costs many times a check"


@needs_shared_data
@pytest.mark.parametrize("folder", ["bfcl", "github_mcp", "livemcpbench", "metatool", "seal_tools"])
def test_no_schema_of_a_public_catalogue_breaks_it(folder: str) -> None:
    catalog = Catalog.read(SHARED_DATA / folder / "catalog.jsonl")
    checked = ArgumentSchemas(catalog)
    for tool in catalog.tools[:: max(1, len(catalog.tools) // 150)]:
        checked.find_fault(tool.id, {})
        assert checked.find_fault(tool.id, None)
