"""What is doubtful about a catalog's tools, and about which of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.wording import mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.json_lines import parse_catalog_lines
from toolbelt.catalog.lint import lint_catalog
from toolbelt.findings import Severity
from toolbelt.sources import read_text


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def found(*tools: Tool) -> list[tuple[str, str]]:
    return [(subject.name, finding.rule) for subject, finding in lint_catalog(Catalog((Plugin("p", tools),)))]


GOOD = schema(a={"type": "string", "description": "A."}, b={"$ref": "#/$defs/b"}, c=True) | {"$defs": {"b": {}}}


@pytest.mark.parametrize(
    ("tool", "rules"),
    [
        pytest.param(Tool("f", "D.", GOOD), [], id="a-good-one"),
        pytest.param(Tool("f", "D.", schema(a={"$ref": "#/$defs/B"})), ["dangling-ref"], id="a-reference-to-nothing"),
        pytest.param(Tool("f", "D.", schema(a={"$ref": "x.json"})), ["remote-ref"], id="a-reference-to-elsewhere"),
        pytest.param(
            Tool("f", "D.", schema(a={"$recursiveRef": "#", "description": "A."})),
            ["older-draft"],
            id="a-reference-of-2019",
        ),
        pytest.param(Tool("f", "D."), [], id="one-that-takes-nothing"),
        pytest.param(Tool("f"), ["no-description"], id="no-description"),
        pytest.param(Tool("f", " \n"), ["no-description"], id="a-blank-description"),
        pytest.param(Tool("f", "x" * 1024), [], id="the-longest-description"),
        pytest.param(Tool("f", "x" * 1025), ["long-description"], id="a-longer-one"),
        pytest.param(Tool("f", "x" * 1_000_000), ["long-description"], id="a-megabyte"),
        pytest.param(Tool("f", "a\tb\nc"), [], id="tabs-and-lines"),
        pytest.param(Tool("f", "\x1b[31mD."), ["control-character"], id="a-terminal-escape"),
        pytest.param(Tool("f", "a\u200bb"), ["invisible-character"], id="an-invisible-space"),
        pytest.param(Tool("f", "a\u202eb"), ["invisible-character"], id="a-turn-of-direction"),
        pytest.param(Tool("f", "a\U000e0041b"), ["invisible-character"], id="an-invisible-tag"),
        pytest.param(Tool("f\x07", "D."), ["control-character", "illegal-name"], id="a-bell-in-the-name"),
        pytest.param(Tool("a.b", "D."), ["illegal-name"], id="a-dot-in-the-name"),
        pytest.param(Tool("x" * 65, "D."), ["illegal-name"], id="a-name-of-65"),
        pytest.param(Tool("f", "D.", {"type": "nope"}), ["invalid-schema"], id="no-such-type"),
        pytest.param(
            Tool("f", "D.", {"type": "object", "properties": []}), ["invalid-schema"], id="a-list-of-properties"
        ),
        pytest.param(Tool("f", "D.", {"type": "object", "required": "a"}), ["invalid-schema"], id="required-is-a-list"),
        pytest.param(Tool("f", "D.", {"type": "string"}), ["not-an-object"], id="of-text"),
        pytest.param(Tool("f", "D.", {"type": ["object", "null"]}), ["not-an-object"], id="of-an-object-or-nothing"),
        pytest.param(Tool("f", "D.", {"properties": {}}), ["not-an-object"], id="of-no-type"),
        pytest.param(
            Tool("f", "D.", {**GOOD, "required": ["a", "z"]}), ["undescribed-requirement"], id="it-requires-what-is-not"
        ),
        pytest.param(Tool("f", "D.", schema(a={"type": "string"})), ["undescribed-parameter"], id="a-bare-parameter"),
        pytest.param(
            Tool("f", "D.", schema(a={"type": "string", "description": ""})),
            ["undescribed-parameter"],
            id="an-empty-description-of-one",
        ),
    ],
)
def test_a_tool(tool: Tool, rules: list[str]) -> None:
    assert found(tool) == [(tool.name, rule) for rule in rules]


def test_only_what_is_no_schema_is_an_error() -> None:
    tools = (Tool("f", "D.", {"type": "nope"}), Tool("a.b"), Tool("g", "D.", schema(a={})))
    severities = {finding.rule: finding.severity for _, finding in lint_catalog(Catalog((Plugin("p", tools),)))}
    assert {rule for rule, severity in severities.items() if severity is Severity.ERROR} == {"invalid-schema"}


def test_a_plugin_without_tools() -> None:
    catalog = Catalog((Plugin("p"), Plugin("q", (Tool("f", "D."),))))
    assert [(subject, finding.rule) for subject, finding in lint_catalog(catalog)] == [
        (catalog.plugins[0], "empty-plugin")
    ]


def test_T5_shared_names_are_told_with_what_they_are_sent_as() -> None:
    catalog = Catalog((Plugin("p", (Tool("f", "One."),)), Plugin("q", (Tool("f", "Two."),))))
    ((subject, finding),) = lint_catalog(catalog)
    assert subject.name == "f"
    assert mentions(finding.message, "2 tools", "f", "p/f", "q/f", "p__f", "q__f")


def test_tools_no_model_can_tell_apart() -> None:
    assert found(Tool("f", "Does it."), Tool("g", "  does\nIT."), Tool("h", "Other."), Tool("i", "DOES IT.")) == [
        ("f", "twin-tools")
    ]


def test_progress_is_told() -> None:
    told: list[int] = []
    tools = tuple(Tool(f"f{n}", f"Does {n}.") for n in range(120))
    assert list(lint_catalog(Catalog((Plugin("p", tools),)), told.append)) == []
    assert told == [50, 100]


@needs_shared_data
@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("github_mcp", {"long-description": 1}),
        ("livemcpbench", {"long-description": 21, "no-description": 19, "shared-name": 13}),
        ("seal_tools", {"illegal-name": 2}),
        ("metatool", {"illegal-name": 1}),
    ],
)
def test_findings_of_the_public_catalogues(dataset: str, expected: dict[str, int]) -> None:
    path = SHARED_DATA / dataset / "catalog.jsonl"
    raw = [json.loads(line) for line in path.read_bytes().splitlines()]
    names = Counter(line["name"] for line in raw)
    by_hand = {
        "long-description": sum(len(line["description"] or "") > 1024 for line in raw),
        "no-description": sum(not (line["description"] or "").strip() for line in raw),
        "shared-name": sum(count > 1 for count in names.values()),
        "illegal-name": sum(not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", line["name"]) for line in raw),
    }
    catalog = parse_catalog_lines(read_text(path), str(path), dataset, Catalog).catalog
    counts = Counter(finding.rule for _, finding in lint_catalog(catalog))
    assert {rule: counts[rule] for rule in by_hand} == by_hand
    assert {rule: count for rule, count in by_hand.items() if count} == expected
