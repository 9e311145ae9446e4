"""`toolbelt loadout create`, with flags and at a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Toolbelt

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
        ("a\x85b\u2028", "a-b.loadout.yaml"),
        ("\x1b[31m", "31m.loadout.yaml"),
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
        pytest.param(["x", "--extends", "X"], "cycle", id="extending-itself"),
        pytest.param(["x", "--plugin", "git", "--disable", "git"], "under both", id="included-and-disabled"),
        pytest.param(["x", "--plugin", ""], "must hold names", id="a-blank-plugin"),
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


class Terminal:
    """The command at a terminal, spoken to line by line."""

    def __init__(self, *arguments: str) -> None:
        self.control, terminal = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "toolbelt", *arguments],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment,
            start_new_session=True,
        )
        os.close(terminal)
        self.seen = ""
        self.answered = 0
        self.deadline = time.monotonic() + 20

    def wait_for(self, text: str) -> None:
        while text not in self.seen[self.answered :]:
            if not self._read():
                raise AssertionError(f"ended before {text!r}: {self.seen}")

    def answer(self, question: str, text: str) -> None:
        self.wait_for(question)
        self.answered = len(self.seen)
        os.write(self.control, f"{text}\n".encode())

    def interrupt(self) -> None:
        # Between the prompt and the reading of the answer a signal waits for the next one.
        while "interrupted" not in self.seen:
            self.process.send_signal(signal.SIGINT)
            for _ in range(5):
                if "interrupted" not in self.seen:
                    self._read()

    def finish(self) -> int:
        while self._read():
            pass
        os.close(self.control)
        return self.process.wait(timeout=30)

    def _read(self) -> bool:
        if time.monotonic() > self.deadline:
            self.process.kill()
            raise AssertionError(f"still waiting: {self.seen}")
        ready, _, _ = select.select([self.control], [], [], 0.2)
        if not ready:
            return self.process.poll() is None
        try:
            raw = os.read(self.control, 65536)
        except OSError:  # how Linux says that the other side is closed
            return False
        self.seen += raw.decode(errors="replace")
        return bool(raw)


QUESTIONS = ("Name", "Extends", "Include categories", "Add plugins", "Discoverable", "Disable", "Description")


def _converse(*answers: str) -> Terminal:
    terminal = Terminal("loadout", "create")
    for question, answer in zip(QUESTIONS, answers, strict=True):
        terminal.answer(question, answer)
    return terminal


def test_at_a_terminal_what_is_missing_is_asked_for(small: Path) -> None:
    terminal = _converse("mine", "minimal", "git, money", "docker/status", "", "git/push", "Mine.")
    terminal.answer("Write it?", "")
    assert terminal.finish() == 0, terminal.seen
    assert yaml.safe_load((small / "mine.loadout.yaml").read_text()) == {
        "name": "mine",
        "extends": "minimal",
        "categories": ["git", "money"],
        "plugins": ["docker/status"],
        "disabled": ["git/push"],
        "description": "Mine.",
    }
    assert "Loadouts to build on: minimal, developer, research, devops, full" in terminal.seen
    assert "Not active: docker" in terminal.seen
    assert "Active" in terminal.seen


def test_at_a_terminal_a_no_writes_nothing(small: Path) -> None:
    terminal = _converse("mine", "full", "", "", "", "", "")
    terminal.answer("Write it?", "n")
    assert terminal.finish() == 130
    assert not (small / "mine.loadout.yaml").exists()


def test_at_a_terminal_a_mistake_is_told_and_nothing_written(small: Path) -> None:
    terminal = _converse("mine", "minimla", "", "", "", "", "")
    assert terminal.finish() == 2
    assert "Did you mean 'minimal'?" in terminal.seen
    assert not (small / "mine.loadout.yaml").exists()


def test_E9_at_a_terminal_ctrl_c_is_130(small: Path) -> None:
    terminal = Terminal("loadout", "create")
    terminal.wait_for("Name")
    terminal.interrupt()
    assert terminal.finish() == 130
    assert "interrupted" in terminal.seen
    assert "Traceback" not in terminal.seen


def test_at_a_terminal_hostile_names_are_spelled_out(small: Path) -> None:
    (small / "small.yaml").write_text('plugins: [{name: "gi\\e]0;x\\at", category: "c\\e[2J", tools: [{name: t}]}]\n')
    (small / "x.loadout.yaml").write_text('name: "evil\\e[31m"\nextends: full\n')
    terminal = Terminal("loadout", "create")
    terminal.answer("Name", "mine")
    terminal.answer("Extends", "")
    terminal.wait_for("Include categories")
    terminal.interrupt()
    terminal.finish()
    assert "\x1b[31m" not in terminal.seen
    assert "\x1b[2J" not in terminal.seen
    assert r"evil\x1b[31m" in terminal.seen
    assert r"c\x1b[2J" in terminal.seen
