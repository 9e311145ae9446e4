"""`toolbelt loadout diff`: two loadouts, two files, or a loadout of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.cli.test_loadout_inspect import MINE
from tests.wording import mentions


@pytest.fixture
def versions(small: Path) -> Path:
    (small / "old.yaml").write_text(
        "loadouts:\n  a: {plugins: [git]}\n  gone: {plugins: [file]}\n  same: {plugins: [git]}\n"
    )
    (small / "new.yaml").write_text("loadouts:\n  A: {plugins: [git, docker]}\n  same: {plugins: [GIT]}\n")
    return small


def test_two_loadouts(toolbelt: Toolbelt, small: Path, expected: Callable[[str], str]) -> None:
    (small / "mine.loadout.yaml").write_text(MINE)
    ran = toolbelt("loadout", "diff", "minimal", "mine")
    assert (ran.code, ran.out, ran.err) == (0, expected("loadout_diff.txt"), "")


def test_two_loadouts_as_json(toolbelt: Toolbelt, small: Path) -> None:
    data = toolbelt("loadout", "diff", "minimal", "developer", "--json").json
    assert (data["a"], data["b"], data["same"]) == ("minimal", "developer", False)
    assert data["plugins"]["added"] == ["git"]
    assert data["tools"]["added"] == ["git/status", "git/push"]
    assert data["tools"]["removed"] == []
    assert data["tokens"]["difference"] == data["tokens"]["b"] - data["tokens"]["a"] > 0
    back = toolbelt("loadout", "diff", "developer", "minimal", "--json").json
    assert back["tools"]["removed"] == data["tools"]["added"]
    assert back["tokens"]["difference"] == -data["tokens"]["difference"]


def test_a_loadout_and_itself(toolbelt: Toolbelt, small: Path) -> None:
    assert mentions(toolbelt("loadout", "diff", "full", "FULL").out, "full → FULL", "no difference")
    assert toolbelt("loadout", "diff", "full", "FULL", "--json").json["same"] is True


def test_two_files_compare_every_loadout_of_either(toolbelt: Toolbelt, versions: Path) -> None:
    data = toolbelt("loadout", "diff", "old.yaml", "new.yaml", "--json").json
    assert (data["a"], data["b"]) == ("old.yaml", "new.yaml")
    by_name = {row["b"].rpartition(":")[2]: row for row in data["loadouts"]}
    assert set(by_name) == {"A", "gone", "same"}
    assert by_name["A"]["plugins"]["added"] == ["docker"]
    assert by_name["gone"]["plugins"]["removed"] == ["file"]
    assert by_name["same"]["same"] is True
    assert toolbelt("loadout", "diff", "old.yaml", "new.yaml").out.count(" → new.yaml:") == 3


@pytest.mark.parametrize(
    ("a", "b"), [("old.yaml:a", "new.yaml:A"), ("old.yaml:A", "new.yaml:a")], ids=["as-written", "any-case"]
)
def test_one_loadout_of_each_file(toolbelt: Toolbelt, versions: Path, a: str, b: str) -> None:
    data = toolbelt("loadout", "diff", a, b, "--json").json
    assert (data["a"], data["b"], data["plugins"]["added"]) == (a, b, ["docker"])


def test_a_loadout_of_a_file_and_one_of_the_project(toolbelt: Toolbelt, versions: Path) -> None:
    assert toolbelt("loadout", "diff", "minimal", "old.yaml:a", "--json").json["plugins"]["added"] == ["git"]


def test_a_file_that_is_called_like_a_loadout_is_not_meant(toolbelt: Toolbelt, small: Path) -> None:
    (small / "developer").write_text("x")
    assert toolbelt("loadout", "diff", "minimal", "developer", "--json").json["plugins"]["added"] == ["git"]


def test_L11_loadouts_beside_the_files_may_be_parents(toolbelt: Toolbelt, versions: Path) -> None:
    (versions / "base.loadout.yaml").write_text("plugins: [payments]\n")
    (versions / "new.yaml").write_text("loadouts:\n  a: {extends: base}\n")
    assert toolbelt("loadout", "diff", "old.yaml:a", "new.yaml:a", "--json").json["plugins"]["added"] == ["payments"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "loadouts:\n  a: {extends: minmal}\n  b: {extends: b}\n",
            ["new.yaml:2: error", "Did you mean 'minimal'?", "new.yaml:3: error", "cycle", "2 findings"],
            id="an-unknown-parent-and-a-cycle",
        ),
        pytest.param("loadouts: [", ["new.yaml:1: error: Not YAML"], id="no-yaml"),
        pytest.param("loadout: {}", ["Did you mean 'loadouts'?"], id="an-unknown-key"),
    ],
)
def test_L10_a_file_with_mistakes_is_refused(toolbelt: Toolbelt, versions: Path, text: str, said: list[str]) -> None:
    (versions / "new.yaml").write_text(text)
    ran = toolbelt("loadout", "diff", "old.yaml", "new.yaml")
    assert (ran.code, ran.out) == (2, "")
    for part in said:
        assert part in ran.err


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        pytest.param("old.yaml", "developer", "two loadouts or two files", id="a-file-and-a-loadout"),
        pytest.param("old.yaml", "nwe.yaml", "Did you mean 'new.yaml'", id="a-missing-file"),
        pytest.param("old.yaml:b", "new.yaml:a", "No loadout named 'b'", id="a-missing-loadout-of-a-file"),
        pytest.param("small.yaml:x", "full", "small.yaml:1: error", id="a-file-of-another-kind"),
        pytest.param("empty.yaml", "empty.yaml", "There is no loadout", id="two-files-without-a-loadout"),
    ],
)
def test_what_cannot_be_compared(toolbelt: Toolbelt, versions: Path, a: str, b: str, said: str) -> None:
    (versions / "empty.yaml").write_text("")
    ran = toolbelt("loadout", "diff", a, b)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
