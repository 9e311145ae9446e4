"""Rule M9: the gateway in a client's file, and back; nothing is ever lost."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.wording import naming
from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.mcp.configs.client_configs import read_client_config, starts_gateway
from toolbelt.mcp.configs.client_editing import (
    ClientChange,
    find_moved,
    gateway_entry,
    plan_change,
    undo_change,
    write_change,
)
from toolbelt.servers import ServerSpec, Transport

BEFORE = """{
  // mine
  "mcpServers": {
    "git": {"command": "git-server", "env": {"TOKEN": "s3cret"}},
    "files": {"command": "files"} // all of them
  },
  "theme": "dark"
}
"""
ENTRY = {"command": "/opt/toolbelt", "args": ["serve", "x"]}
GIT = ServerSpec("git", Transport.STDIO, command="git-server")


def _plan(file: Path, servers: list[ServerSpec] | None = None, **options: Any) -> ClientChange:
    settings = {"name": "toolbelt", "folder": file.parent, "new_key": "mcpServers", **options}
    return plan_change(file, [GIT] if servers is None else servers, ENTRY, **settings)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "client" / "mcp.json"
    path.parent.mkdir()
    path.write_text(BEFORE)
    path.chmod(0o640)
    return path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_M9_the_gateway_takes_the_place_of_what_it_stands_for(file: Path, state: Path) -> None:
    write_change(_plan(file), state)
    text = file.read_text()
    assert "// mine" in text
    assert "// all of them" in text
    assert "s3cret" not in text
    config = read_client_config(file)
    assert ([spec.name for spec in config.servers], config.gateways) == (["files"], ("toolbelt",))
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_M9_secrets_move_to_files_of_the_user_alone(file: Path, state: Path) -> None:
    write_change(_plan(file), state)
    (moved,) = find_moved(file, state)
    (git,) = read_client_config(moved).servers
    assert git.env == {"TOKEN": "s3cret"}
    for path in (state, *state.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) in (0o600, 0o700), path


def test_M9_undo_restores_every_byte(file: Path, state: Path) -> None:
    raw = b"\xef\xbb\xbf" + BEFORE.replace("\n", "\r\n").encode()
    file.write_bytes(raw)
    write_change(_plan(file), state)
    assert file.read_bytes().startswith(b"\xef\xbb\xbf{\r\n")
    assert b"\n" not in file.read_bytes().replace(b"\r\n", b"")
    assert undo_change(file, state).restored == ("git",)
    assert file.read_bytes() == raw
    assert find_moved(file, state) == ()
    with pytest.raises(ToolbeltError, match=naming(str(file))):
        undo_change(file, state)


def test_M9_undo_returns_to_what_was_before_the_first_of_several_writes(file: Path, state: Path) -> None:
    write_change(_plan(file), state)
    write_change(_plan(file, [ServerSpec("files", Transport.STDIO, command="files")]), state)
    assert read_client_config(file).servers == ()
    (moved,) = find_moved(file, state)
    assert {spec.name for spec in read_client_config(moved).servers} == {"git", "files"}
    assert set(undo_change(file, state).restored) == {"git", "files"}
    assert file.read_text() == BEFORE


@pytest.mark.parametrize(
    ("name", "content"),
    [("record.json", ""), ("record.json", "[]"), ("record.json", '{"existed": true}'), ("original", "")],
)
def test_M9_a_damaged_copy_changes_nothing(file: Path, state: Path, name: str, content: str) -> None:
    folder = write_change(_plan(file), state)
    assert folder is not None
    written = file.read_bytes()
    (folder / name).write_text(content)
    with pytest.raises(StorageError, match=naming(str(folder / name))):
        undo_change(file, state)
    with pytest.raises(StorageError, match=naming(str(folder / name))):
        write_change(_plan(file, [ServerSpec("files", Transport.STDIO, command="files")]), state)
    assert file.read_bytes() == written


def test_M9_what_is_right_already_is_not_written(file: Path, state: Path) -> None:
    write_change(_plan(file), state)
    assert write_change(_plan(file), state) is None


def test_M9_undo_refuses_a_file_that_changed_since_and_names_the_copy(file: Path, state: Path) -> None:
    folder = write_change(_plan(file), state)
    file.write_text(changed := file.read_text().replace("dark", "light"))
    with pytest.raises(ToolbeltError, match=naming(str(file), f"{folder}/original")):
        undo_change(file, state)
    assert file.read_text() == changed
    file.unlink()
    with pytest.raises(ToolbeltError):
        undo_change(file, state)


def test_M9_a_write_after_a_change_of_the_users_keeps_that_change(file: Path, state: Path) -> None:
    write_change(_plan(file), state)
    mine = file.read_text().replace("dark", "light")
    file.write_text(mine)
    write_change(_plan(file, [ServerSpec("files", Transport.STDIO, command="files")]), state)
    undo_change(file, state)
    assert file.read_text() == mine


def test_M9_a_file_that_was_not_there_is_gone_again(tmp_path: Path, state: Path) -> None:
    file = tmp_path / "new" / "mcp.json"
    write_change(_plan(file, new_key="servers"), state)
    assert json.loads(file.read_text()) == {"servers": {"toolbelt": ENTRY}}
    assert undo_change(file, state).deleted
    assert not file.exists()


def test_M9_a_link_stays_a_link(file: Path, state: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(file)
    write_change(_plan(link), state)
    assert link.is_symlink()
    assert read_client_config(file).gateways == ("toolbelt",)
    assert len(find_moved(file, state)) == 1
    undo_change(link, state)
    assert file.read_text() == BEFORE


def test_M9_originals_can_stay(file: Path, state: Path) -> None:
    change = _plan(file, keep_originals=True)
    assert (change.removed, change.kept) == ((), ("git",))
    write_change(change, state)
    assert {spec.name for spec in read_client_config(file).servers} == {"git", "files"}


def test_M9_an_entry_of_the_same_name_that_is_another_server_stays(file: Path) -> None:
    change = _plan(file, [replace(GIT, args=("--other",))])
    assert (change.removed, change.differing) == ((), ("git",))
    change = _plan(file, [replace(GIT, args=("--other",), files=(str(file),))])  # which `from` names
    assert change.removed == ("git",)


def test_M9_another_server_with_the_name_of_the_gateway_is_refused(file: Path) -> None:
    with pytest.raises(ToolbeltError, match=naming("files", "--entry")):
        _plan(file, name="files")


@pytest.mark.parametrize(
    "text", ["{", '{"mcpServers": {"a": 1}, "mcpServers": {}}', "[]", '{"mcpServers": {"a": 1,,}}']
)
def test_M9_a_file_with_mistakes_is_not_changed(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidFileError):
        _plan(file)
    assert file.read_text() == text


def test_M9_a_change_meanwhile_is_not_overwritten(file: Path, state: Path) -> None:
    change = _plan(file)
    file.write_text("{}")
    with pytest.raises(ToolbeltError):
        write_change(change, state)
    assert file.read_text() == "{}"
    assert find_moved(file, state) == ()


def test_M9_vs_codes_inputs_go_with_the_entries(file: Path, state: Path) -> None:
    inputs = [{"id": "key", "type": "promptString", "description": "Key?"}]
    entry = {"type": "stdio", "command": "git-server", "env": {"K": "${input:key}"}}
    file.write_text(json.dumps({"inputs": inputs, "servers": {"git": entry}}))
    write_change(_plan(file, new_key="servers"), state)
    (moved,) = find_moved(file, state)
    (git,) = read_client_config(moved).servers
    assert git.inputs == {"key": "Key?"}
    assert json.loads(file.read_text())["inputs"] == inputs


def test_M9_claude_codes_project_has_a_place_of_its_own(file: Path, state: Path) -> None:
    entry = {"type": "stdio", "command": "git-server"}
    projects = {"/other": {"mcpServers": {"git": entry}}, str(file.parent): {"mcpServers": {"git": entry}, "x": 1}}
    file.write_text(json.dumps({"numStartups": 1, "mcpServers": {"web": {"url": "http://h"}}, "projects": projects}))
    write_change(_plan(file), state)
    data = json.loads(file.read_text())
    assert data["projects"][str(file.parent)] == {"mcpServers": {"toolbelt": ENTRY}, "x": 1}
    assert data["projects"]["/other"] == {"mcpServers": {"git": entry}}
    assert list(data["mcpServers"]) == ["web"]


_KILLED = """
import os, signal, sys
from pathlib import Path
import toolbelt.mcp.configs.client_editing as editing
from tests.mcp.configs.test_client_editing import _plan
left = int(sys.argv[3])
replacing = editing.replacing
def stop_before(*args, **options):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return replacing(*args, **options)
editing.replacing = stop_before
editing.write_change(_plan(Path(sys.argv[1])), Path(sys.argv[2]))
print("written")
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize("writes", range(5))
def test_M9_a_kill_between_the_copy_and_the_file_loses_nothing(file: Path, state: Path, writes: int) -> None:
    command = [sys.executable, "-c", _KILLED, str(file), str(state), str(writes)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[3])
    if writes < 4:
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert file.read_text() == BEFORE  # the file comes last
    else:
        assert done.stdout == "written\n", done.stderr
    write_change(_plan(file), state)
    assert read_client_config(file).gateways == ("toolbelt",)
    undo_change(file, state)
    assert file.read_text() == BEFORE


def test_M9_a_state_folder_that_cannot_be_written_leaves_the_file(file: Path, state: Path) -> None:
    state.write_text("in the way")
    with pytest.raises(StorageError):
        write_change(_plan(file), state)
    assert file.read_text() == BEFORE


def test_M9_the_gateway_is_started_by_absolute_paths(tmp_path: Path) -> None:
    entry = gateway_entry(["developer"], {"TOOLBELT_STATE_DIR": "state"}, with_type=True)
    assert Path(entry["command"]).is_absolute()
    assert Path(entry["command"]).exists()
    assert entry["type"] == "stdio"
    assert entry["env"] == {"TOOLBELT_STATE_DIR": str(Path("state").absolute())}
    assert starts_gateway(entry["command"], entry["args"])
    moved = gateway_entry([], {"XDG_STATE_HOME": "/x"}, with_type=False)["env"]
    assert moved == {"TOOLBELT_STATE_DIR": str(Path("/x/toolbelt"))}
    assert "env" not in gateway_entry([], {}, with_type=False)
