"""`toolbelt catalog gate`: two versions of a catalog, from git or from files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import SMALL, Toolbelt
from tests.wording import mentions


def git(folder: Path, *arguments: str) -> None:
    names = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env={**os.environ, **names})


@pytest.fixture
def repository(project: Path) -> Path:
    (project / "tools.yaml").write_text(SMALL)
    (project / "toolbelt.yaml").write_text("catalog: tools.yaml\n")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "tools")
    return project


def change(repository: Path, old: str, new: str) -> None:
    file = repository / "tools.yaml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_nothing_has_changed_since_a_revision(toolbelt: Toolbelt, repository: Path) -> None:
    ran = toolbelt("catalog", "gate", "HEAD", "--json")
    assert (ran.code, ran.json["verdict"], ran.json["faults"], ran.json["changes"]) == (0, "no_regression", [], [])


def test_a_worse_description_fails(toolbelt: Toolbelt, repository: Path) -> None:
    change(repository, "Sends commits.", "Does it.")
    ran = toolbelt("catalog", "gate", "HEAD", "--junit", "gate.xml", "--markdown", "gate.md")
    assert ran.code == 1
    assert mentions(ran.out, "git/push", "lost its words", "--allow description-lost")
    assert mentions((repository / "gate.md").read_text(), "regression", "git/push")
    [failure] = ET.parse(repository / "gate.xml").iter("failure")
    assert failure.get("type") == "description-lost"


def test_what_is_allowed_passes(toolbelt: Toolbelt, repository: Path) -> None:
    change(repository, "Sends commits.", "Does it.")
    ran = toolbelt("catalog", "gate", "HEAD", "--allow", "description-lost", "--json")
    assert (ran.code, [fault["allowed"] for fault in ran.json["faults"]]) == (0, [True])


def test_a_rule_allowed_by_the_environment_is_named(
    toolbelt: Toolbelt, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_ALLOW", "description-lost")
    assert mentions(toolbelt("catalog", "gate", "HEAD").err, "--allow", "TOOLBELT_ALLOW")


def test_against_a_file_and_another_file_of_a_revision(toolbelt: Toolbelt, repository: Path) -> None:
    (repository / "old.yaml").write_text(SMALL.replace("Sends commits.", "Sends commits to a remote repository."))
    git(repository, "add", "old.yaml")
    git(repository, "commit", "-qm", "old")
    for old in ("old.yaml", "HEAD:old.yaml"):
        changes = toolbelt("catalog", "gate", old, "--json").json["changes"]
        assert [(each["kind"], each["tool"]) for each in changes] == [("description", "git/push")]


def test_cases_whose_right_tool_is_not_found_any_more(toolbelt: Toolbelt, project: Path) -> None:
    tools = [{"name": f"tool_{n}", "description": f"Counts apples of kind {n}."} for n in range(9)]
    tools.append({"name": "zebra", "description": "Paints stripes on a horse."})
    cases = [{"id": str(n), "query": f"paint stripes on horse {n}", "expected": [{"tool": "p/zebra"}]} for n in (1, 2)]
    (project / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    for name, text in (
        ("old.json", "Paints stripes on a horse."),
        ("new.json", "Zebra: makes lines, black and white."),
    ):
        tools[-1]["description"] = text
        (project / name).write_text(json.dumps({"name": "x", "plugins": [{"name": "p", "tools": tools}]}))
    ran = toolbelt("catalog", "gate", "old.json", "--catalog", "new.json", "--dataset", "cases.jsonl", "--json")
    lost = [fault for fault in ran.json["faults"] if fault["rule"] == "cases-lost"]
    assert (ran.code, [(fault["tool"], fault["others"]) for fault in lost]) == (1, [("p/zebra", ["1", "2"])])
    assert ran.json["cases"]["recall_at_5"] == [1.0, 0.0]


def test_no_case_to_rank_is_no_pass(toolbelt: Toolbelt, repository: Path) -> None:
    (repository / "cases.jsonl").write_text('{"id": "1", "query": "Hello", "expected": []}\n')
    ran = toolbelt("catalog", "gate", "HEAD", "--dataset", "cases.jsonl", "--json")
    assert (ran.code, ran.json["verdict"]) == (3, "insufficient_data")


@pytest.mark.parametrize("old", ["nosuch", "--allow", "HEAD:nosuch.yaml", "-x"])
def test_no_such_revision(toolbelt: Toolbelt, repository: Path, old: str) -> None:
    assert toolbelt("catalog", "gate", "--", old).code == 2


def test_a_baseline_of_an_eval_has_no_definitions(toolbelt: Toolbelt, repository: Path) -> None:
    (repository / "b.json").write_text('{\n  "schema": "toolbelt.baseline/1"}')
    ran = toolbelt("catalog", "gate", "b.json")
    assert ran.code == 2
    assert mentions(ran.err, "digests", "git revision")


def test_no_earlier_python_code_is_run(toolbelt: Toolbelt, repository: Path) -> None:
    file = repository / "tools_of_mine.py"
    code = 'def refund(order: str) -> str:\n    """Pays an order back."""\n    return order\nTOOLS = [refund]\n'
    file.write_text(code)
    assert toolbelt("catalog", "import", "tools_of_mine.py", "-o", "tools.json").code == 0
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "python")
    file.write_text(code.replace("Pays an order back.", "Does it."))
    refused = toolbelt("catalog", "gate", "HEAD", "--catalog", "tools_of_mine.py")
    assert refused.code == 2
    assert mentions(refused.err, "catalog import tools_of_mine.py -o tools.json", "catalog gate HEAD:tools.json")
    assert toolbelt("catalog", "gate", "HEAD:tools.json", "--catalog", "tools_of_mine.py").code == 1


def test_a_shipped_catalog_has_no_revisions(toolbelt: Toolbelt, project: Path) -> None:
    ran = toolbelt("catalog", "gate", "HEAD")
    assert ran.code == 2
    assert mentions(ran.err, "assistant", "--catalog")
