"""`toolbelt eval run --shard` and `eval merge` (rule X4)."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.benchmarks.eval_work import write_work
from tests.cli.conftest import Toolbelt
from toolbelt.cli.root import root
from toolbelt.evals.cli.merge import merge
from toolbelt.evals.cli.run import run

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "shards.md").read_text(encoding="utf-8")


@pytest.fixture
def work(project: Path) -> str:
    return str(write_work(project / "work", 7, tools=4))


def test_X4_shards_are_run_listed_and_merged(toolbelt: Toolbelt, work: str) -> None:
    for number in (1, 2):
        ran = toolbelt("eval", "run", "-d", work, "-t", "full", "--shard", f"{number}/2", "--store", f"{number}.db")
        assert ran.code == 0
        assert f"shard {number}/2: {5 - number} of 7 cases" in ran.err
        assert "--max-cost, --max-requests and rate limits hold for this shard alone" in ran.err
    listed = json.loads(toolbelt("eval", "list", "--store", "2.db", "--json").out)["runs"]
    assert [(row["shard"], row["planned"], row["finished"]) for row in listed] == [("2/2", 3, 3)]

    part = toolbelt("eval", "merge", "1.db", "--json")
    assert (part.code, json.loads(part.out)["status"]) == (3, "incomplete")
    assert "incomplete: shard 2/2 is missing" in part.err
    done = toolbelt("eval", "merge", "1.db", "2.db", "--json")
    assert done.code == 0
    data = json.loads(done.out)
    assert (data["run"], data["status"], data["planned"]) == (json.loads(part.out)["run"], "finished", 7)


def test_X4_dry_run_is_of_the_shard(toolbelt: Toolbelt, work: str) -> None:
    data = json.loads(toolbelt("eval", "run", "-d", work, "-t", "full", "--shard", "2/2", "--dry-run", "--json").out)
    assert (data["shard"], data["planned"]) == ("2/2", 3)


def test_X4_a_shard_is_not_compared_with_the_whole(toolbelt: Toolbelt, work: str) -> None:
    toolbelt("eval", "run", "-d", work, "-t", "full")
    toolbelt("eval", "baseline", "save", "latest", "-o", "whole.json")
    toolbelt("eval", "run", "-d", work, "-t", "full", "--shard", "1/2")
    refused = toolbelt("eval", "compare", "whole.json", "latest")
    assert (refused.code, "without --shard" in refused.err) == (2, True)
    assert toolbelt("eval", "baseline", "save", "latest", "-o", "part.json").code == 0
    assert toolbelt("eval", "compare", "part.json", "latest").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("run", "--shard", "9/8"), "There is no shard 9/8", id="no such shard"),
        pytest.param(("run", "--shard", "three"), "'three' is no shard: write", id="no shard at all"),
        pytest.param(("merge", "none.db"), "No file named 'none.db'", id="no such file"),
        pytest.param(("merge",), "Missing argument", id="no file named"),
    ],
)
def test_X4_a_mistake_is_named(arguments: tuple[str, ...], message: str, toolbelt: Toolbelt, work: str) -> None:
    result = toolbelt("eval", *arguments)
    assert (result.code, message in result.err) == (2, True)


def test_the_files_of_the_docs_run_commands_that_there_are() -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
    for kind, text in blocks:
        if kind == "yaml":
            assert yaml.safe_load(text)
    text = re.sub(r"\$\{\{.*?\}\}|\$\w+", "3", "\n".join(text for _, text in blocks))
    text = re.sub(r" *\\\n *", " ", re.sub(r"\n {10}--", " --", text))
    commands = [
        shlex.split(line[line.index("toolbelt eval ") :]) for line in text.splitlines() if "toolbelt eval " in line
    ]
    for _, _, name, *words in commands:
        if command := {"run": run, "merge": merge}.get(name):
            command.make_context(name, words, **root.context_settings)
    assert [words[2] for words in commands].count("run") == 9
