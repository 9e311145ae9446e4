"""`toolbelt loadout lint`: all findings at once, each with file and line (rule L10)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.cli.test_loadout_inspect import MINE
from tests.wording import mentions
from toolbelt.stores.catalogs import datasets_folder

WRONG = """\
catalog: small.yaml
loadouts:
  one:
    extends: develper
    categories: [gti, money]
    plugins: [githb, git/pusj, payments]
    discoverable: [pay*, 'd*r', zzz*]
    disabled: [payments]
  two: {extends: three}
  three: {extends: two}
"""


def test_L10_all_findings_at_once_with_lines(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(WRONG)
    (small / "x.loadout.yaml").write_text("name: One\nplugins: [git]\n")
    ran = toolbelt("loadout", "lint", "--json")
    assert (ran.code, ran.err) == (2, "")
    found = {(row["rule"], row["file"], row["line"], row["severity"]) for row in ran.json["findings"]}
    assert all(set(row) == {"rule", "severity", "file", "line", "message"} for row in ran.json["findings"])
    wanted = {
        ("unknown-parent", "toolbelt.yaml", 4, "error"),
        ("unknown-category", "toolbelt.yaml", 5, "error"),
        ("included-and-disabled", "toolbelt.yaml", 6, "error"),
        ("star-in-the-middle", "toolbelt.yaml", 7, "warning"),
        ("cycle", "toolbelt.yaml", 9, "error"),
        ("duplicate-loadout", "x.loadout.yaml", 1, "error"),
    }
    assert wanted <= found
    messages = "\n".join(row["message"] for row in ran.json["findings"])
    for nearest in ("'developer'", "'git'", "'push'", "two → three → two"):
        assert nearest in messages
    assert [row["line"] for row in ran.json["findings"] if row["file"] == "toolbelt.yaml"] == sorted(
        row["line"] for row in ran.json["findings"] if row["file"] == "toolbelt.yaml"
    )


def test_L10_what_lint_calls_an_error_other_commands_refuse(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(WRONG)
    for command in ("list", "inspect one", "why one git", "export one", "inspect full"):
        ran = toolbelt("loadout", *command.split())
        assert (ran.code, ran.out) == (2, ""), command
        assert "toolbelt.yaml:4: error" in ran.err
        assert "toolbelt.yaml:9: error" in ran.err


def test_the_text(toolbelt: Toolbelt, small: Path, expected: Callable[[str], str]) -> None:
    (small / "mine.loadout.yaml").write_text(MINE)
    ran = toolbelt("loadout", "lint")
    assert (ran.code, ran.out, ran.err) == (0, expected("loadout_lint.txt"), "")


def test_L10_the_built_in_loadouts_are_no_finding(toolbelt: Toolbelt) -> None:
    for catalog in ("assistant", "tiered"):
        ran = toolbelt("loadout", "lint", "--catalog", catalog, "--strict")
        assert (ran.code, ran.out) == (0, "no findings\n"), catalog


@pytest.mark.parametrize(("flags", "code"), [([], 0), (["--strict"], 1)], ids=["warnings-tell", "strictly-they-fail"])
def test_L10_warnings(toolbelt: Toolbelt, small: Path, flags: list[str], code: int) -> None:
    (small / "mine.loadout.yaml").write_text(MINE)
    assert toolbelt("loadout", "lint", *flags).code == code


def test_L10_a_plugin_without_a_category_is_a_warning_with_its_line(toolbelt: Toolbelt, small: Path) -> None:
    (small / "more.yaml").write_text("plugins:\n- {name: git, tools: []}\n- {name: odd, tools: [{name: t}]}\n")
    rows = toolbelt("loadout", "lint", "-c", "more.yaml", "--json").json["findings"]
    assert [(row["rule"], row["severity"], row["file"], row["line"]) for row in rows] == [
        ("no-category", "warning", "more.yaml", 3)
    ]


@pytest.mark.parametrize("command", ["loadout", "catalog"])
def test_L10_what_cannot_be_read_is_a_finding_too(toolbelt: Toolbelt, small: Path, command: str) -> None:
    (small / "small.yaml").write_text("plugins: [\n")
    ran = toolbelt(command, "lint", "--json")
    assert ran.code == 2
    assert [row["rule"] for row in ran.json["findings"]] == ["syntax"]


@pytest.mark.parametrize("command", ["loadout", "catalog"])
def test_L10_a_mistake_in_toolbelt_yaml_hides_nothing_of_the_catalog(
    toolbelt: Toolbelt, project: Path, command: str
) -> None:
    (project / "c.yaml").write_text("plugins:\n- {name: git, category: birds, tools: [{name: t}]}\n- {name: odd}\n")
    (project / "toolbelt.yaml").write_text("catalog: c.yaml\n")
    without = toolbelt(command, "lint", "--json").json["findings"]
    assert {"unknown-category", "no-category"} <= {row["rule"] for row in without}
    (project / "toolbelt.yaml").write_text("catalog: c.yaml\nmodles: [gpt-4o]\n")
    ran = toolbelt(command, "lint", "--json")
    (mistake,) = [row for row in ran.json["findings"] if row not in without]
    assert (ran.code, mistake["rule"], mistake["line"]) == (2, "unknown-key", 2)
    assert [row for row in ran.json["findings"] if row != mistake] == without


def test_L10_a_loadout_that_a_model_is_given_and_that_is_not_there(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(
        "catalog: small.yaml\nmodels:\n- {name: gpt-4o, toolset: 'loadout:developer'}\n"
        "- name: gpt-4\n  toolset: loadout:develper\n"
    )
    ran = toolbelt("loadout", "lint", "--json")
    rows = [row for row in ran.json["findings"] if row["severity"] == "error"]
    assert (ran.code, [(row["rule"], row["file"], row["line"]) for row in rows]) == (
        2,
        [("unknown-loadout", "toolbelt.yaml", 5)],
    )
    assert toolbelt("loadout", "inspect", "auto", "-m", "gpt-4o").code == 0  # only who uses it fails
    ran = toolbelt("loadout", "inspect", "auto", "-m", "gpt-4")
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, "develper", "developer")


def test_L10_a_copy_of_what_is_shipped_is_held_to_all_rules(toolbelt: Toolbelt, tmp_path: Path) -> None:
    shipped = json.loads((datasets_folder() / "assistant" / "catalog.json").read_text(encoding="utf-8"))
    wrong = {**shipped, "loadouts": {**shipped["loadouts"], "mine": {"extends": "develper"}}}
    Path("copy.json").write_text(json.dumps(wrong), encoding="utf-8")
    for command in (("inspect", "full"), ("inspect",), ("inspect", "auto", "-m", "gpt-4")):
        ran = toolbelt("loadout", *command, "--catalog", "copy.json")
        assert (ran.code, "develper" in ran.err, ran.out) == (2, True, ""), command
    Path("toolbelt.yaml").write_text("loadouts: {mine: {extends: develper}}")
    for command in (("inspect", "full"), ("inspect",), ("inspect", "auto", "-m", "gpt-4")):
        ran = toolbelt("loadout", *command, "--catalog", "assistant")
        assert (ran.code, "develper" in ran.err, ran.out) == (2, True, ""), "one's own over what is shipped"
