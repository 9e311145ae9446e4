"""A switch of an agent that would miss a tool is an error, over a catalog as at run time (rules K2, K8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolbelt import AgentSpec, Catalog, ExecutableTool, Plugin, Tool, Toolkit, ToolRegistry, open_project
from toolbelt.agents.over_catalog import toolkits_over
from toolbelt.errors import InvalidDefinitionError


@pytest.mark.parametrize("is_misspelt", [False, True])
def test_K2_a_switch_of_an_agent_that_misses_a_tool_is_an_error(tmp_path: Path, is_misspelt: bool) -> None:
    member = "shel" if is_misspelt else "shell"
    (tmp_path / "toolbelt.yaml").write_text(
        f"toolkits: {{sh: {{tools: [{member}]}}}}\n"
        "agents: {a: {tools: [shell, git], allowed_toolkits: [sh], tools_config: {sh: false}}}\n"
    )
    tools = ToolRegistry(
        [ExecutableTool(name, function=lambda: 1, plugin=plugin) for name, plugin in (("run", "shell"), ("log", "git"))]
    )
    session = open_project(tmp_path).session(tools, "s", agent="a")
    agent = AgentSpec("a", ("shell", "git"), ("sh",), tools_config={"sh": False})
    catalog = Catalog((Plugin("shell", (Tool("run"),)), Plugin("git", (Tool("log"),))))
    toolkits = [Toolkit("sh", member_tools=(member,))]
    if is_misspelt:
        with pytest.raises(InvalidDefinitionError, match="shel"):
            session.begin_turn()
        with pytest.raises(InvalidDefinitionError, match="shel"):
            toolkits_over(agent, toolkits, catalog)
        return
    session.begin_turn()
    names = {definition["name"] for definition in session.to_definitions()}
    assert "run" not in names
    assert "log" in names
    dynamic = toolkits_over(agent, toolkits, catalog)
    assert dynamic.load("sh", ())[0]["status"] == "not_allowed"
