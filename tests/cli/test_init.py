"""`toolbelt init` (rule M3)."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Toolbelt
from tests.servers.mcp_scripts import listed_tool, write_config, write_script
from tests.warm.client import take_terminal
from tests.wording import mentions
from toolbelt.project.opening import open_project

FILES = ("catalog.json", "starter.loadout.yaml", "toolbelt.yaml")


@pytest.fixture
def home(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without clients."""
    folder = project.parent / "home"
    folder.mkdir()
    for name, value in {
        "HOME": folder,
        "TOOLBELT_STATE_DIR": folder / "state",
        "XDG_CONFIG_HOME": folder / "c",
    }.items():
        monkeypatch.setenv(name, str(value))
    return folder


@pytest.fixture
def clients(project: Path, home: Path) -> Path:
    """Servers of the project and of the user; one has many tools, one ends at once, one is switched off."""
    cloud = write_script(home, "cloud", *(f"{service}_{n}" for service in ("sql", "aks") for n in range(20)), "me")
    git = write_script(home, "git", listed_tool("log", annotations={"readOnlyHint": True}), "push")
    ended = write_script(home, "ended", exit="no key")
    off = {**write_script(home, "off", "x"), "disabled": True}
    write_config(project / ".mcp.json", git={**git, "env": {"TOKEN": "s3cret"}}, cloud=cloud)
    (home / ".cursor").mkdir()
    write_config(home / ".cursor" / "mcp.json", git=ended, ended=ended, off=off)
    return project


def made(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name in (*FILES, "toolbelt.yml"))


def test_M3_a_project_is_made_from_the_servers_that_answer(clients: Path, toolbelt: Toolbelt) -> None:
    ran = toolbelt("init", "--yes", "--json")
    assert ran.code == 3, "one server did not answer"
    assert [(each["name"], each["status"], each["tools"]) for each in ran.json["servers"]] == [
        ("git", "ok", 2),
        ("cloud", "ok", 41),
        ("ended", "failed", 0),
    ]
    assert set(ran.json) >= {"changes", "digest"}
    assert sorted(ran.json["files"]) == made(clients) == sorted(FILES)
    config = yaml.safe_load((clients / "toolbelt.yaml").read_text())
    assert config["servers"]["git"] == {"from": ".mcp.json"}
    assert config["servers"]["ended"] == {"from": "~/.cursor/mcp.json"}
    assert config["servers"]["cloud"]["split"] == {"groups": {"aks": ["aks_*"], "sql": ["sql_*"]}}
    catalog = json.loads((clients / "catalog.json").read_text())
    assert {plugin["name"]: (plugin["category"], len(plugin["tools"])) for plugin in catalog["plugins"]} == {
        "cloud-aks": ("cloud-aks", 20),
        "cloud-sql": ("cloud-sql", 20),
        "cloud-other": ("cloud-other", 1),
        "git": ("git", 2),
    }
    assert all(plugin["description"] for plugin in catalog["plugins"])
    assert "s3cret" not in "".join((clients / name).read_text() for name in FILES) + ran.out + ran.err
    assert mentions(ran.err, "git", ".mcp.json", "~/.cursor/mcp.json")
    assert mentions(ran.err, "off")


def test_M3_what_is_made_is_a_project_that_other_commands_take(clients: Path, toolbelt: Toolbelt) -> None:
    toolbelt("init", "--yes", "--server", "git", "--server", "cloud", "--max-tokens", "800")
    assert toolbelt("loadout", "lint", "--strict").code == 0
    inspected = toolbelt("loadout", "inspect", "starter", "--json").json
    assert 0 < inspected["tokens"]["active"] <= 800
    assert [plugin["plugin"] for plugin in inspected["active"]][-1] == "git"
    assert set(inspected["discoverable"]) == {"cloud-aks", "cloud-sql"} - {p["plugin"] for p in inspected["active"]}
    assert toolbelt("catalog", "sync", "--check", "--yes").code == 0


def test_M3_it_ends_with_tokens_models_and_the_next_command(clients: Path, toolbelt: Toolbelt) -> None:
    ran = toolbelt("init", ".", "--yes", "--server", "git", "--no-split")
    assert ran.code == 0
    assert mentions(ran.out, "starter", open_project().model_names(())[0], "git")
    assert ran.out.rstrip().splitlines()[-1].endswith("toolbelt loadout inspect starter --tools")


def test_M2_without_a_terminal_nothing_starts_and_nothing_is_written(clients: Path, toolbelt: Toolbelt) -> None:
    refused = toolbelt("init")
    assert refused.code == 2
    assert mentions(refused.err, "git", "cloud", "ended", "--yes")
    assert made(clients) == []


@pytest.mark.parametrize("existing", ["toolbelt.yaml", "toolbelt.yml", "catalog.json", "starter.loadout.yaml"])
def test_M3_nothing_is_overwritten_without_force(clients: Path, toolbelt: Toolbelt, existing: str) -> None:
    (clients / existing).write_text("name: mine\nplugins: []\n")
    refused = toolbelt("init", "--yes", "--server", "git")
    assert refused.code == 2
    assert mentions(refused.err, existing, "--force", "toolbelt catalog sync")
    assert made(clients) == [existing]
    if existing != "toolbelt.yml":
        assert toolbelt("init", "--yes", "--server", "git", "--force").code == 0
        assert (clients / f"{existing}.bak").read_text() == "name: mine\nplugins: []\n"
        (clients / "starter.loadout.yaml").write_text("mine")
        assert toolbelt("init", "--yes", "--server", "git", "--force").code == 0
        kept = [path.read_text() for path in clients.glob("starter.loadout.yaml.bak*")]
        assert "mine" in kept, "nor is an earlier copy replaced"


def test_M3_no_server_that_answers_writes_nothing(clients: Path, toolbelt: Toolbelt) -> None:
    ran = toolbelt("init", "--yes", "--server", "ended", "--json")
    assert (ran.code, ran.json["files"], made(clients)) == (3, [], [])
    assert mentions(ran.err, "no key")


def test_M3_without_servers_the_shipped_catalog_is_offered(home: Path, project: Path, toolbelt: Toolbelt) -> None:
    refused = toolbelt("init", "--yes")
    assert refused.code == 2
    assert mentions(refused.err, "toolbelt init --start-with assistant")
    ran = toolbelt("init", "--start-with", "assistant", "--json")
    assert (ran.code, ran.json["servers"], made(project)) == (0, [], ["toolbelt.yaml"])
    assert toolbelt("loadout", "inspect", "developer").code == 0
    assert toolbelt("init", "--start-with", "asistant", "--force").code == 2


@pytest.mark.parametrize("arguments", [(), ("--from", ".mcp.json")], ids=["found", "named"])
def test_V6_an_entry_that_cannot_be_read_does_not_refuse_the_others(
    home: Path, project: Path, toolbelt: Toolbelt, arguments: tuple[str, ...]
) -> None:
    write_config(project / ".mcp.json", git=write_script(home, "git", "log"), bad={"url": "x", "type": "pigeon"}, off=5)
    ran = toolbelt("init", *arguments, "--yes", "--json")
    assert (ran.code, [each["name"] for each in ran.json["servers"]], made(project)) == (3, ["git"], sorted(FILES))
    assert mentions(ran.err, ".mcp.json:1: warning", "bad", "'pigeon'", "off")
    # All that was asked for was read.
    assert toolbelt("init", *arguments, "--yes", "--force", "--server", "git").code == 0
    assert toolbelt("init", *arguments, "--yes", "--force", "--server", "git", "--server", "bad").code == 3
    refused = toolbelt("init", *arguments, "--yes", "--force", "--server", "bad")
    assert (refused.code, mentions(refused.err, "error", "'pigeon'")) == (2, True)


def test_M3_a_folder_that_is_not_there_is_made(clients: Path, toolbelt: Toolbelt) -> None:
    assert toolbelt("init", "new/agent", "--yes", "--server", "git", "--from", ".mcp.json").code == 0
    assert made(clients / "new" / "agent") == sorted(FILES)
    assert toolbelt("init", "started", "--start-with", "assistant").code == 0
    assert made(clients / "started") == ["toolbelt.yaml"]
    assert toolbelt("init", "unused", "--yes", "--server", "gone").code == 2
    assert not (clients / "unused").exists()
    (clients / "file").write_text("")
    assert mentions(toolbelt("init", "file").err, "'file' is a file")


def test_M3_a_file_can_be_named_and_a_folder(clients: Path, home: Path, toolbelt: Toolbelt) -> None:
    inner = clients / "inner"
    inner.mkdir()
    config = write_config(home / "own.json", only=write_script(home, "only", "a"))
    ran = toolbelt("init", "inner", "--from", str(config), "--yes")
    assert ran.code == 0
    assert yaml.safe_load((inner / "toolbelt.yaml").read_text())["servers"] == {"only": {"from": "~/own.json"}}
    assert made(clients) == []
    assert ran.out.rstrip().splitlines()[-1].endswith("cd inner && toolbelt loadout inspect starter --tools")
    assert toolbelt("init", "nowhere").code == 2
    assert toolbelt("init", "--from", "nowhere.json", "--yes").code == 2
    wrong = clients / "wrong.json"
    wrong.write_text('{"mcpServers": {"a": {"args": []}}}')
    assert mentions(toolbelt("init", "--from", "wrong.json", "--yes").err, "wrong.json", "command")


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_M3_at_a_terminal_it_asks_for_each_server_and_before_it_replaces(clients: Path) -> None:
    (clients / "catalog.json").write_text("{}")
    shown = _answer("init", "--server", "git", "--server", "cloud", answers=("y", "each", "y", "n"))
    assert mentions(shown, "catalog.json", "git", "cloud")
    servers = yaml.safe_load((clients / "toolbelt.yaml").read_text())["servers"]
    assert list(servers) == ["git"], "what was declined is left out"


def _answer(*arguments: str, answers: tuple[str, ...]) -> str:
    """Run at a terminal; each answer is typed once a question stands there."""
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "toolbelt", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=take_terminal,  # noqa: PLW1509
    )
    os.close(theirs)
    shown, left, deadline = "", list(answers), time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 1.0)[0]:
                continue
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            shown += data.decode(errors="replace")
            if left and shown.rstrip().endswith("]:"):
                os.write(terminal, f"{left.pop(0)}\n".encode())
                shown += "\n"
    finally:
        os.close(terminal)
        process.wait(60)
    assert not left, shown
    return shown
