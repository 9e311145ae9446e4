"""From `toolbelt.yaml` and switches to what an agent has: exactly what `toolbelt toolkit resolve` says (K1, K2, K8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.stores.config import read_config
from toolbelt.toolkits.assembly import SubApp, assemble

CATALOG = """\
name: assistant
plugins:
  - name: git
    tools: [{name: git_log}, {name: git_push}]
  - name: gh
    tools: [{name: PREFIXissue}, {name: PREFIXdelete_repo}, {name: PREFIXdelete_branch}]
  - name: notes
    tools: [{name: add_note}, {name: drop_note}]
  - name: lone
    tools: [{name: lone}]
"""
TOOLKITS = """\
catalog: catalog.yaml
toolkits:
  history: {tools: [git/git_log]}
  git-all: {tools: [git], default_on: true}
  hub: {tools: [gh], default_on: true}
  danger: {tools: [gh/PREFIXdelete_*, git/git_push, drop_note]}
  writing: {tools: [notes]}
"""
REGISTERED = (
    *("git_log", "git_push"),
    *("mcp__gh__issue", "mcp__gh__delete_repo", "mcp__gh__delete_branch"),
    *("add_note", "drop_note", "lone"),
)


def tool(name: str, plugin: str | None = None) -> ExecutableTool:
    return ExecutableTool(name, function=lambda: name, plugin=plugin)


@pytest.mark.parametrize("prefix", ["", "mcp__gh__"], ids=["names-as-the-server-has-them", "names-as-registered"])
@pytest.mark.parametrize(
    "switches",
    [
        pytest.param({}, id="nothing-said"),
        pytest.param({"hub": False}, id="a-server-switched-off"),
        pytest.param({"hub": False, "gh/PREFIXissue": True}, id="off-beats-its-member"),
        pytest.param({"danger": False, "git-all": True, "hub": True}, id="a-pattern-over-built-in-mcp-and-sub-app"),
        pytest.param({"history": True, "git_log": False}, id="a-bare-name-opts-out"),
        pytest.param({"PREFIXissue": False, "drop_note": False, "lone": False}, id="by-names-alone"),
        pytest.param({"writing": True, "notes/add_note": False}, id="a-sub-app"),
        pytest.param({"gh/PREFIXdelete_repo": False, "PREFIXdelete_repo": True}, id="a-contradiction-is-off"),
        pytest.param({"hub": "false", "git-all": 0, "ghost": False}, id="what-counts-as-absent"),
    ],
)
def test_K2_an_assembled_registry_is_what_resolve_says(
    toolbelt: Toolbelt, project: Path, switches: dict[str, Any], prefix: str
) -> None:
    switches = {key.replace("PREFIX", prefix): value for key, value in switches.items()}
    (project / "catalog.yaml").write_text(CATALOG.replace("PREFIX", prefix))
    (project / "toolbelt.yaml").write_text(TOOLKITS.replace("PREFIX", prefix))
    (project / "agent.json").write_text(json.dumps(switches))
    ran = toolbelt("toolkit", "resolve", "--tools-config", "agent.json", "--all", "--json")
    assert ran.code == 0, ran.err
    says = {row["id"].split("/")[1].removeprefix(prefix): row["enabled"] for row in ran.json["tools"]}
    registry = assemble(
        [tool("git_log", "git"), tool("git_push", "git")],
        {"gh": [tool("issue"), tool("delete_repo"), tool("mcp__gh__delete_branch")]},
        [tool("add_note"), tool("drop_note"), tool("lone", "lone")],
        [SubApp("notes", ("add_note", "drop_note", "lone"))],
        toolkits=read_config(project).toolkits,
        tools_config=switches,
    )
    there = [one.name for one in registry.get_all()]
    assert len(says) == len(REGISTERED)
    assert there == [name for name in REGISTERED if says[name.removeprefix("mcp__gh__")]]
