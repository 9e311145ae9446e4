"""Rule M2: consent comes from a terminal or from `--yes`."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wording import mentions, naming
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.command.approval import approve
from toolbelt.errors import ToolbeltError
from toolbelt.mcp.configs.approvals import Approvals
from toolbelt.servers import PythonReference, ServerSpec, Transport

SPEC = ServerSpec(
    "git", Transport.STDIO, command="run", args=("--token", "s3cret", "x"), env=FrozenDict(A="s3cret"), source="c.json"
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def test_M2_without_a_terminal_what_is_not_approved_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLBELT_YES", "1")
    with pytest.raises(ToolbeltError) as caught:
        approve([SPEC], yes=False)
    assert caught.value.exit_code == 2
    assert mentions(caught.value, "git", "c.json", "--token", "--yes", "x")
    assert "s3cret" not in str(caught.value)


def test_M2_yes_is_for_this_command_only(state: Path) -> None:
    approve([SPEC], yes=True)
    assert Approvals(state).missing([SPEC], os.environ) == (SPEC,)
    Approvals(state).add([SPEC], os.environ)
    approve([SPEC], yes=False)


def test_M2_a_file_that_everybody_may_write_is_refused_with_yes_too(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text("{}")
    file.chmod(0o666)
    with pytest.raises(ToolbeltError, match="chmod"):
        approve([ServerSpec("a", Transport.STDIO, command="x", files=(str(file),))], yes=True)


def test_M2_an_env_file_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("A=1")
    (tmp_path / "keys").chmod(0o666)
    with pytest.raises(ToolbeltError, match="chmod"):
        approve([ServerSpec("a", Transport.STDIO, command="x", folder=str(tmp_path), env_file="keys")], yes=True)


def test_M2_code_is_approved_before_it_is_imported(state: Path) -> None:
    code = PythonReference("tools:registry", "/srv/app", "toolbelt.yaml")
    with pytest.raises(ToolbeltError, match=naming("tools:registry", "toolbelt.yaml")):
        approve([code, SPEC], yes=False)
    Approvals(state).add([code], os.environ)
    approve([code], yes=False)
    moved = PythonReference("tools:registry", "/srv/other", "toolbelt.yaml")
    assert Approvals(state).missing([code, moved], os.environ) == (moved,)


_SCRIPT = """
import sys
from toolbelt.command.boundary import run_command
import click
from toolbelt.servers import ServerSpec, Transport
from toolbelt.command.approval import approve
@click.command()
def main():
    args = ("--token", "s3cret", "all of it", "${MINE}", "--key", "${KEY}")
    spec = ServerSpec("g\\x1bit", Transport.STDIO, command="run", args=args, folder=sys.argv[1], env_file="keys")
    approve([spec], yes=False)
    click.echo("started")
sys.exit(run_command([], lambda: main))
"""


def _at_a_terminal(answer: str, folder: Path) -> tuple[int, str]:
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(folder)],
        env={**os.environ, "MINE": "resolved", "KEY": "s3cret", "COLUMNS": "300"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
    )
    os.close(terminal)
    os.write(controller, answer.encode())
    shown = b""
    while True:
        try:
            part = os.read(controller, 4096)
        except OSError:  # as Linux reports the end
            break
        if not part:
            break
        shown += part
    os.close(controller)
    return process.wait(timeout=60), shown.decode()


def test_M2_a_terminal_is_asked_once_with_the_whole_masked_definition(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("LD_PRELOAD=/x.so\nHIDDEN=s3cret\n")
    code, shown = _at_a_terminal("n\n", tmp_path)
    assert code == 2
    assert mentions(shown, str(tmp_path), "resolved", "LD_PRELOAD=/x.so", "HIDDEN=***")
    assert "started" not in shown
    assert mentions(shown, "run", "--token", "all of it")
    assert "s3cret" not in shown
    assert "g\x1bit" not in shown
    code, shown = _at_a_terminal("y\n", tmp_path)
    assert (code, "started" in shown) == (0, True)
    code, shown = _at_a_terminal("", tmp_path)
    assert (code, shown.strip()) == (0, "started")


def test_M2_a_definition_that_changes_while_the_user_reads_is_not_approved(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keys"
    file.write_text("A=1\n")

    def answer(*_: object, **__: object) -> bool:
        file.write_text("LD_PRELOAD=/x.so\n")
        return True

    monkeypatch.setattr("toolbelt.command.approval.click.confirm", answer)
    monkeypatch.setattr("toolbelt.command.approval._is_terminal", lambda: True)
    spec = ServerSpec("a", Transport.STDIO, command="x", folder=str(tmp_path), env_file="keys")
    with pytest.raises(ToolbeltError, match=naming("a")):
        approve([spec], yes=False)
    assert Approvals(state).missing([spec], os.environ) == (spec,)
