"""`docs/ci.md`: what it tells users to copy is there, and means what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tests.evals.cli.test_eval_run import CATALOG
from toolbelt.cli.root import evaluate, root

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "ci.md").read_text(encoding="utf-8")
ROOT = Path(__file__).resolve().parents[3]
ACTION, GITLAB, HOOKS, WORKFLOW, HOSTED, RECORDED = (
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
    _, *words = shlex.split(line)
    command: click.Command | None = root
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    assert command is not None
    command.make_context(line, words, **root.context_settings)  # every flag is known, every value allowed


def test_no_command_is_passed_over() -> None:
    assert sorted(line.split()[2] for line in OURS) == [*["baseline"] * 3, *["gate"] * 4, "responses", *["run"] * 7]


@pytest.mark.parametrize("flag", sorted(set(re.findall(r"`(--[a-z-]+)", TEXT.partition("## Which limits")[2]))))
def test_every_flag_is_one_that_there_is(flag: str) -> None:
    commands = [evaluate.get_command(click.Context(evaluate), name) for name in ("gate", "run")]
    known = {name for command in commands if command is not None for one in command.params for name in one.opts}
    assert flag in known


TEMPLATE = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text(encoding="utf-8"))
MANIFEST = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


def test_the_gitlab_template_is_what_the_page_includes() -> None:
    assert [Path(each["local"]).name for each in GITLAB["include"]] == ["gitlab.yml"]
    (job,) = TEMPLATE
    assert set(GITLAB[job]["variables"]) <= set(TEMPLATE[job]["variables"])
    settings = {name for name in TEMPLATE[job]["variables"] if name.startswith("TOOLBELT_")}
    known = {
        param.envvar
        for name in ("run", "gate", "report")
        if (command := evaluate.get_command(click.Context(evaluate), name)) is not None
        for param in command.params
    }
    assert settings - {"TOOLBELT_SOURCE", "TOOLBELT_CACHE_DIR"} <= known


@pytest.mark.parametrize(("answer", "code"), [("track_parcel", 0), ("send_letter", 1)], ids=["right", "wrong"])
def test_the_script_of_the_gitlab_template_gates_a_run(answer: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "office").mkdir()
    (tmp_path / "office" / "catalog.json").write_text(json.dumps(CATALOG))
    case = {"query": "Where is the parcel?", "expected": [{"tool": "track_parcel"}]}
    cases = "".join(json.dumps({"id": f"parcel-{number}", **case}) + "\n" for number in range(30))
    (tmp_path / "office" / "cases.jsonl").write_text(cases)
    model = tmp_path / "model.json"
    model.write_text(json.dumps([{"when": "*", "replies": [{"calls": [{"tool": "track_parcel"}]}]}]))
    (job,) = TEMPLATE.values()
    spelled = {name: value for name, value in job["variables"].items() if name.startswith("TOOLBELT_")}
    spelled |= {"TOOLBELT_DATASET": "office", "TOOLBELT_MODEL": "scripted/model.json", "TOOLBELT_MARGIN": "0.2"}
    environment = {**os.environ, **spelled, "TOOLBELT_CACHE_DIR": str(tmp_path / "cache")}
    environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

    def shell(*lines: str) -> int:
        command = ["bash", "-eo", "pipefail", "-c", "\n".join(lines)]
        return subprocess.run(command, cwd=tmp_path, env=environment, timeout=120, capture_output=True).returncode

    assert shell("toolbelt eval run", 'toolbelt eval baseline save latest -o "$TOOLBELT_BASELINE"') == 0
    model.write_text(json.dumps([{"when": "*", "replies": [{"calls": [{"tool": answer}]}]}]))
    assert shell(*job["script"]) == code
    assert (tmp_path / "gate.xml").is_file()
    assert list((tmp_path / "tool-selection").glob("*/report.html"))


def test_the_hooks_of_pre_commit_run_commands_that_there_are() -> None:
    assert {hook["id"] for repository in HOOKS["repos"] for hook in repository["hooks"]} == {
        hook["id"] for hook in MANIFEST
    }
    for hook in MANIFEST:
        assert not subprocess.run(
            [sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"], timeout=60
        ).returncode
        _, group, *words = shlex.split(hook["entry"])
        commands = root.get_command(click.Context(root), group)
        assert isinstance(commands, click.Group)
        command = commands.get_command(click.Context(commands), words.pop(0))
        assert command is not None
        command.make_context("hook", words, **root.context_settings)
        for file in ("toolbelt.yaml", "tools/catalog.json", "mine.loadout.yaml", "tools.jsonl"):
            assert re.search(hook["files"], file)
        assert not re.search(hook["files"], "src/toolbelt.py")
