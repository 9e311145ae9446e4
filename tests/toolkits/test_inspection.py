"""Toolkits over a catalog, as plain values (rules K2, K3, K5, K8)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter, count_tool_tokens
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules
from toolbelt.toolkits.inspection import SwitchInspection, ToolkitInspection
from toolbelt.toolkits.policy import PolicyText
from toolbelt.toolkits.toolkit import Toolkit

CATALOG = Catalog((Plugin("git", (Tool("status"), Tool("push"))), Plugin("docker", (Tool("run"),))), name="two")
TOKENS = count_tool_tokens(CATALOG, EstimateCounter())
TOOLKITS = (
    Toolkit("vcs", member_tools=("git", "gone"), policy=PolicyText.of("Use git/push with care, {tools}.")),
    Toolkit(
        "all",
        member_tools=("docker", "git/push"),
        overrides={"docker": {"image": "a"}},
        directive=DirectiveRules((DirectiveRule(("run",), ("docker",), "docker"), DirectiveRule(("x",), ("gone",)))),
    ),
    Toolkit("own", member_tools=("docker",), policy=lambda available: None, directive=lambda message, available: None),
)
INSPECTION = ToolkitInspection.of(TOOLKITS, CATALOG, TOKENS)


def test_K8_a_toolkit_is_inspected_with_what_each_entry_stands_for() -> None:
    vcs = INSPECTION.get_toolkit("vcs")
    assert [(match.entry, [tool.id for tool in match.tools]) for match in INSPECTION.entries(vcs)] == [
        ("git", ["git/status", "git/push"]),
        ("gone", []),
    ]
    assert [missing.entry for missing in INSPECTION.unmatched(vcs)] == ["gone"]
    assert INSPECTION.policy(vcs) == ("Use git/push with care, status, push.", None)
    assert INSPECTION.named_in_policy(vcs) == ("git/push",)
    data = INSPECTION.toolkit_data(vcs, [])
    assert data["tokens"]["toolkit"] == TOKENS.of(["git/status", "git/push"])
    assert data["tokens"]["full"] == TOKENS.total


def test_K5_rules_are_shown_as_written_with_what_they_stand_for() -> None:
    rules = INSPECTION.toolkit_data(INSPECTION.get_toolkit("all"), [])["directive"]
    assert rules == [
        {"when": ["run"], "members": ["docker"], "tools": ["docker/run"], "tool_choice": "docker"},
        {"when": ["x"], "members": ["gone"], "tools": [], "tool_choice": None},
    ]


def test_K8_what_is_code_is_not_shown() -> None:
    data = INSPECTION.toolkit_data(INSPECTION.get_toolkit("own"), [])
    assert (data["policy"], data["directive"]) == ({"text": None, "unavailable": None}, [])
    assert INSPECTION.named_in_policy(INSPECTION.get_toolkit("own")) == ()


def test_an_unknown_toolkit_names_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'vcs'"):
        INSPECTION.get_toolkit("vsc")


def test_a_toolkit_with_the_id_of_a_tool_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="git/push"):
        ToolkitInspection.of([Toolkit("git/push", member_tools=("git",))], CATALOG, TOKENS)


KEYS = st.sampled_from(["vcs", "all", "own", "git/status", "git/push", "push", "docker/run", "git", "nothing"])
VALUES: st.SearchStrategy[object] = st.sampled_from([True, False, None, 1, "true", []])


@given(st.dictionaries(KEYS, VALUES, max_size=6), st.booleans(), st.sampled_from([None, "run it", "hello"]))
def test_K2_what_is_shown_is_what_the_switches_decide(
    config: dict[str, object], shows_all: bool, message: str | None
) -> None:
    made = SwitchInspection(INSPECTION, config, shows_all, message)
    data = made.to_dict()
    assert json.loads(json.dumps(data)) == data
    read, _ = INSPECTION.expanded.read_config(config)
    enabled = set(INSPECTION.expanded.catalog.enabled_tools(read))
    shown = {row["id"] for row in data["tools"]}
    assert len(shown) == len(data["tools"])
    assert {row["id"] for row in data["tools"] if row["enabled"]} == enabled & shown
    assert data["tokens"]["on"] + data["tokens"]["off"] == TOKENS.of(tuple(shown))
    for row in data["toolkits"]:
        members = INSPECTION.expanded.catalog.get_toolkit(row["toolkit"]).member_tools
        assert row["enabled"] == len(enabled.intersection(members))
        assert row["value"] is None or row["on"] is row["value"]
    if data["directive"] is not None:
        assert set(data["directive"]["active_tools"]) <= enabled
        assert data["directive"]["applies"] is ("docker/run" in enabled and message == "run it")
