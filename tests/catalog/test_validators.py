"""Values against schemas of strangers: in bounded time, without raising or fetching (rule R7)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from toolbelt.catalog.frozen import freeze
from toolbelt.catalog.validators import BACKTRACKED_CHARS, MATCHED_CHARS, find_schema_fault, make_validator

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}}, "required": ["a"]}
BOUND_SECONDS = 20.0
"""Far above the 50 ms that are promised, for machines that are busy; what is not bounded takes hours."""


def faults_of(schema: dict[str, Any], value: Any) -> list[str]:
    """The keywords of all faults."""
    validator = make_validator(schema)
    assert validator is not None
    return sorted(fault.keyword for fault in validator.faults(value))


def of_a(schema: Any) -> dict[str, Any]:
    return {"properties": {"a": schema}}


@pytest.mark.parametrize(
    ("value", "places"),
    [
        pytest.param({"a": 1}, [], id="right"),
        pytest.param({"a": "1", "b": "y"}, [("a",), ("b",)], id="every-fault"),
        pytest.param({}, [()], id="what-is-missing"),
    ],
)
def test_faults_have_their_places(value: Any, places: list[tuple[str, ...]]) -> None:
    validator = make_validator(SCHEMA)
    assert validator is not None
    assert sorted(fault.path for fault in validator.faults(value)) == places


def test_the_place_of_a_numeric_name_is_a_name() -> None:
    validator = make_validator({"additionalProperties": {"items": {"type": "integer"}}})
    assert validator is not None
    assert [fault.path for fault in validator.faults({"0": [1, "x"]})] == [("0", 1)]


def test_a_fault_lists_every_value_that_is_accepted() -> None:
    validator = make_validator(of_a({"enum": [1, "x", None, True]}))
    assert validator is not None
    (fault,) = validator.faults({"a": "y"})
    assert fault.listed == (1, "x", None, True)
    assert fault.message == '"y" is not one of [1, "x", null, true]'


def test_alternatives_have_their_own_faults() -> None:
    validator = make_validator(of_a({"anyOf": [{"const": True}, {"enum": ["x"]}]}))
    assert validator is not None
    (fault,) = validator.faults({"a": 1})
    assert [(each.keyword, each.listed, each.value) for each in fault.context] == [
        ("const", (True,), 1),
        ("enum", ("x",), 1),
    ]


# Time


EVIL = "^(a+)+$"
LOOKING = r"^(?=(a*)*\1$)x"
"""Needs backtracking, and exponentially many steps."""
TEXT = "a" * 40 + "!"


@pytest.fixture
def _in_time() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < BOUND_SECONDS


def _chain(keyword: str, length: int = 40) -> dict[str, Any]:
    links = {f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**links, f"d{length}": {"type": "integer"}}}


def _nest(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"next": value}
    return value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param(of_a({"pattern": EVIL}), {"a": TEXT}, id="nested-quantifiers"),
        pytest.param(of_a({"pattern": EVIL}), {"a": "a" * 200_000 + "!"}, id="a-long-text"),
        pytest.param(of_a({"pattern": r"^(\w+\s?)*\1$"}), {"a": TEXT}, id="a-backreference"),
        pytest.param(of_a({"pattern": "(?=.*b)c"}), {"a": "a" * 1_000_000}, id="look-ahead-over-a-long-text"),
        pytest.param(of_a({"pattern": "^(a?){5000}b$"}), {"a": "a" * 5_000}, id="an-enormous-pattern"),
        pytest.param({"patternProperties": {EVIL: {}}}, {TEXT: 1}, id="of-names"),
        pytest.param({"propertyNames": {"pattern": LOOKING}}, {TEXT: 1}, id="of-names-backtracking"),
        pytest.param(of_a({"items": {"pattern": LOOKING}}), {"a": [TEXT] * 20_000}, id="many-texts"),
        pytest.param(
            of_a({"allOf": [{"pattern": f"{EVIL}|{n}"} for n in range(500)]}), {"a": TEXT}, id="many-patterns"
        ),
        pytest.param(_chain("allOf"), "x", id="references-that-double"),
        pytest.param(_chain("anyOf"), "x", id="alternatives-that-double"),
        pytest.param({"properties": {"next": {"allOf": [{"$ref": "#"}] * 2}}}, _nest(90), id="doubling-with-depth"),
        pytest.param({"$ref": "#"}, {"a": 1}, id="an-endless-reference"),
        pytest.param({"items": {"type": "string"}}, list(range(200_000)), id="many-faults"),
        pytest.param({"type": "string"}, _nest(50_000), id="a-bottomless-value"),
        pytest.param(_nest(50_000), {}, id="a-bottomless-schema"),
    ],
)
@pytest.mark.usefixtures("_in_time")
def test_R7_no_schema_freezes_the_process(schema: dict[str, Any], value: Any) -> None:
    validator = make_validator(schema)
    if validator is not None:
        list(validator.faults(value))
    find_schema_fault(schema)


@pytest.mark.parametrize("where", ["anyOf", "oneOf", "allOf"])
def test_R7_a_pattern_that_gives_up_is_not_held_against_the_value(where: str) -> None:
    assert faults_of(of_a({where: [{"pattern": LOOKING}]}), {"a": TEXT}) == []


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"contains": {"pattern": LOOKING}}, id="contains"),
        pytest.param({"items": {"not": {"not": {"pattern": LOOKING}}}}, id="not"),
        pytest.param({"items": {"if": {"pattern": LOOKING}, "else": False}}, id="if"),
    ],
)
def test_R7_nor_where_another_keyword_hides_it(schema: dict[str, Any]) -> None:
    assert faults_of(of_a(schema), {"a": [TEXT]}) == []


def test_R7_what_no_pattern_has_a_say_in_counts_all_the_same() -> None:
    schema = {"properties": {"a": {"pattern": LOOKING}, "b": {"type": "integer"}}, "required": ["c"]}
    assert faults_of(schema, {"a": TEXT, "b": "x"}) == ["required", "type"]


@pytest.mark.parametrize(
    ("pattern", "chars"),
    [pytest.param("^a+$", MATCHED_CHARS, id="linear"), pytest.param("^(?=a)a+$", BACKTRACKED_CHARS, id="looking")],
)
def test_R7_a_text_that_is_too_long_for_patterns_is_not_held_against_them(pattern: str, chars: int) -> None:
    schema = {"properties": {"a": {"pattern": pattern}, "b": {"type": "integer"}}}
    fitting = "b" * (chars - len("ab"))
    assert faults_of(schema, {"a": fitting, "b": None}) == ["pattern", "type"]
    assert faults_of(schema, {"a": fitting + "b", "b": None}) == ["type"]


# Which schemas are judged how


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="empty"),
        pytest.param({"type": "nonsense"}, id="no-schema"),
        pytest.param(of_a({"minimum": 0, "exclusiveMinimum": True}), id="draft-4-that-does-not-say-so"),
        pytest.param({"items": [{"type": "integer"}]}, id="draft-7-that-does-not-say-so"),
        pytest.param({"$schema": "http://json-schema.org/draft-03/schema#", "type": "integer"}, id="draft-3"),
        pytest.param({"$schema": 7, "type": "integer"}, id="a-dialect-that-is-no-text"),
    ],
)
def test_R7_nothing_can_be_held_against_these(schema: dict[str, Any]) -> None:
    assert make_validator(schema) is None


DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("schema", "value", "keywords"),
    [
        pytest.param({"$schema": DRAFT_4, "minimum": 0, "exclusiveMinimum": True}, 0, ["exclusiveMinimum"], id="four"),
        pytest.param({"$schema": DRAFT_7, "items": [{"type": "integer"}]}, ["x"], ["type"], id="draft-7"),
        pytest.param({"$schema": "urn:none", "type": "integer"}, "x", ["type"], id="an-unknown-dialect-is-2020-12"),
        pytest.param({"$schema": DRAFT_7, "format": "email"}, "x", [], id="no-formats-in-draft-7"),
        pytest.param({"format": "email"}, "x", [], id="nor-in-2020-12"),
        pytest.param({"pattern": r"^x\Z", "type": "string"}, 1, ["type"], id="beside-a-pattern-of-python"),
        pytest.param({"pattern": r"^x\Z"}, "y", [], id="a-pattern-of-python"),
        pytest.param({"anyOf": [{"pattern": r"^x\Z"}]}, 1, [], id="alternatives-with-a-pattern-of-python"),
        pytest.param({"patternProperties": {r"\Z": {}}, "additionalProperties": False}, {"a": 1}, [], id="of-names"),
        pytest.param({"pattern": "(?<x", "type": "string"}, 1, ["type"], id="beside-a-broken-pattern"),
        pytest.param({"pattern": r"^\p{L}+$"}, "é1", ["pattern"], id="a-pattern-of-ecmascript"),
        pytest.param({"pattern": "^x$"}, "x\n", ["pattern"], id="the-end-is-the-end"),
        pytest.param({"$ref": "http://127.0.0.1:9/x", "type": "integer"}, "x", ["type"], id="beside-a-lost-reference"),
        pytest.param({"not": {"$ref": "#/$defs/none"}}, "x", [], id="not-a-lost-reference"),
        pytest.param({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "integer"}}}, "x", ["type"], id="a-pointer"),
        pytest.param({"$ref": "#n", "$defs": {"n": {"$anchor": "n", "type": "null"}}}, "x", ["type"], id="an-anchor"),
        pytest.param({"$id": "urn:a", "$ref": "urn:a#/$defs/n", "$defs": {"n": False}}, 1, ["falseSchema"], id="id"),
        pytest.param({"not": {"$ref": "#/x/y"}, "x": {"y": True}}, 1, ["not"], id="a-place-of-its-own"),
        pytest.param({"enum": ["\ud83d"]}, "\ud83d", [], id="half-a-surrogate-pair"),
        pytest.param({"type": "integer", "description": "\ud83d"}, "\ud83d", ["type"], id="and-in-a-description"),
        pytest.param({"properties": {"1": {"type": "integer"}}}, {1: "x"}, ["type"], id="a-name-that-is-no-text"),
        pytest.param({"type": "array"}, (1, 2), [], id="a-tuple-is-a-list"),
        pytest.param({"type": "string"}, object(), [], id="no-json"),
        pytest.param({"type": "number"}, float("nan"), ["type"], id="no-number"),
        pytest.param({"multipleOf": 0.1}, 10**400, [], id="a-number-of-400-digits"),
    ],
)  # fmt: skip
def test_R7_what_counts_and_what_cannot_be_judged(schema: dict[str, Any], value: Any, keywords: list[str]) -> None:
    assert faults_of(schema, value) == keywords
    assert faults_of(freeze(schema), freeze(value)) == keywords, "frozen, too"


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        pytest.param(of_a({"type": "nonsense"}), ("properties", "a", "type"), id="no-such-type"),
        pytest.param(of_a({"pattern": "(?<x"}), ("properties", "a", "pattern"), id="a-pattern-broken-in-any-language"),
        pytest.param(of_a({"pattern": r"^x\Z"}), None, id="a-pattern-of-python"),
        pytest.param(of_a({"pattern": "(a{1000}){1000}"}), None, id="an-enormous-pattern"),
        pytest.param(of_a({"$ref": "#/nowhere"}), None, id="a-lost-reference"),
        pytest.param({"$schema": "urn:none"}, None, id="an-unknown-dialect"),
    ],
)
def test_what_is_no_schema_has_the_place_of_the_fault(schema: dict[str, Any], place: tuple[str, ...] | None) -> None:
    fault = find_schema_fault(schema)
    assert (None if fault is None else fault.path) == place


def test_R7_nothing_is_ever_fetched() -> None:
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = json.dumps({"type": "integer"}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            base = f"http://127.0.0.1:{server.server_port}"
            for schema in (
                of_a({"$ref": f"{base}/a.json"}),
                of_a({"$dynamicRef": f"{base}/b.json#x"}),
                {"$id": f"{base}/c.json", "properties": {"a": {"$ref": "d.json"}}},
                {"$schema": f"{base}/e.json", "type": "object"},
                of_a({"$id": f"{base}/f/", "$schema": f"{base}/g.json", "$ref": "h.json"}),
                {"$ref": "file:///etc/hostname"},
            ):
                find_schema_fault(schema)
                validator = make_validator(schema)
                if validator is not None:
                    list(validator.faults({"a": "x"}))
        finally:
            server.shutdown()
            thread.join()
    assert asked == []


@pytest.mark.cold
def test_importing_it_loads_no_validator() -> None:
    program = (
        "import sys, toolbelt.catalog.validators; sys.exit(bool({'jsonschema', 'jsonschema_rs'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
