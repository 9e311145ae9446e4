"""Overrides that are compared as JSON is (rule D6)."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wording import each_mentions
from toolbelt.catalog.frozen import freeze
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import Bundle, expand_over, normalised, same
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.toolkits.toolkit import Toolkit

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, id="order-of-keys-does-not-matter"),
        pytest.param({"a": 1}, {"a": 1.0}, True, id="a-whole-float-is-its-integer"),
        pytest.param({"a": 1}, {"a": True}, False, id="true-is-not-one"),
        pytest.param({"a": 0}, {"a": False}, False, id="false-is-not-nought"),
        pytest.param({"a": [True]}, {"a": [1]}, False, id="nor-deep-inside"),
        pytest.param({"a": [1, 2]}, {"a": [2, 1]}, False, id="order-of-items-does"),
        pytest.param({"a": [1]}, {"a": (1.0,)}, True, id="a-tuple-is-a-list"),
        pytest.param({"a": [1]}, {"a": [1, 1]}, False, id="length-counts"),
        pytest.param({"a": None}, {}, False, id="null-is-said"),
        pytest.param({"a": "1"}, {"a": 1}, False, id="text-is-no-number"),
        pytest.param({"a": {}}, {"a": []}, False, id="map-is-no-list"),
        pytest.param({"a": math.nan}, {"a": math.nan}, True, id="written-the-same"),
    ],
)
def test_D6_overrides_are_compared_as_json(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is same(other, one) is equal
    assert same(freeze(one), normalised(other)) is equal


def test_D6_nothing_said_is_nothing_overridden() -> None:
    assert normalised(None) == normalised({}) == {}
    with pytest.raises(TypeError, match="frozen"):
        normalised({"a": [1]})["a"].append(2)


GIT = {"git": ("git/status", "git/push", "git/pull"), "git/pu*": ("git/push", "git/pull"), "none": ()}


@pytest.mark.parametrize(
    ("entries", "overrides", "said"),
    [
        pytest.param(("git", "git/push"), {"git/push": {"x": 1}}, [{}, {"x": 1}, {}], id="one-of-the-whole"),
        pytest.param(
            ("git/push", "git/pu*", "git"),
            {"git/push": {"x": 1}, "git/pu*": {"x": 2}, "git": {"x": 3}},
            [{"x": 1}, {"x": 2}, {"x": 3}],
            id="the-narrowest-applies-wherever-it-is",
        ),
        pytest.param(
            ("git", "git/push"), {"git": {"x": 1}, "git/push": {}}, [{"x": 1}, {}, {"x": 1}], id="nothing-said"
        ),
        pytest.param(
            ("git", "git/push"), {"git": {"x": 1}}, [{"x": 1}] * 3, id="an-entry-without-overrides-does-not-apply"
        ),
    ],
)
def test_D1_of_entries_that_mean_the_same_tool_the_narrowest_applies(
    entries: tuple[str, ...], overrides: dict[str, Any], said: list[dict[str, Any]]
) -> None:
    bundle = Bundle.of((*entries, "none"), overrides, lambda entry: GIT.get(entry, (entry,)), None)
    assert [tool.overrides for tool in bundle.tools.values()] == said
    assert [*bundle.unmatched] == ["none"]


@settings(deadline=None)
@given(JSON)
def test_D6_a_value_is_the_same_as_itself(value: Any) -> None:
    assert same(value, freeze(value))


@settings(deadline=None)
@given(JSON, JSON)
def test_D6_what_differs_in_kind_or_value_differs(one: Any, other: Any) -> None:
    assert same(one, other) is same(other, one)
    if type(one) is not type(other) and not {type(one), type(other)} <= {int, float}:
        assert not same(one, other)


def tool(name: str, plugin: str | None = None) -> ExecutableTool:
    return ExecutableTool(name, plugin=plugin, function=lambda: None)


REGISTRY = ToolRegistry(
    [
        tool("git_status", "git"),
        tool("git_push", "Git"),
        tool("shell"),
        tool("mcp__github__create_issue", "github"),
        tool("git_log", "git"),
        tool("read", "a/b"),
        tool("x/y"),
        tool("same", "one"),
        tool("same", "one"),
        tool("SHELL"),
    ]
)


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        pytest.param("git", ["git_status", "git_push", "git_log"], id="a-plugin-is-all-its-tools-in-order"),
        pytest.param("GIT", ["git_status", "git_push", "git_log"], id="case-is-ignored"),
        pytest.param("git/git_push", ["git_push"], id="one-tool"),
        pytest.param("git/GIT_S*", ["git_status"], id="a-prefix"),
        pytest.param("git/*", ["git_status", "git_push", "git_log"], id="a-star-alone"),
        pytest.param("git/none", [], id="no-such-tool"),
        pytest.param("shell", ["shell", "SHELL"], id="a-tool-of-no-plugin"),
        pytest.param("git_push", ["git_push"], id="a-bare-name"),
        pytest.param("github", ["mcp__github__create_issue"], id="a-server"),
        pytest.param("a/b", ["read"], id="a-plugin-with-a-slash"),
        pytest.param("a/b/read", ["read"], id="and-its-tool"),
        pytest.param("x/y", ["x/y"], id="a-tool-with-a-slash"),
        pytest.param("one/same", ["same"], id="registered-twice-is-once"),
        pytest.param("git*", [], id="plugins-have-no-patterns"),
        pytest.param("", [], id="empty"),
        pytest.param("/", [], id="a-slash"),
    ],
)
def test_D1_L9_an_entry_names_a_plugin_or_tools(entry: str, names: list[str]) -> None:
    assert list(expand_over(REGISTRY.catalog, key=attrgetter("name")).find(entry)) == names


def test_D1_an_entry_that_means_nothing_is_told_with_what_is_near() -> None:
    kits = [Toolkit("history", member_tools=("nothing_like_it",))]
    dynamic = DynamicToolkits(AgentSpec("a", ("gti",), ("history",)), kits, expand_over(REGISTRY.catalog))
    assert each_mentions(dynamic.find_unmatched(["history"]), ("gti", "git"), ("nothing_like_it", "history"))
