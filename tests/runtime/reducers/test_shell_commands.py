"""Which programs a command runs."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.runtime.reducers.shell_commands import prints_files, read_commands


@pytest.mark.parametrize(
    ("args", "programs"),
    [
        pytest.param({"command": "git -C x status -s"}, [("git", "status", "-s")], id="options-before-the-word"),
        pytest.param({"cmd": "cd 'a b' && A=1 pytest -q"}, [("cd", "a b"), ("pytest",)], id="chain"),
        pytest.param({"command": "python3.12 -m pip install x"}, [("pip", "install", "x")], id="module"),
        pytest.param({"command": "python -m pytest | tee log"}, [("pytest",), ("tee", "log")], id="pipe"),
        pytest.param({"command": ["bash", "-lc", "git status"]}, [("git", "status")], id="shell"),
        pytest.param({"command": "git", "args": ["status"]}, [("git", "status")], id="words-apart"),
        pytest.param({"command": "sudo -u a env -u B nice -n 3 apt-get -y install x"}, [("apt-get", "install", "x")],
                     id="what-only-runs-it"),
        pytest.param({"command": "uv run --with x pytest"}, [("pytest",)], id="runner"),
        pytest.param({"command": "/usr/bin/git status\nls"}, [("git", "status"), ("ls",)], id="lines-and-paths"),
        pytest.param({"command": "echo 'never closed"}, [], id="open-quote"),
        pytest.param({"command": None, "cmd": 3}, [], id="no-text"),
        pytest.param({"command": []}, [], id="no-words"),
        pytest.param({}, [], id="nothing"),
    ],
)  # fmt: skip
def test_R5_a_command_says_what_it_runs(args: dict[str, Any], programs: list[tuple[str, ...]]) -> None:
    assert list(read_commands(args)) == programs


@pytest.mark.parametrize(("command", "shows"), [("cat a", True), ("git diff", True), ("git status", False)])
def test_R5_some_programs_show_what_is_in_files(command: str, shows: bool) -> None:
    assert prints_files(read_commands({"command": f"cd x; {command}"})) == shows
