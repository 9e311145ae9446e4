from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cases.samples import case, write_dataset

DOUBTFUL = case(query="Run git_push.")
WRONG = case(id="b", role="nobody")
BROKEN = case(id="c", match="no")


@pytest.mark.parametrize(
    ("rows", "options", "code", "rules"),
    [
        pytest.param([case()], ["--strict"], 0, [], id="nothing-to-say"),
        pytest.param([DOUBTFUL], [], 0, ["name-in-query"], id="warnings-alone"),
        pytest.param([DOUBTFUL], ["--strict"], 1, ["name-in-query"], id="warnings-where-they-count"),
        pytest.param([DOUBTFUL, WRONG], ["--strict"], 2, ["name-in-query", "unknown-role"], id="errors"),
        pytest.param([DOUBTFUL, BROKEN], [], 2, ["unknown-match"], id="what-cannot-be-read"),
    ],
)
def test_E9_exit_codes_of_lint(
    toolbelt: Toolbelt, project: Path, rows: list[Any], options: list[str], code: int, rules: list[str]
) -> None:
    write_dataset(project / "mine", rows)
    ran = toolbelt("dataset", "lint", "mine", "--json", *options)
    assert (ran.code, ran.err) == (code, "")
    assert [finding["rule"] for finding in ran.json["findings"]] == rules
    assert all(finding["file"] == "mine/cases.jsonl" and finding["line"] for finding in ran.json["findings"])


def test_E3_lint_in_words(toolbelt: Toolbelt, project: Path) -> None:
    write_dataset(project / "mine", [DOUBTFUL, WRONG])
    first, second, count = toolbelt("dataset", "lint", "mine").out.splitlines()
    assert first.startswith("mine/cases.jsonl:1: warning: The query names the tool 'git_push'")
    assert second.startswith("mine/cases.jsonl:2: error: The role 'nobody' is no loadout.")
    assert count == "1 error, 1 warning"


def test_E3_a_role_may_be_one_of_the_projects_loadouts(toolbelt: Toolbelt, project: Path) -> None:
    write_dataset(project / "mine", [WRONG])
    (project / "toolbelt.yaml").write_text("loadouts:\n  nobody: {plugins: [git]}\n")
    assert toolbelt("dataset", "lint", "mine", "--strict").code == 0


def test_E3_the_shipped_dataset_is_without_fault(toolbelt: Toolbelt) -> None:
    ran = toolbelt("dataset", "lint", "assistant", "--strict")
    assert (ran.code, ran.out) == (0, "no findings\n")
