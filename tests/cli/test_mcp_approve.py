"""Rule M2: approving by the digest that a list printed, and all at once at a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.mcp.small import small_server
from tests.wording import mentions


@pytest.fixture(autouse=True)
def servers(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two servers; its `.mcp.json`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(tmp_path / "state"))
    small = small_server()
    entry = {"command": small.command, "args": [*small.args]}
    file = project / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"one": entry, "two": {**entry, "env": {"LEVEL": "low"}}}}))
    (project / "toolbelt.yaml").write_text(
        "catalog: new.json\nservers: {one: {from: .mcp.json}, two: {from: .mcp.json}}\n"
    )
    return file


def test_M2_a_script_approves_what_was_listed_and_nothing_else(toolbelt: Toolbelt, servers: Path) -> None:
    refused = toolbelt("catalog", "sync")
    assert (refused.code, mentions(refused.err, "one", "two", "toolbelt mcp approve", "--yes")) == (2, True)
    listed = {each["name"]: each for each in toolbelt("mcp", "approve", "--json").json}
    assert listed["one"]["digest"] in refused.err
    assert not any(each["is_approved"] for each in listed.values())
    assert toolbelt("mcp", "approve", listed["two"]["digest"]).code == 0
    approved = {each["name"]: each["is_approved"] for each in toolbelt("mcp", "approve", "--json").json}
    assert approved == {"one": False, "two": True}
    servers.write_text(servers.read_text().replace("low", "high"))
    assert not any(each["is_approved"] for each in toolbelt("mcp", "approve", "--json").json)
    stale = toolbelt("mcp", "approve", listed["two"]["digest"])
    assert (stale.code, mentions(stale.err, listed["two"]["digest"])) == (2, True)


def test_M2_the_servers_of_a_clients_file_are_listed_before_there_is_a_project(
    toolbelt: Toolbelt, project: Path
) -> None:
    (project / "toolbelt.yaml").unlink()
    assert [each["name"] for each in toolbelt("mcp", "approve", "--from", ".mcp.json", "--json").json] == ["one", "two"]
    shown = toolbelt("mcp", "approve", "--from", ".mcp.json")
    assert mentions(shown.out + shown.err, "one", "two", "not approved", "LEVEL")


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
@pytest.mark.parametrize(("answer", "approved"), [("all", [True, True]), ("none", [False, False])])
def test_M2_all_are_approved_in_one_answer_after_the_whole_list(
    toolbelt: Toolbelt, project: Path, answer: str, approved: list[bool]
) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "toolbelt", "catalog", "sync"]
    process = subprocess.Popen(command, cwd=project, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    text = b""
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:  # the process has ended
        pass
    process.wait(60)
    os.close(ours)
    assert text.count(b"server 'one'") == 1
    assert text.count(b"Run all 2 of these") == 1
    assert [each["is_approved"] for each in toolbelt("mcp", "approve", "--json").json] == approved
