"""`docs/ci.md`: what it tells users to copy is there, and means what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from toolbelt.cli.root import evaluate, root

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION, WORKFLOW, HOSTED, RECORDED = (
    yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
)
STEPS: list[dict[str, Any]] = [*WORKFLOW["jobs"]["gate"]["steps"], *HOSTED, *RECORDED]
SHELL = "\n".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL))
COMMANDS = [*SHELL.splitlines(), *(" ".join(str(step.get("run", "")).split()) for step in STEPS)]
OURS = [line.partition(" > ")[0] for line in COMMANDS if line.startswith("toolbelt ")]


def test_the_workflow_asks_for_no_more_than_it_needs() -> None:
    for workflow in (ACTION, WORKFLOW):
        assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert "pull_request_target" not in TEXT, "which would run a stranger's change with our secrets"
    assert not re.search(r"^ *- run: pip install (?:-\S+ )*toolbelt", TEXT, re.MULTILINE), (
        "which is somebody else's package"
    )


def test_the_gate_is_asked_where_trials_failed_too() -> None:
    (gate,) = (step for step in STEPS if "toolbelt eval gate" in step.get("run", ""))
    assert "!cancelled()" in gate["if"]


@pytest.mark.parametrize("line", OURS)
def test_every_command_is_one_that_there_is(line: str) -> None:
    _, group, *words = shlex.split(line)
    assert group == "eval"
    command: click.Command | None = evaluate
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    assert command is not None
    command.make_context(line, words, **root.context_settings)  # every flag is known, every value allowed


def test_no_command_is_passed_over() -> None:
    assert sorted(line.split()[2] for line in OURS) == [*["baseline"] * 3, *["gate"] * 2, "responses", *["run"] * 7]


@pytest.mark.parametrize("flag", sorted(set(re.findall(r"`(--[a-z-]+)", TEXT.partition("## Which limits")[2]))))
def test_every_flag_is_one_that_there_is(flag: str) -> None:
    commands = [evaluate.get_command(click.Context(evaluate), name) for name in ("gate", "run")]
    known = {name for command in commands if command is not None for one in command.params for name in one.opts}
    assert flag in known
