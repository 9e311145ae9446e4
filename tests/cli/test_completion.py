"""What a shell completes: commands, options, and the names of loadouts, catalogs, datasets, runs and models."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete, CompletionItem

from tests.cli.conftest import Toolbelt
from toolbelt.cli.root import root
from toolbelt.command.completion import VARIABLE
from toolbelt.stores.catalogs import shipped_catalogs, shipped_datasets

TI = re.compile("ti")
HEAVY = {"litellm", "numpy", "scipy", "pandas", "matplotlib", "pydantic", "mcp", "tiktoken", "jsonschema_rs", "httpx"}


def test_there_are_datasets_to_complete() -> None:
    assert any(map(TI.match, shipped_datasets()))


def complete(line: str) -> list[CompletionItem]:
    *words, typed = line.split(" ")
    return BashComplete(root, {}, "toolbelt", VARIABLE).get_completions(words, typed)


def names(line: str) -> list[str]:
    return [item.value for item in complete(line)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("lo", ["loadout"], id="a-group"),
        pytest.param("loadout in", ["inspect"], id="a-command"),
        pytest.param("loadout inspect --to", ["--tools", "--tokenizer"], id="an-option"),
        pytest.param("loadout inspect ", ["minimal", "developer", "research", "devops", "full", "mine"], id="loadouts"),
        pytest.param("loadout why d", ["developer", "devops"], id="a-loadout-by-its-beginning"),
        pytest.param("loadout diff minimal m", ["minimal", "mine"], id="the-second-loadout"),
        pytest.param("loadout create x --extends mi", ["minimal", "mine"], id="a-parent"),
        pytest.param("loadout list --catalog ti", [*filter(TI.match, shipped_catalogs())], id="a-catalog"),
        pytest.param("dataset show ti", [*filter(TI.match, shipped_datasets())], id="a-shipped-dataset"),
        pytest.param("dataset show ./", ["./ours"], id="a-folder-with-cases"),
        pytest.param("eval run --dataset ti", [*filter(TI.match, shipped_datasets())], id="the-dataset-of-a-run"),
        pytest.param("eval run -m loc", ["local/bm25"], id="a-model-that-asks-nobody"),
        pytest.param("eval run -m local/bm25,our", ["local/bm25,our-model"], id="the-second-model"),
        pytest.param("loadout inspect mine --model our", ["our-model"], id="the-projects-model"),
        pytest.param("model inspect gpt-4o-mini-2", ["gpt-4o-mini-2024-07-18"], id="a-model-of-the-table"),
        pytest.param("catalog search push --rank ", ["words", "regex", "embedding:", "python:"], id="rankers"),
        pytest.param("eval search -r words,r", ["words,regex"], id="the-second-ranker"),
        pytest.param("model inspect nobody-has-this", [], id="nothing-begins-so"),
    ],
)
def test_names_are_completed(small: Path, line: str, expected: list[str]) -> None:
    (small / "toolbelt.yaml").write_text(
        "catalog: small.yaml\nmodels: [our-model]\nloadouts: {mine: {plugins: [git]}}\n"
    )
    (small / "ours").mkdir()
    (small / "ours" / "cases.jsonl").write_text("")
    assert sorted(names(line)) == sorted(expected)


def test_runs_are_completed_the_latest_first(toolbelt: Toolbelt, project: Path) -> None:
    runs = [toolbelt("eval", "run", "--limit", "1", "-t", "tiered", "--json").json["run"] for _ in range(2)]
    before = (project / ".toolbelt" / "runs.db").read_bytes()
    found = complete("eval show ")
    assert [item.value for item in found] == ["latest", *reversed(runs)]
    assert found[1].help == "assistant, finished"
    assert names(f"eval compare {runs[0]} {runs[1]}") == [runs[1]]
    shutil.copy(project / ".toolbelt" / "runs.db", project / "other.db")
    assert names(f"eval gate --store other.db {runs[0]}") == [runs[0]]
    assert (project / ".toolbelt" / "runs.db").read_bytes() == before


@pytest.mark.parametrize("line", ["eval show rep", "dataset lint ca", "loadout list --catalog x"])
def test_where_a_file_may_be_named_the_shell_completes_files(project: Path, line: str) -> None:
    assert [(item.value, item.type) for item in complete(line)] == [(line.rsplit(" ", maxsplit=1)[-1], "file")]
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("name", ["x; touch y", "$(touch y)", "a*", "-x", "`touch y`", "~root"])
def test_a_name_of_others_that_a_shell_would_read_as_more_is_not_completed(small: Path, name: str) -> None:
    (small / "toolbelt.yaml").write_text("catalog: small.yaml\n")
    (small / "x.loadout.yaml").write_text(f"name: {name!r}\nplugins: [git]\n")
    assert names("loadout show ") == ["minimal", "developer", "research", "devops", "full"]


def test_what_a_name_is_stays_on_its_line(small: Path) -> None:
    (small / "x.loadout.yaml").write_text('name: mine\nplugins: [git]\ndescription: "a\\nplain\\n\\e[31mb"\n')
    (item,) = complete("loadout show mine")
    assert item.help == "a plain \\x1b[31mb"


def test_a_project_with_mistakes_completes_nothing(small: Path) -> None:
    (small / "toolbelt.yaml").write_text("catalog: nowhere.yaml\n")
    assert names("loadout show ") == []


def _asked(line: str) -> dict[str, str]:
    words = line.split(" ")
    return {**os.environ, VARIABLE: "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}


def test_a_tab_prints_completions_alone(small: Path) -> None:
    (small / ".env").write_text("TOOLBELT_HTTP=0.0.0.0\nTOOLBELT_X='open\n")
    done = subprocess.run(
        [sys.executable, "-m", "toolbelt"], env=_asked("toolbelt loadout show de"), capture_output=True, timeout=60
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    (small / ".env").write_text("TOOLBELT_HTTP=0.0.0.0\n")
    done = subprocess.run(
        [sys.executable, "-m", "toolbelt"], env=_asked("toolbelt loadout show de"), capture_output=True, timeout=60
    )
    assert (done.stdout.split(), done.stderr) == ([b"plain,developer", b"plain,devops"], b"")


@pytest.mark.parametrize("line", ["toolbelt eval show 2", "toolbelt loadout show d", "toolbelt eval run -m gpt-4"])
def test_a_tab_loads_nothing_heavy(project: Path, line: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "toolbelt"],
        env={**_asked(line), "PYTHONPROFILEIMPORTTIME": "1"},
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
    )
    loaded = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines() if row.startswith("import time:")}
    assert "click" in loaded
    assert not loaded & HEAVY


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_line_of_the_documentation(small: Path) -> None:
    documented = (Path(__file__).parents[2] / "docs" / "completion.md").read_text(encoding="utf-8")
    (source,) = (line for line in documented.splitlines() if line.startswith("eval") and "bash" in line)
    script = f"""{source}
COMP_WORDS=(toolbelt loadout inspect deve) COMP_CWORD=3
_toolbelt_completion toolbelt
echo "${{COMPREPLY[@]}}"
"""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=small, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("developer\n", "")
