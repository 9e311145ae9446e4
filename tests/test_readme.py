"""Every command and program of the README does what it says there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


COMMANDS = [
    line.removeprefix("$ ").partition("  #")[0].strip()
    for block in blocks("console")
    for line in block.splitlines()
    if line.startswith("$ toolbelt")
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with what the README's commands speak of."""
    (tmp_path / "tools.json").write_text(
        '[{"type": "function", "function": {"name": "pay", "description": "Pay a bill.", "parameters": {}}}]'
    )
    (tmp_path / "catalog.yaml").write_text("plugins: [{name: file, tools: [{name: read}]}]\n")
    return tmp_path


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 15


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_works_as_written(command: str, project: Path) -> None:
    if "-o catalog.yaml" in command:
        (project / "catalog.yaml").unlink()
    arguments = shlex.split(command)[1:]
    done = subprocess.run([sys.executable, "-m", "toolbelt", *arguments], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout or "-o" in arguments


def test_the_picture_is_what_is_printed(project: Path) -> None:
    (block,) = (block for block in blocks("console") if block.startswith("$ toolbelt loadout inspect research"))
    done = subprocess.run(
        [sys.executable, "-m", "toolbelt", "loadout", "inspect", "research", "--no-tools"],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
        env={**__import__("os").environ, "COLUMNS": "100"},
    )
    printed = done.stdout.splitlines()
    shown = [line for line in block.splitlines()[1:] if line.strip() != "…"]
    assert [line for line in shown if line not in printed] == []


def test_the_example_file_is_right(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    assert "security-reviewer" in yaml.safe_load(text)["loadouts"]
    (tmp_path / "toolbelt.yaml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "toolbelt", "loadout", "lint", "--strict"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, "no findings")


def test_the_python_example_prints_what_its_comments_say() -> None:
    (program,) = blocks("python")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    said = [line.rpartition("  # ")[2] for line in program.splitlines() if line.startswith("print(")]
    assert done.stdout.splitlines() == said
