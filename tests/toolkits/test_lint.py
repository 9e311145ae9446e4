"""What is wrong or doubtful about written toolkits and switches, with its line (rules K2, K4, L10)."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.findings import Severity
from toolbelt.sources import Document, parse_yaml
from toolbelt.toolkits.lint import lint_policies, lint_toolkits
from toolbelt.toolkits.reader import read_toolkits
from toolbelt.toolkits.switch_decisions import WrittenSwitches

CATALOG = Catalog(
    (
        Plugin("shell", (Tool("run"), Tool("kill_all"))),
        Plugin("web", (Tool("search"),)),
        Plugin("maps", (Tool("search"),)),
        Plugin("bare"),
    )
)
ERROR, WARNING = Severity.ERROR, Severity.WARNING


@pytest.mark.parametrize(
    ("member", "rule", "off", "on"),
    [
        pytest.param("shell/walk", "unknown-tool", ERROR, ERROR, id="a-tool-that-its-plugin-lacks"),
        pytest.param("SHELL/wa*", "unknown-tool", ERROR, ERROR, id="a-pattern-that-matches-nothing-of-it"),
        pytest.param("shel", "misspelt-member", ERROR, WARNING, id="nearly-a-plugin"),
        pytest.param("kil_all", "misspelt-member", ERROR, WARNING, id="nearly-a-tool"),
        pytest.param("hsell/run", "misspelt-member", ERROR, WARNING, id="nearly-a-plugin-with-a-tool"),
        pytest.param("search", "ambiguous-member", ERROR, WARNING, id="a-name-of-several"),
        pytest.param("github", "absent-plugin", WARNING, WARNING, id="a-plugin-that-is-not-there"),
        pytest.param("github/issue", "absent-plugin", WARNING, WARNING, id="a-tool-of-one"),
        pytest.param("bare", "empty-plugin", WARNING, WARNING, id="a-plugin-without-tools"),
    ],
)
def test_K2_a_member_that_matches_nothing_is_judged_by_its_switch(
    member: str, rule: str, off: Severity, on: Severity
) -> None:
    document = parse_yaml(f"toolkits:\n  kit:\n    tools:\n    - shell/run\n    - {member}\n", "toolbelt.yaml")
    toolkits, _ = read_toolkits(document, "toolkits")
    switches: dict[str, Any]
    for switches, severity in (
        ({}, off),
        ({"kit": False}, off),
        ({"KIT": True}, on),
        ({"kit": False, "run": True}, off),
    ):
        found = lint_toolkits(document, toolkits, CATALOG, [WrittenSwitches(switches, Document(switches, "x"))])
        found = tuple(finding for finding in found if finding.file == "toolbelt.yaml")
        assert [(each.rule, each.severity, each.place) for each in found] == [(rule, severity, "toolbelt.yaml:5")]


def test_K2_of_several_configs_the_worst_counts_and_switches_have_their_own_place() -> None:
    document = parse_yaml("toolkits:\n  kit: {tools: [shel]}\n", "toolbelt.yaml")
    toolkits, _ = read_toolkits(document, "toolkits")
    agent = parse_yaml("kit: false\nshell/run: true\nrnu: false\n", "switches.yaml")
    written = [WrittenSwitches({"kit": True}, agent), WrittenSwitches(agent.data, agent)]
    found = lint_toolkits(document, toolkits, CATALOG, written)
    assert [(each.rule, each.severity, each.place) for each in found] == [
        ("unknown-key", WARNING, "switches.yaml:3"),
        ("misspelt-member", ERROR, "toolbelt.yaml:2"),
    ]


def test_K1_a_toolkit_with_the_key_of_a_tool_is_a_finding() -> None:
    document = parse_yaml("toolkits:\n  shell/run: {}\n", "toolbelt.yaml")
    toolkits, _ = read_toolkits(document, "toolkits")
    assert [each.rule for each in lint_toolkits(document, toolkits, CATALOG, [])] == ["invalid-toolkits"]


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        pytest.param("Never `run` it twice.", True, id="in-backticks"),
        pytest.param("kill_all ends everything.", True, id="with-an-underscore"),
        pytest.param("Do not run away.", False, id="a-plain-word"),
        pytest.param("Use {tools}.", False, id="the-place-for-tools"),
    ],
)
def test_K4_a_policy_that_names_a_member_is_a_warning(text: str, is_named: bool) -> None:
    document = parse_yaml(
        f"toolkits:\n  kit:\n    tools: [shell]\n    policy:\n      text: '{text}'\n", "toolbelt.yaml"
    )
    toolkits, _ = read_toolkits(document, "toolkits")
    found = [(each.rule, each.severity, each.line) for each in lint_policies(document, toolkits, CATALOG)]
    assert found == ([("member-in-policy", WARNING, 5)] if is_named else [])
