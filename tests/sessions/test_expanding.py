"""Entries of a configuration over what a registry holds (rules D1, L9)."""

from __future__ import annotations

import pytest

from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.expanding import expand_over
from toolbelt.toolkits.toolkit import Toolkit


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
    assert list(expand_over(REGISTRY)(entry)) == names


def test_D1_an_entry_that_means_nothing_is_told_with_what_is_near() -> None:
    kits = [Toolkit("history", member_tools=("nothing_like_it",))]
    dynamic = DynamicToolkits(AgentSpec("a", ("gti",), ("history",)), kits, expand_over(REGISTRY))
    assert dynamic.find_unmatched(["history"]) == [
        "'gti' of the agent's static tools names no tool here. Did you mean 'git'?",
        "'nothing_like_it' of toolkit 'history' names no tool here.",
    ]
