"""`toolbelt loadout create`, with flags and at a terminal."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import SMALL, Toolbelt
from tests.cli.terminal import Terminal
from tests.wording import each_mentions, mentions

ALL_FLAGS = [
    "--extends",
    "minimal",
    "--category",
    "git",
    "--category",
    "money",
    "--plugin",
    "docker/status",
    "--discoverable",
    "docker",
    "--disable",
    "git/push",
    "--description",
    "Reviews.",
]


def test_every_flag_is_written_and_the_loadout_works(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("loadout", "create", "reviewer", *ALL_FLAGS, "--json")
    assert ran.code == 0
    assert ran.json["output"].endswith("reviewer.loadout.yaml")
    assert yaml.safe_load((small / "reviewer.loadout.yaml").read_text()) == {
        "name": "reviewer",
        "extends": "minimal",
        "categories": ["git", "money"],
        "plugins": ["docker/status"],
        "discoverable": ["docker"],
        "disabled": ["git/push"],
        "description": "Reviews.",
    }
    inspected = toolbelt("loadout", "inspect", "reviewer", "--json").json
    assert inspected["tokens"]["active"] == ran.json["tokens"]
    assert [row["plugin"] for row in inspected["active"]] == ["git", "file", "docker", "payments"]


SHOP = "plugins: [{name: till, tools: [{name: refund}]}]\n"


def _active_by(toolbelt: Toolbelt, named: str) -> list[str]:
    """Plugins that the last command which a message names shows as active."""
    group, command, *arguments = shlex.split(named.strip().rpartition("toolbelt ")[2])
    return [row["plugin"] for row in toolbelt(group, command, "--json", *arguments).json["active"]]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--catalog", "shop.yaml", "cashier"], id="another-catalog"),
        pytest.param(["--config", "shop/toolbelt.yaml", "cashier"], id="another-configuration"),
        pytest.param(["--config", "shop/toolbelt.yaml", "the cashier"], id="a-name-with-a-blank"),
        pytest.param(["--catalog", "shop.yaml", "--", "-cashier"], id="a-name-like-a-flag"),
    ],
)
def test_the_command_that_is_named_works(toolbelt: Toolbelt, small: Path, arguments: list[str]) -> None:
    (small / "shop").mkdir()
    (small / "shop" / "toolbelt.yaml").write_text("catalog: ../shop.yaml\n")
    (small / "shop.yaml").write_text(SHOP)
    ran = toolbelt("loadout", "create", "--plugin", "till", "--description", "Pays.", *arguments)
    assert ran.code == 0, ran.err
    assert _active_by(toolbelt, ran.err) == ["till"]


def test_written_elsewhere_it_is_moved_by_the_command_that_is_named(
    toolbelt: Toolbelt, small: Path, tmp_path: Path
) -> None:
    ran = toolbelt("loadout", "create", "mine", "--plugin", "git", "-o", tmp_path / "a b.yaml")
    assert ran.code == 0
    move = ran.err.strip().splitlines()[-1].partition(": to move it and look at it: ")[2].partition(" && ")[0]
    subprocess.run(shlex.split(move), cwd=small, check=True, timeout=10)
    assert _active_by(toolbelt, ran.err) == ["git"]


def test_with_a_project_file_the_catalog_need_not_be_named_again(
    toolbelt: Toolbelt, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "shop.yaml").write_text(SHOP)
    flags = ["--plugin", "till", "--catalog", "shop.yaml", "--project", "--json"]
    ran = toolbelt("loadout", "create", "cashier", *flags)
    assert (ran.code, ran.json["project_file"]) == (0, "toolbelt.yaml")
    assert yaml.safe_load((project / "toolbelt.yaml").read_text()) == {"catalog": "shop.yaml"}
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    assert _active_by(toolbelt, ran.err) == ["till"]


@pytest.mark.parametrize("place", [[], ["-o", "../mine.loadout.yaml"]], ids=["there-is-one", "elsewhere"])
def test_a_project_file_that_is_there_stays(toolbelt: Toolbelt, small: Path, place: list[str]) -> None:
    if place:
        (small / "toolbelt.yaml").unlink()
    before = _names(small)
    ran = toolbelt("loadout", "create", "mine", "--extends", "full", "--catalog", "small.yaml", "--project", *place)
    assert ran.code == 0
    assert "warning: no toolbelt.yaml is written" in ran.err
    assert _names(small) - before == (set() if place else {"mine.loadout.yaml"})
    assert place or (small / "toolbelt.yaml").read_text().startswith("catalog: small.yaml\nmodels:")


def test_L11_the_file_is_written_beside_toolbelt_yaml(
    toolbelt: Toolbelt, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small / "below").mkdir()
    monkeypatch.chdir(small / "below")
    assert toolbelt("loadout", "create", "x", "--extends", "full").code == 0
    assert (small / "x.loadout.yaml").is_file()
    assert toolbelt("loadout", "show", "x").code == 0


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("with blanks", "with-blanks.loadout.yaml"),
        ("../../etc/passwd", "etc-passwd.loadout.yaml"),
        ("Größe", "Größe.loadout.yaml"),
        ("👍", "loadout.loadout.yaml"),
        ("true", "true.loadout.yaml"),
        ("1e5", "1e5.loadout.yaml"),
        ("a\u2028b", "a-b.loadout.yaml"),
    ],
)
def test_a_name_of_any_kind_makes_a_file_here_and_reads_back(
    toolbelt: Toolbelt, small: Path, name: str, file: str
) -> None:
    before = {entry.name for entry in small.iterdir()}
    assert toolbelt("loadout", "create", name, "--extends", "full", "--description", "1e5").code == 0
    assert {entry.name for entry in small.iterdir()} - before == {file}
    assert toolbelt("loadout", "show", name, "--json").json["name"] == name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param([], "give NAME", id="nothing-at-all"),
        pytest.param(["x"], "at least one of", id="a-name-alone"),
        pytest.param(["auto", "--extends", "full"], "another name", id="a-reserved-name"),
        pytest.param([" ", "--extends", "full"], "not blank", id="a-blank-name"),
        pytest.param(["a\x85b", "--extends", "full"], "invisible-character", id="a-control-character"),
        pytest.param(["\x1b[31m", "--extends", "full"], "invisible-character", id="an-escape"),
        pytest.param(["x", "--extends", "X"], "cycle", id="extending-itself"),
        pytest.param(["x", "--plugin", "git", "--disable", "git"], "under both", id="included-and-disabled"),
        pytest.param(["x", "--plugin", ""], "must be a name", id="a-blank-plugin"),
        pytest.param(["x", "--extends", "fll", "--category", "gti"], "2 findings", id="two-mistakes-at-once"),
        pytest.param(["x", "--extends", "full", "-o", "."], "is a folder", id="a-folder-as-output"),
        pytest.param(["\udcff", "--extends", "full"], "is UTF-8", id="a-name-that-is-not-utf8"),
        pytest.param(["x", "--extends", "full", "--description", "\udcff"], "is UTF-8", id="a-text-that-is-not-utf8"),
    ],
)
def test_L10_what_is_refused_writes_nothing(toolbelt: Toolbelt, small: Path, arguments: list[str], said: str) -> None:
    before = {entry.name for entry in small.iterdir()}
    ran = toolbelt("loadout", "create", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert {entry.name for entry in small.iterdir()} == before


def test_an_existing_file_is_replaced_only_by_force(toolbelt: Toolbelt, small: Path) -> None:
    assert toolbelt("loadout", "create", "x", "--extends", "full").code == 0
    refused = toolbelt("loadout", "create", "x", "--extends", "minimal")
    assert refused.code == 2
    assert "use --force" in refused.err
    assert toolbelt("loadout", "create", "x", "--extends", "minimal", "--force").code == 0
    assert toolbelt("loadout", "show", "x", "--json").json["lineage"] == ["minimal", "x"]


def test_L10_a_loadout_that_is_defined_already_is_not_defined_again(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text("catalog: small.yaml\nloadouts:\n  Reviewer: {extends: minimal}\n")
    ran = toolbelt("loadout", "create", "reviewer", "--extends", "full")
    assert ran.code == 2
    assert "is defined already at toolbelt.yaml:3" in ran.err
    assert toolbelt("loadout", "list").code == 0


def test_L11_a_built_in_may_be_shadowed(toolbelt: Toolbelt, small: Path) -> None:
    assert toolbelt("loadout", "create", "developer", "--extends", "minimal").code == 0
    assert toolbelt("loadout", "show", "developer", "--json").json["lineage"] == ["minimal", "developer"]


@pytest.mark.parametrize(
    ("name", "named"),
    [
        pytest.param("Developer", ("'Developer'", "built-in"), id="a-built-in-one-nobody-extends"),
        pytest.param(
            "minimal",
            ("'minimal'", "built-in", "developer, research, devops, child, grandchild"),
            id="heirs-of-heirs-are-named",
        ),
        pytest.param("ours", ("'ours'", "catalog 'small'", "theirs"), id="one-of-the-catalog"),
        pytest.param("full", ("'full'", "catalog 'small'"), id="the-catalog-goes-before"),
        pytest.param("mine", None, id="a-new-name"),
    ],
)
def test_L11_what_is_shadowed_is_told(toolbelt: Toolbelt, small: Path, name: str, named: object) -> None:
    with (small / "small.yaml").open("a") as catalog:
        catalog.write("loadouts: {ours: {categories: [git]}, theirs: {extends: ours}, full: {categories: [git]}}\n")
    own = "loadouts: {child: {extends: minimal}, grandchild: {extends: child}}\n"
    (small / "toolbelt.yaml").write_text(f"catalog: small.yaml\n{own}")
    ran = toolbelt("loadout", "create", name, "--category", "git")
    assert (ran.code, ran.out) == (0, "")
    written = ("note", small / f"{name}.loadout.yaml", f"toolbelt loadout inspect {name}")
    assert each_mentions(ran.err.splitlines(), *([("warning", named), written] if named else [written]))


def test_L11_what_is_refused_shadows_nothing(toolbelt: Toolbelt, small: Path) -> None:
    assert "shadows" not in toolbelt("loadout", "create", "full", "--category", "gti").err


CTRL_C, CTRL_D = "\x03", "\x04"


class Creation(Terminal):
    command = ("loadout", "create")

    def answer_all(self, *answers: str) -> None:
        for question, text in zip(QUESTIONS, answers, strict=True):
            self.answer(question, text)


QUESTIONS = (
    "Name:",
    "Extends",
    "Include categories",
    "Add plugins",
    "Discoverable",
    "Disable,",
    "Description:",
    "Write",
)
GOOD = ("mine", "minimal", "git, money", "docker/status", "", "git/push", "Mine.", "")
WRITTEN = {
    "name": "mine",
    "extends": "minimal",
    "categories": ["git", "money"],
    "plugins": ["docker/status"],
    "disabled": ["git/push"],
    "description": "Mine.",
}


def _names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_at_a_terminal_what_is_missing_is_asked_for(small: Path) -> None:
    terminal = Creation()
    terminal.answer_all(*GOOD)
    assert terminal.finish() == 0, terminal.seen
    assert yaml.safe_load((small / "mine.loadout.yaml").read_text()) == WRITTEN
    assert "minimal, developer, research, devops, full" in terminal.seen
    assert "Not active: docker" in terminal.seen
    assert "Active" in terminal.seen
    assert "Error" not in terminal.seen


@pytest.mark.parametrize(("answer", "is_written"), [("", True), ("n", False)])
def test_at_a_terminal_a_project_file_is_offered(project: Path, answer: str, is_written: bool) -> None:
    (project / "small.yaml").write_text(SMALL)
    terminal = Creation("mine", "--plugin", "git", "--catalog", "small.yaml")
    terminal.answer("Also write toolbelt.yaml", answer)
    assert terminal.finish() == 0, terminal.seen
    written = {"mine.loadout.yaml", "small.yaml"} | ({"toolbelt.yaml"} if is_written else set())
    assert _names(project) == written
    assert ("--catalog small.yaml" in terminal.seen) is not is_written


def test_at_a_terminal_a_no_writes_nothing(small: Path) -> None:
    before = _names(small)
    terminal = Creation()
    terminal.answer_all(*GOOD[:-1], "n")
    assert terminal.finish() == 130
    assert _names(small) == before


@pytest.mark.parametrize(
    ("question", "wrong", "said"),
    [
        pytest.param("Name:", "", "not blank", id="an-empty-name"),
        pytest.param("Name:", "  ", "not blank", id="a-blank-name"),
        pytest.param("Name:", "Auto", "give the loadout another name", id="a-reserved-name"),
        pytest.param("Name:", "Taken", "toolbelt.yaml:3", id="a-name-defined-already"),
        pytest.param("Name:", "there", "--force", id="a-name-whose-file-exists"),
        pytest.param("Name:", "a folder", "is a folder", id="a-name-whose-file-is-a-folder"),
        pytest.param("Name:", "x" * 300, "File name too long", id="a-name-no-file-can-have"),
        pytest.param("Name:", "\udcff", "UTF-8", id="a-name-that-is-no-text"),
        pytest.param("Extends", "minimla", "Did you mean 'minimal'?", id="an-unknown-loadout"),
        pytest.param("Extends", "mine", "in a cycle", id="itself"),
        pytest.param("Include categories", "gti, paymoney", "Did you mean 'money'?", id="an-unknown-category"),
        pytest.param("Add plugins", "dokcer", "Did you mean 'docker'?", id="an-unknown-plugin"),
        pytest.param("Add plugins", "git, docker/statsu", "Did you mean 'status'?", id="an-unknown-tool"),
        pytest.param("Add plugins", "gti, dcoker", "Did you mean 'docker'?", id="two-unknown-plugins"),
        pytest.param("Disable,", "git/psuh", "Did you mean 'push'?", id="an-unknown-disabled-tool"),
        pytest.param("Disable,", "Docker/Status", "under both `plugins` and `disabled`", id="included-and-disabled"),
        pytest.param("Description:", "\udcff", "UTF-8", id="a-description-that-is-no-text"),
    ],
)
def test_L10_at_a_terminal_a_mistake_costs_one_answer(small: Path, question: str, wrong: str, said: str) -> None:
    (small / "toolbelt.yaml").write_text("catalog: small.yaml\nloadouts:\n  taken: {extends: minimal}\n")
    (small / "there.loadout.yaml").write_text("name: elsewhere\n")
    (small / "a-folder.loadout.yaml").mkdir()
    terminal = Creation(PYTHONIOENCODING="utf-8:surrogateescape")
    for asked, right in zip(QUESTIONS, GOOD, strict=True):
        if asked == question:
            terminal.answer(asked, wrong)
            terminal.wait_for("Error: ")
            terminal.wait_for(said)
        terminal.answer(asked, right)
    assert terminal.finish() == 0, terminal.seen
    assert yaml.safe_load((small / "mine.loadout.yaml").read_text()) == WRITTEN
    assert terminal.seen.count("Error: ") == 1


@pytest.mark.parametrize("question", ["Name:", "Description:", "Write"])
def test_at_a_terminal_what_cannot_be_read_is_asked_for_again(small: Path, question: str) -> None:
    terminal = Creation(PYTHONIOENCODING="utf-8:strict")
    for asked, right in zip(QUESTIONS, GOOD, strict=True):
        if asked == question:
            terminal.answer(asked, "\udcff")
            terminal.wait_for("Error: That was no text")
        terminal.answer(asked, right)
    assert terminal.finish() == 0, terminal.seen
    assert yaml.safe_load((small / "mine.loadout.yaml").read_text()) == WRITTEN


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["--extends", "minimla"], "Did you mean 'minimal'?", id="an-unknown-loadout"),
        pytest.param(["--plugin", "gti", "--category", "gti"], "2 findings", id="two-mistakes"),
        pytest.param([""], "not blank", id="an-empty-name"),
        pytest.param(["AUTO"], "another name", id="a-reserved-name"),
        pytest.param(["taken"], "is defined already", id="a-name-defined-already"),
        pytest.param(["-o", "small.yaml"], "use --force", id="a-file-that-exists"),
        pytest.param(["-o", "."], "is a folder", id="a-folder"),
        pytest.param(["-o", "no/x.loadout.yaml"], "folder 'no'", id="no-such-folder"),
    ],
)
def test_L10_at_a_terminal_wrong_flags_are_refused_before_any_question(
    small: Path, arguments: list[str], named: object
) -> None:
    (small / "toolbelt.yaml").write_text("catalog: small.yaml\nloadouts:\n  taken: {extends: minimal}\n")
    before = _names(small)
    terminal = Creation(*arguments)
    assert terminal.finish() in (2, 3)
    assert mentions(terminal.seen, named)
    assert "Name:" not in terminal.seen
    assert "Extends" not in terminal.seen
    assert _names(small) == before


def test_at_a_terminal_force_replaces_a_file(small: Path) -> None:
    (small / "mine.loadout.yaml").write_text("name: mine\nextends: full\n")
    terminal = Creation("--force")
    terminal.answer_all(*GOOD)
    assert terminal.finish() == 0, terminal.seen
    assert yaml.safe_load((small / "mine.loadout.yaml").read_text()) == WRITTEN


def test_at_a_terminal_what_flags_say_is_not_asked(small: Path) -> None:
    terminal = Creation("--extends", "minimal", "--disable", "git/push")
    for asked, right in zip(QUESTIONS, GOOD, strict=True):
        if asked not in ("Extends", "Disable,"):
            terminal.answer(asked, right)
    assert terminal.finish() == 0, terminal.seen
    assert yaml.safe_load((small / "mine.loadout.yaml").read_text()) == WRITTEN
    assert "Extends" not in terminal.seen


def test_L11_at_a_terminal_what_is_shadowed_is_told_with_the_name(small: Path) -> None:
    terminal = Creation()
    terminal.answer("Name:", "minimal")
    terminal.wait_for("Extends")
    assert "extends it: developer," in terminal.seen
    for question in QUESTIONS[1:]:
        terminal.answer(question, "")
    assert terminal.finish() == 0, terminal.seen
    assert terminal.seen.count("shadows") == 1


def test_at_a_terminal_a_warning_is_told_once(small: Path) -> None:
    terminal = Creation()
    terminal.answer_all("mine", "", "git", "", "nothing*", "", "", "")
    assert terminal.finish() == 0, terminal.seen
    assert terminal.seen.count("matches nothing in catalog 'small'") == 1


@pytest.mark.parametrize("key", [pytest.param(CTRL_C, id="ctrl-c"), pytest.param(CTRL_D, id="ctrl-d")])
@pytest.mark.parametrize("question", QUESTIONS)
def test_E9_at_a_terminal_ctrl_c_and_ctrl_d_are_130_and_write_nothing(small: Path, key: str, question: str) -> None:
    before = _names(small)
    terminal = Creation()
    for asked, right in zip(QUESTIONS[: QUESTIONS.index(question)], GOOD, strict=False):
        terminal.answer(asked, right)
    terminal.wait_for(question)
    terminal.leave_by(key)
    assert terminal.finish() == 130
    assert "Traceback" not in terminal.seen
    assert _names(small) == before


@pytest.mark.parametrize("key", [pytest.param(CTRL_C, id="ctrl-c"), pytest.param(CTRL_D, id="ctrl-d")])
def test_E9_at_a_terminal_one_may_leave_after_a_mistake(small: Path, key: str) -> None:
    before = _names(small)
    terminal = Creation()
    terminal.answer("Name:", "auto")
    terminal.wait_for("Error: ")
    terminal.wait_for("Name:")
    terminal.leave_by(key)
    assert terminal.finish() == 130
    assert _names(small) == before


def test_L3_hostile_names_in_files_are_refused_and_spelled_out(toolbelt: Toolbelt, small: Path) -> None:
    (small / "small.yaml").write_text('plugins: [{name: "gi\\e]0;x\\at", category: "c\\e[2J", tools: [{name: t}]}]\n')
    (small / "x.loadout.yaml").write_text('name: "evil\\e[31m"\nextends: full\n')
    ran = toolbelt("loadout", "create", "y", "--extends", "full")
    assert ran.code == 2
    assert "\x1b" not in ran.err
    spelled_out = (r"gi\x1b]0;x\x07t", r"evil\x1b[31m")
    assert all(spelled in ran.err for spelled in spelled_out)
