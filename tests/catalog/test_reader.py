"""Reading a catalog document: every mistake with its line, all of them at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import mentions
from toolbelt.catalog import Catalog, Plugin
from toolbelt.catalog.files import format_catalog
from toolbelt.catalog.json_lines import parse_catalog_lines
from toolbelt.catalog.reader import CatalogFile, parse_catalog
from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding
from toolbelt.sources import Document, parse_json, parse_yaml


def refused(text: str, source: str = "c.yaml") -> list[tuple[str, int | None]]:
    with pytest.raises(InvalidFileError) as caught:
        parse_catalog((parse_json if source.endswith(".json") else parse_yaml)(text, source), Catalog)
    assert {finding.file for finding in caught.value.findings} == {source}
    return [(finding.rule, finding.line) for finding in caught.value.findings]


EVERYTHING_WRONG = """\
name: 5
description: [x]
colour: red
categories:
  Pay: 5
  pay: ''
core: git
unique_names: 'yes'
loadouts: []
ladder:
- 5
- loadout: x
  min_window: many
plugins:
- 5
- tools: []
- name: ' '
- name: git
  categroy: git
  category: 5
  description: {}
  tools:
  - 5
  - description: nameless
  - name: ''
  - name:
  - name: 7
  - name: a
    descripton: x
    description: 5
    parameters: []
    annotations: true
    extra: x
  - name: b
    id: ' '
  - name: c
  - name: c
- name: GIT
  tools: {}
- name: web
  category: ' '
"""


def test_every_mistake_at_once_each_with_its_line() -> None:
    assert refused(EVERYTHING_WRONG) == [
        ("wrong-type", 1),  # name
        ("wrong-type", 2),  # description
        ("unknown-key", 3),
        ("wrong-type", 5),  # a category's description
        ("duplicate-category", 6),
        ("wrong-type", 7),  # core
        ("wrong-type", 8),  # unique_names
        ("wrong-type", 9),  # loadouts
        ("invalid-catalog", 11),  # a rung that is none
        ("invalid-catalog", 12),  # a rung with a false window
        ("wrong-type", 15),  # a plugin that is none
        ("wrong-type", 16),  # ... without a name
        ("wrong-type", 17),  # ... with a blank one
        ("unknown-key", 19),
        ("wrong-type", 20),  # category
        ("wrong-type", 21),  # description of a plugin
        ("wrong-type", 23),  # a tool that is none
        ("wrong-type", 24),  # ... without a name
        ("invalid-tool", 25),  # ... with a blank one
        ("wrong-type", 26),  # ... with none after all
        ("wrong-type", 27),  # ... with a number for one
        ("unknown-key", 29),
        ("wrong-type", 30),  # description of a tool
        ("wrong-type", 31),  # parameters
        ("wrong-type", 32),  # annotations
        ("wrong-type", 33),  # extra
        ("wrong-type", 35),  # id
        ("duplicate-tool-id", 37),
        ("duplicate-plugin", 38),
        ("wrong-type", 39),  # tools
        ("invalid-plugin", 40),  # a blank category
    ]


def test_the_same_mistakes_stand_on_the_same_lines_in_json() -> None:
    data = parse_yaml(EVERYTHING_WRONG, "c").data
    text = json.dumps(data, indent=1)
    in_yaml = refused(text, "c.yaml")  # JSON is YAML, where the lines are libyaml's
    assert refused(text, "c.json") == in_yaml
    assert [rule for rule, _ in in_yaml].count("wrong-type") == 21
    assert len(in_yaml) == 31


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [("not-a-catalog", 1)], id="empty"),
        pytest.param("[]", [("not-a-catalog", 1)], id="a-list"),
        pytest.param("x: 1", [("not-a-catalog", 1)], id="no-plugins"),
        pytest.param("name: x\nplugins:\n", [("wrong-type", 2)], id="plugins-of-nothing"),
        pytest.param("name: x\nplugins: {}\n", [("wrong-type", 2)], id="a-mapping-of-plugins"),
        pytest.param(
            "plugins:\n- {name: a}\n- {name: b}\n- {name: a}\n",
            [("duplicate-plugin", 4)],
            id="one-letter-twice",
        ),
        pytest.param(
            "plugins:\n- &p {name: git}\n- *p\n- *p\n", [("duplicate-plugin", 2)] * 2, id="the-same-plugin-by-alias"
        ),
        pytest.param(
            "plugins:\n- name: p\n  tools: [{name: f, id: x}]\n- name: q\n  tools:\n  - {name: f, id: x}\n",
            [("duplicate-tool-id", 6)],
            id="an-id-in-two-plugins",
        ),
        pytest.param(
            "plugins:\n- name: p\n  tools: [{name: f}, {name: g, id: p/f}]\n",
            [("duplicate-tool-id", 3)],
            id="an-id-that-is-another's-by-default",
        ),
        pytest.param(
            "core:\n- p/f\n- 5\n- [x]\n- nope\n- g\nplugins:\n- {name: p, tools: [{name: f}, {name: g}]}\n"
            "- {name: q, tools: [{name: g}]}\n",
            [("wrong-type", 3), ("wrong-type", 4), ("invalid-catalog", 5), ("invalid-catalog", 6)],
            id="T1-each-core-tool-that-is-not-there-or-ambiguous",
        ),
        pytest.param(
            "core: [nope]\nplugins:\n- {name: p, tools: [{nam: f}]}\n",
            [("wrong-type", 3)],
            id="T1-core-is-not-blamed-for-a-tool-that-was-refused",
        ),
        pytest.param(
            "unique_names: true\nplugins:\n- {name: p, tools: [{name: f}, {name: g}]}\n- name: q\n  tools:\n"
            "  - name: f\n  - name: g\n  - name: h\n",
            [("repeated-name", 6), ("repeated-name", 7)],
            id="T5-each-name-that-breaks-the-promise",
        ),
    ],
)
def test_what_is_refused(text: str, expected: list[tuple[str, int | None]]) -> None:
    assert refused(text) == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("plugins: []\npluginz: 1\n", ("pluginz", "plugins")),
        ("plugins: [{name: x, tols: []}]", ("tols", "tools")),
        ("plugins: [{name: x, tools: [{name: f, input: {}}]}]", ("input", "name, description")),
        ("plugins: [{name: x, tools: [{name: f, parameters: 1}]}]", ("parameters`", "JSON Schema")),
        ("core: [fetsh]\nplugins: [{name: x, tools: [{name: fetch}]}]", "Did you mean 'fetch'"),
        ("plugins: [{name: Git}, {name: gIT}]", ("gIT", "Git")),
        ("categories: {Pay: '', pAY: ''}\nplugins: []", ("pAY", "Pay")),
        ("ladder: [{loadout: x, min_window: -1}]\nplugins: []", ("`min_window`", "number of tokens", "-1")),
    ],
)
def test_messages_say_what_to_do(text: str, named: object) -> None:
    with pytest.raises(InvalidFileError) as caught:
        parse_catalog(parse_yaml(text, "c.yaml"), Catalog)
    assert mentions(str(caught.value), named)


def test_the_least_that_is_a_catalog() -> None:
    reading = parse_catalog(parse_yaml("plugins: []", "folder/mine.yaml"), Catalog)
    assert (reading.catalog.name, reading.catalog.plugins, reading.notes, reading.source) == (
        "mine",
        (),
        (),
        "folder/mine.yaml",
    )


def test_null_is_as_good_as_absent() -> None:
    text = "{name: , description: , categories: , core: , unique_names: , loadouts: , ladder: , plugins: [PLUGIN]}"
    plugin = (
        "{name: p, description: , category: , tools: [{name: f, description: , parameters: , annotations: , extra: }]}"
    )
    reading = parse_catalog(parse_yaml(text.replace("PLUGIN", plugin), "c.yaml"), Catalog)
    assert [tool.id for tool in reading.catalog.tools] == ["p/f"]


def test_lines_of_what_was_read() -> None:
    text = "plugins:\n- name: p\n  tools:\n  - name: f\n  - name: g\n    id: x\n- name: empty\n"
    reading = parse_catalog(parse_yaml(text, "c.yaml"), Catalog)
    assert [reading.find_line(tool) for tool in reading.catalog.tools] == [4, 5]
    assert [reading.find_line(plugin) for plugin in reading.catalog.plugins] == [2, 7]


def test_an_empty_plugin_alone_has_its_line() -> None:
    reading = parse_catalog(parse_yaml("# comment\nplugins:\n- name: empty\n", "c.yaml"), Catalog)
    assert reading.find_line(reading.catalog.plugins[0]) == 3


def outcome(document: Document) -> tuple[CatalogFile | None, tuple[Finding, ...]]:
    try:
        return parse_catalog(document, Catalog), ()
    except InvalidFileError as error:
        return None, error.findings


WRONG: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.text("ab ", max_size=2)
KEYS = [
    "name",
    "description",
    "categories",
    "plugins",
    "core",
    "unique_names",
    "loadouts",
    "ladder",
    "category",
    "tools",
    "parameters",
    "annotations",
    "id",
    "extra",
    "loadout",
    "min_window",
]
ANYTHING = st.recursive(
    WRONG, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner), max_leaves=25
)


@given(ANYTHING, st.lists(ANYTHING, max_size=3), st.lists(ANYTHING, max_size=3))
def test_whatever_is_written_is_read_or_refused(top: Any, plugins: list[Any], tools: list[Any]) -> None:
    data = {**(top if isinstance(top, dict) else {"core": top}), "plugins": [*plugins, {"name": "p", "tools": tools}]}
    document = parse_json(json.dumps(data), "c.json")
    made, findings = outcome(document)
    assert [finding.line for finding in findings] == [1] * len(findings)
    assert (made is None) == bool(findings)
    if made is not None:
        written = sum(len(entry.get("tools") or ()) for entry in data["plugins"])
        assert len(made.places) == len(made.catalog.tools) == written


@pytest.mark.parametrize(
    ("category", "severity"),
    [
        pytest.param("filesytem", "error", id="nearly-a-well-known-one"),
        pytest.param("paymnets", "error", id="nearly-a-declared-one"),
        pytest.param("robots", "warning", id="not-declared"),
        pytest.param("Payments", None, id="declared"),
        pytest.param("GIT", None, id="well-known"),
    ],
)
def test_L10_a_category_that_is_neither_well_known_nor_declared_is_a_finding(
    category: str, severity: str | None
) -> None:
    text = f"categories: {{payments: Money}}\nplugins:\n- name: p\n  category: {category}\n"
    try:
        findings = parse_catalog(parse_yaml(text, "c.yaml"), Catalog).findings
    except InvalidFileError as error:
        findings = error.findings
    expected = [] if severity is None else [("unknown-category", severity, "c.yaml:4")]
    assert [(each.rule, each.severity.value, each.place) for each in findings] == expected


def test_L10_a_written_catalog_declares_its_own_categories() -> None:
    text = format_catalog(Catalog((Plugin("p", category="robots"), Plugin("git"))), "yaml")
    assert parse_catalog(parse_yaml(text, "c.yaml"), Catalog).findings == ()


def test_L10_a_misspelt_category_of_json_lines_is_a_warning_with_its_line() -> None:
    lines = '{"name": "a", "plugin": "p", "category": "robots"}\n{"name": "b", "plugin": "q", "category": "serach"}\n'
    file = parse_catalog_lines(lines, "c.jsonl", "c", Catalog)
    assert [(each.rule, each.severity.value, each.place) for each in file.findings] == [
        ("unknown-category", "warning", "c.jsonl:2")
    ]


def test_K7_arguments_by_name_are_a_schema_with_a_warning() -> None:
    tool = {"name": "find", "parameters": {"kind": {"type": "str"}}}
    text = json.dumps({"plugins": [{"name": "p", "tools": [tool]}]}, indent=1)
    catalog_file = parse_catalog(parse_json(text, "c.json"), Catalog)
    (read,) = catalog_file.catalog.tools
    assert read.parameters == {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}
    assert [(finding.rule, finding.line) for finding in catalog_file.findings] == [("flat-parameters", 8)]
    lines = parse_catalog_lines(json.dumps(tool), "c.jsonl", "c", Catalog, None)
    assert lines.catalog.tools[0].parameters == read.parameters
