"""Loadouts as people write them (rules L10, L11): read strictly, every mistake with its line."""

from __future__ import annotations

import pytest

from tests.wording import mentions
from toolbelt import ToolLoadout
from toolbelt.findings import Finding, Severity
from toolbelt.loadouts.inspection import loadout_data
from toolbelt.loadouts.reader import LOADOUT_KEYS, WrittenLoadout, read_loadout_file, read_loadouts
from toolbelt.sources import Document, parse_json, parse_yaml


def read(text: str) -> tuple[list[WrittenLoadout], list[Finding]]:
    return read_loadouts(parse_yaml(text, "toolbelt.yaml"), "loadouts")


def mistakes(text: str) -> list[tuple[int | None, str, str]]:
    return [(finding.line, finding.rule, finding.message) for finding in read(text)[1]]


FULL = """\
loadouts:
  reviewer:
    description: Reads, never writes.
    extends: developer
    categories: [security, Finance]
    plugins:
      - think
      - git/status
    discoverable: ['docker*', 'docker*', '*']
    disabled: [websearch, file/write*]
  empty:
  lean: {}
"""


def test_L11_every_key_fills_its_field() -> None:
    written, findings = read(FULL)
    assert findings == []
    assert [one.loadout for one in written] == [
        ToolLoadout(
            "reviewer",
            "developer",
            frozenset({"think", "git/status"}),
            frozenset({"security", "Finance"}),
            ("docker*", "*"),
            frozenset({"websearch", "file/write*"}),
            "Reads, never writes.",
        ),
        ToolLoadout("empty"),
        ToolLoadout("lean"),
    ]


def test_L11_json_is_read_alike() -> None:
    text = '{"loadouts": {"a": {"extends": "minimal", "plugins": ["git"],\n "frob": 1}}}'
    written, findings = read_loadouts(parse_json(text, "catalog.json"), "loadouts")
    assert [one.loadout for one in written] == [ToolLoadout("a", "minimal", frozenset({"git"}))]
    assert [(finding.file, finding.line, finding.rule) for finding in findings] == [("catalog.json", 2, "unknown-key")]


def test_L11_what_is_written_out_is_read_back() -> None:
    (reviewer, *_), _ = read(FULL)
    again, findings = read_loadout_file(Document(loadout_data(reviewer.loadout), "x"), "reviewer")
    assert findings == []
    assert again is not None
    assert again.loadout == reviewer.loadout


def test_L10_entries_keep_their_order_and_repeats_for_lint() -> None:
    (reviewer, empty, _), _ = read(FULL)
    assert reviewer.entries("discoverable") == ("docker*", "docker*", "*")
    assert reviewer.entries("plugins") == ("think", "git/status")
    assert empty.entries("plugins") == reviewer.entries("nothing") == ()


def test_L10_a_finding_stands_at_the_line_of_the_entry() -> None:
    (reviewer, empty, _), _ = read(FULL)
    found = reviewer.finding("some-rule", "what", "plugins", 1, severity=Severity.WARNING)
    assert found == Finding("some-rule", Severity.WARNING, "what", "toolbelt.yaml", 8)
    assert reviewer.finding("r", "m", "categories").line == 5
    assert reviewer.finding("r", "m").line == 2
    assert empty.finding("r", "m", "extends").line == 11  # not there: the nearest thing around it


@pytest.mark.parametrize(
    ("body", "line", "rule", "named"),
    [
        ("  a: {frob: 1}", 2, "unknown-key", ("frob", "description, extends, categories")),
        ("  a:\n    pluggins: [x]", 3, "unknown-key", ("pluggins", "plugins")),
        ("  a: {default_plugins: [x]}", 2, "unknown-key", ("default_plugins", "plugins")),
        ("  a: {disabled_plugin: [x]}", 2, "unknown-key", "It is written 'disabled' here."),
        ("  a: {parent_loadout_name: x}", 2, "unknown-key", "It is written 'extends' here."),
        ("  a: {included_categories: [x]}", 2, "unknown-key", "It is written 'categories' here."),
        ("  a: {discoverable_patterns: [x]}", 2, "unknown-key", "It is written 'discoverable' here."),
        ("  a: {name: b}", 2, "unknown-key", "no key 'name'"),
        ("  a: {extends: [minimal]}", 2, "wrong-type", "`loadouts.a.extends` must be text"),
        ("  a: {extends: 5}", 2, "wrong-type", "not 5."),
        ("  a: {extends: ' '}", 2, "wrong-type", "not blank text."),
        ("  a: {description: {x: y}}", 2, "wrong-type", ("`loadouts.a.description`", "not a mapping")),
        ("  a: {plugins: git}", 2, "wrong-type", "`loadouts.a.plugins` must be a list"),
        ("  a: {disabled: {git: true}}", 2, "wrong-type", "`loadouts.a.disabled` must be a list"),
        (
            "  a:\n    plugins:\n      - ok\n      - 7",
            5,
            "wrong-type",
            ("`loadouts.a.plugins[1]`", 7),
        ),
        ("  a: {categories: [true]}", 2, "wrong-type", ("not true", "quotes")),
        ("  a: {categories: [[git]]}", 2, "wrong-type", ("`loadouts.a.categories[0]`", "not a list")),
        ("  a: {plugins: ['']}", 2, "wrong-type", "`loadouts.a.plugins[0]` must be a name"),
        ("  a: {plugins: [null]}", 2, "wrong-type", "`loadouts.a.plugins[0]` must be a name"),
        ("  a: [git]", 2, "wrong-type", "`loadouts.a` must be a mapping"),
        ("  a: git", 2, "wrong-type", "`loadouts.a` must be a mapping"),
        ("  '': {}", 2, "blank-name", ("loadout", "name", "not blank")),
        ("  ' ': {}", 2, "blank-name", ("loadout", "name", "not blank")),
        ("  Auto: {}", 2, "reserved-name", "give the loadout another name"),
    ],
)
def test_L10_a_mistake_is_told_with_its_line(body: str, line: int, rule: str, named: object) -> None:
    found = mistakes(f"loadouts:\n{body}\n")
    assert [(place, kind) for place, kind, _ in found] == [(line, rule)]
    assert mentions(found[0][2], named)


def test_L10_all_mistakes_are_told_at_once() -> None:
    text = """\
loadouts:
  a:
    frob: 1
    extends: 2
    plugins: [3, ok, null]
  auto: {}
  b: nothing
  c: {}
"""
    assert [(line, rule) for line, rule, _ in mistakes(text)] == [
        (3, "unknown-key"),
        (4, "wrong-type"),
        (5, "wrong-type"),
        (5, "wrong-type"),
        (6, "reserved-name"),
        (7, "wrong-type"),
    ]


def test_L10_what_is_right_beside_a_mistake_is_still_read() -> None:
    written, findings = read("loadouts: {a: {frob: 1, plugins: [git], disabled: no}, b: {}}")
    assert len(findings) == 2
    assert [one.loadout for one in written] == [ToolLoadout("a", default_plugins=frozenset({"git"})), ToolLoadout("b")]


def test_L10_mistakes_are_errors_and_name_the_file() -> None:
    _, findings = read("loadouts: {a: {frob: 1, plugins: x}, ' ': {}}")
    assert [(finding.severity, finding.file) for finding in findings] == [(Severity.ERROR, "toolbelt.yaml")] * 3


@pytest.mark.parametrize("text", ["loadouts:", "loadouts: {}"])
def test_L11_no_loadouts_is_no_mistake(text: str) -> None:
    assert read(text) == ([], [])


@pytest.mark.parametrize("text", ["loadouts: [a]", "loadouts: a", "loadouts: 5"])
def test_L10_loadouts_that_are_no_mapping_are_told(text: str) -> None:
    assert [(line, rule) for line, rule, _ in mistakes(text)] == [(1, "wrong-type")]


def test_L11_a_description_may_be_empty() -> None:
    written, findings = read("loadouts: {a: {description: ''}}")
    assert (findings, [one.loadout for one in written]) == ([], [ToolLoadout("a")])


@pytest.mark.parametrize("key", LOADOUT_KEYS)
def test_L11_a_key_left_blank_says_nothing(key: str) -> None:
    written, findings = read(f"loadouts:\n  a:\n    {key}:\n")
    assert findings == []
    assert [one.loadout for one in written] == [ToolLoadout("a")]


def test_L11_a_file_that_is_one_loadout() -> None:
    document = parse_yaml("name: lean\nplugins: [git]\n", "x.loadout.yaml")
    written, findings = read_loadout_file(document, "lean")
    assert findings == []
    assert written is not None
    assert written.loadout == ToolLoadout("lean", default_plugins=frozenset({"git"}))
    assert written.finding("r", "m", "plugins", 0).line == 2
