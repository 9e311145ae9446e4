"""Rule M9: `toolbelt mcp config`."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from tests.cli.conftest import Toolbelt
from tests.mcp.gateways import write_project
from tests.mcp.small import small_server
from tests.wording import mentions
from toolbelt.mcp.configs.approvals import Approvals
from toolbelt.mcp.configs.client_configs import read_client_config, starts_gateway
from toolbelt.mcp.configs.shared_servers import SHARED
from toolbelt.project.opening import open_project

CLIENT = """{
  "mcpServers": {
    "git": {"command": "git-server", "env": {"TOKEN": "s3cret"}}, // version control
    "web": {"url": "https://h/mcp"}
  }
}
"""
CATALOG = """\
name: mine
plugins:
  - name: git
    server: git
    category: git
    tools:
      - {name: status, description: Shows what changed., parameters: {type: object, properties: {}}}
"""


@pytest.fixture(autouse=True)
def home(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder and a project with a server of Cursor's project file."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(tmp_path / "state"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    (project / ".cursor").mkdir()
    (project / ".cursor" / "mcp.json").write_text(CLIENT)
    (project / "tools.yaml").write_text(CATALOG)
    (project / "toolbelt.yaml").write_text("catalog: tools.yaml\nservers:\n  git: {from: .cursor/mcp.json}\n")
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("client", "key", "place"),
    [
        ("claude-desktop", "mcpServers", "home/.config/Claude/claude_desktop_config.json"),
        ("claude-code", "mcpServers", "project/.mcp.json"),
        ("cursor", "mcpServers", "project/.cursor/mcp.json"),
        ("vscode", "servers", "project/.vscode/mcp.json"),
        ("windsurf", "mcpServers", "home/.codeium/windsurf/mcp_config.json"),
    ],
)
def test_M9_the_text_to_paste_is_printed_for_each_client(
    toolbelt: Toolbelt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str, key: str, place: str
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    ran = toolbelt("mcp", "config", "developer", "--client", client)
    assert ran.code == 0, ran.err
    entry = ran.json[key]["toolbelt"]
    assert starts_gateway(entry["command"], entry["args"])
    if place.startswith("home"):
        assert Path(entry["command"]).is_absolute()
        assert entry["args"][-3:] == ["developer", "--config", str(tmp_path / "project" / "toolbelt.yaml")]
    else:  # which others have, too
        root = "" if client == "claude-code" else "${workspaceFolder}/"
        assert entry["command"] == "toolbelt"
        assert entry["args"] == ["serve", "developer", "--config", f"{root}toolbelt.yaml"]
    data: dict[str, Any] = toolbelt("mcp", "config", "developer", "--client", client, "--json").json
    assert (data["file"], data["written"], data["backup"]) == (str(tmp_path / place), False, None)
    assert json.loads(data["text"]) == ran.json
    assert (tmp_path / "project" / ".cursor" / "mcp.json").read_text() == CLIENT
    assert not (tmp_path / "state").exists()


def test_M9_an_agent_in_place_of_a_loadout(toolbelt: Toolbelt, project: Path) -> None:
    with (project / "toolbelt.yaml").open("a") as file:
        file.write("agents: {helper: {tools: [git]}}\n")
    ran = toolbelt("mcp", "config", "--agent", "helper", "--client", "cursor", "--json")
    entry = ran.json["entry"]
    assert starts_gateway(entry["command"], entry["args"])
    assert entry["args"][entry["args"].index("serve") + 1 :][:2] == ["--agent", "helper"]
    assert (ran.json["loadout"], ran.json["agent"]) == (None, "helper")
    assert toolbelt("mcp", "config", "developer", "--agent", "helper", "--client", "cursor").code == 2
    wrong = toolbelt("mcp", "config", "--agent", "helpr", "--client", "cursor")
    assert wrong.code == 2
    assert mentions(wrong.err, "helper")


def test_M9_write_and_undo(toolbelt: Toolbelt, project: Path) -> None:
    file = project / ".cursor" / "mcp.json"
    ran = toolbelt("mcp", "config", "developer", "--client", "cursor", "--write", "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["replaced"], ran.json["kept"]) == (["git"], [])
    assert Path(ran.json["backup"], "original").read_text() == CLIENT
    assert "s3cret" not in file.read_text() + ran.out + ran.err
    assert [spec.name for spec in read_client_config(file).servers] == ["web"]
    # `from` finds the entry where it went, so that the gateway can start it.
    again = toolbelt("mcp", "config", "minimal", "--client", "cursor", "--write")
    assert (again.code, read_client_config(file).gateways) == (0, ("toolbelt",))
    undone = toolbelt("mcp", "config", "--client", "cursor", "--undo", "--json")
    assert (undone.code, undone.json["restored"]) == (0, ["git"])
    assert file.read_text() == CLIENT
    assert toolbelt("mcp", "config", "--client", "cursor", "--undo").code == 2


def test_M9_a_client_that_starts_what_was_written_reaches_the_servers_that_left_its_file(
    toolbelt: Toolbelt, project: Path, tmp_path: Path
) -> None:
    small = small_server()
    file = project / ".cursor" / "mcp.json"
    entry = {"command": small.command, "args": [*small.args], "env": {"SECRET": "s3cret"}}
    file.write_text(json.dumps({"mcpServers": {"small": entry}}))
    write_project(project)
    (project / "toolbelt.yaml").write_text(
        "catalog: catalog.yaml\nservers: {small: {from: .cursor/mcp.json}}\nloadouts: {all: {plugins: [small]}}\n"
    )
    Approvals(tmp_path / "state").add(open_project(project).servers, os.environ)
    assert toolbelt("mcp", "config", "all", "--client", "cursor", "--write").code == 0
    assert "s3cret" not in file.read_text() + (project / SHARED).read_text()
    assert _add_through_gateway(json.loads(file.read_text()), project, tmp_path / "state") == "3"


def test_M9_a_colleague_who_has_the_project_reaches_the_servers_that_left_its_file(
    toolbelt: Toolbelt, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = small_server()
    entry = {"command": small.command, "args": [*small.args], "env": {"API_TOKEN": "s3cret", "LEVEL": "high"}}
    before = json.dumps({"mcpServers": {"small": entry}})
    (project / ".mcp.json").write_text(before)
    write_project(project)
    (project / "toolbelt.yaml").write_text(
        "catalog: catalog.yaml\nservers: {small: {from: .mcp.json}}\nloadouts: {all: {plugins: [small]}}\n"
    )
    assert toolbelt("mcp", "config", "all", "--client", "claude-code", "--write").code == 0
    moved = json.loads((project / SHARED).read_text())["mcpServers"]["small"]
    assert moved == {**entry, "env": {"API_TOKEN": "${API_TOKEN}", "LEVEL": "high"}}
    clone, state = tmp_path / "clone", tmp_path / "state-of-another"
    shutil.copytree(project, clone)
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(state))
    monkeypatch.setenv("API_TOKEN", "mine")
    Approvals(state).add(open_project(clone).servers, os.environ)
    assert _add_through_gateway(json.loads((clone / ".mcp.json").read_text()), clone, state) == "3"
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(tmp_path / "state"))
    assert toolbelt("mcp", "config", "--client", "claude-code", "--undo").code == 0
    assert (project / ".mcp.json").read_text() == before
    assert not (project / SHARED).exists()


def _add_through_gateway(client_file: dict[str, Any], project: Path, state: Path) -> str:
    """What `add` answers, started as a client would, whose folder is the project's."""
    written = client_file["mcpServers"]["toolbelt"]
    program = Path(sys.executable).parent / written["command"]
    args = [arg.replace("${workspaceFolder}", str(project)) for arg in written["args"]]
    env = {"TOOLBELT_STATE_DIR": str(state), "PATH": os.environ["PATH"], "API_TOKEN": "mine"}
    started = StdioServerParameters(command=str(program), args=args, env=env, cwd=project)

    async def scenario() -> str:
        async with Client(stdio_client(started), cache=None, read_timeout_seconds=30) as client:
            (content,) = (await client.call_tool("add", {"a": 1, "b": 2})).content
            assert isinstance(content, TextContent)
            return content.text

    return asyncio.run(asyncio.wait_for(scenario(), 60))


def test_M9_originals_that_stay_are_counted(toolbelt: Toolbelt, project: Path) -> None:
    ran = toolbelt("mcp", "config", "developer", "--client", "cursor", "--keep-originals", "--write", "--json")
    (kept,) = ran.json["kept"]
    tokens = toolbelt("catalog", "stats", "--json").json["tokens"]
    assert kept == {"name": "git", "tokens": tokens}
    assert mentions(ran.err, "git", f"{tokens:,} tokens")
    names = {spec.name for spec in read_client_config(project / ".cursor" / "mcp.json").servers}
    assert names == {"git", "web"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["develper", "--client", "cursor"], "developer", id="unknown-loadout"),
        pytest.param(["developer", "--client", "curser"], "cursor", id="unknown-client"),
        pytest.param(["developer"], "--client", id="no-client"),
        pytest.param(["--client", "cursor"], "LOADOUT", id="no-loadout"),
        pytest.param(["developer", "--client", "cursor", "--undo"], "--undo", id="undo-with-a-loadout"),
        pytest.param(["--client", "cursor", "--undo"], "mcp.json", id="nothing-to-undo"),
        pytest.param(["developer", "--client", "cursor", "--entry", "web"], "--entry", id="a-name-in-use"),
    ],
)
def test_M9_what_cannot_be_done_is_an_error(toolbelt: Toolbelt, arguments: list[str], said: str) -> None:
    ran = toolbelt("mcp", "config", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_C_nothing_but_the_flag_itself_writes(
    toolbelt: Toolbelt, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_WRITE", "1")
    other = tmp_path / "other.json"
    (project / ".env").write_text(f"TOOLBELT_WRITE=1\nTOOLBELT_UNDO=1\nTOOLBELT_CLIENT_FILE={other}\n")
    ran = toolbelt("mcp", "config", "developer", "--client", "cursor", "--json")
    assert (ran.json["written"], ran.json["file"]) == (False, str(project / ".cursor" / "mcp.json"))
    assert (project / ".cursor" / "mcp.json").read_text() == CLIENT
    monkeypatch.setenv("TOOLBELT_CLIENT_FILE", str(other))  # by the user
    assert toolbelt("mcp", "config", "developer", "--client", "cursor", "--json").json["file"] == str(other)


def test_M9_a_user_is_warned_of_what_the_gateway_will_miss(toolbelt: Toolbelt, project: Path) -> None:
    assert mentions(toolbelt("mcp", "config", "developer", "--client", "cursor").err, "approved", "git")
    (project / "toolbelt.yaml").write_text("catalog: tools.yaml\n")
    assert mentions(toolbelt("mcp", "config", "developer", "--client", "cursor").err, "servers", "toolbelt init")


def test_M3_config_show_masks_servers(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text(
        "servers:\n  git: {from: x.json}\n  a:\n    command: run\n    args: [--token, s3cret]\n"
        "    env: {A: s3cret, PATH: /opt}\n  b: {url: 'https://me:s3cret@h/?k=s3cret', headers: {H: s3cret}}\n"
    )
    ran = toolbelt("config", "show")
    assert "s3cret" not in ran.out + toolbelt("config", "show", "--json").out
    [line] = [line for line in ran.out.splitlines() if line.startswith("servers")]
    assert line == (
        "servers    git (from x.json), a (run --token ***; A=***; PATH=/opt), b (https://***@h/?k=***; H=***)"
    )
