"""What goes wrong becomes one message and an exit code (rule E9)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions

COMMAND = [sys.executable, "-m", "toolbelt"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["loadot"], ("loadot", "loadout"), id="a-group"),
        pytest.param(["loadout", "inspct"], "Did you mean 'inspect'", id="a-command"),
        pytest.param(["config", "shema"], "'schema'", id="a-command-of-a-small-group"),
        pytest.param(["loadout", "inspect", "develper"], "Did you mean 'developer'", id="a-loadout"),
        pytest.param(["loadout", "show", "fulll"], "Did you mean 'full'", id="a-loadout-to-show"),
        pytest.param(["loadout", "why", "developer", "gti_status"], "Did you mean", id="a-tool"),
        pytest.param(["loadout", "why", "developr", "git"], "Did you mean 'developer'", id="a-loadout-to-explain"),
        pytest.param(["loadout", "diff", "minimal", "develop"], "Did you mean 'developer'", id="a-loadout-to-compare"),
        pytest.param(["loadout", "export", "minmal"], "Did you mean 'minimal'", id="a-loadout-to-export"),
        pytest.param(["loadout", "create", "x", "--extends", "minmal"], "Did you mean 'minimal'", id="a-parent"),
        pytest.param(["loadout", "create", "x", "--category", "gti"], "Did you mean 'git'", id="a-category"),
        pytest.param(["loadout", "create", "x", "--plugin", "githb"], "Did you mean 'github'", id="a-plugin-to-add"),
        pytest.param(["catalog", "show", "githb"], "Did you mean 'github'", id="a-plugin-to-show"),
        pytest.param(["catalog", "list", "--plugin", "githb"], "Did you mean 'github'", id="a-plugin-to-list"),
        pytest.param(["catalog", "stats", "-c", "asistant"], "Did you mean 'assistant'", id="a-catalog"),
        pytest.param(["catalog", "stats", "--tokenizer", "o200k"], "Did you mean 'o200k_base'", id="a-tokenizer"),
        pytest.param(["catalog", "stats", "--catalg", "x"], "--catalog", id="a-flag"),
        pytest.param(["catalog", "import", "x", "--format", "opnai"], "openai", id="a-format"),
    ],
)
def test_E9_a_wrong_name_is_answered_with_the_nearest_and_exit_code_2(
    toolbelt: Toolbelt, arguments: list[str], named: object
) -> None:
    ran = toolbelt(*arguments)
    assert ran.code == 2
    assert mentions(ran.err, named)
    assert ran.out == ""


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param("catalog show qqqqqq", ("'qqqqqq'", "toolbelt catalog list"), id="either"),
        pytest.param("catalog list --plugin qqqqqq", ("'qqqqqq'", "toolbelt catalog list"), id="a-plugin"),
        pytest.param("loadout why full qqqqqq", ("'qqqqqq'", "toolbelt catalog list"), id="to-explain"),
        pytest.param("loadout inspect qqqqqq", ("'qqqqqq'", "toolbelt loadout list"), id="a-loadout"),
        pytest.param("loadout inspect developr", ("'developer'", "'devops'"), id="a-near-name"),
        pytest.param("catalog stats -c qqqqqq", ("'qqqqqq'", "assistant, tiered"), id="few-names-stand-there"),
    ],
)
def test_E9_a_name_that_is_like_none_is_answered_with_where_to_look(
    toolbelt: Toolbelt, project: Path, arguments: str, named: object
) -> None:
    many = "".join(f"  number{n}: {{plugins: [git]}}\n" for n in range(15))
    (project / "toolbelt.yaml").write_text(f"loadouts:\n{many}")
    ran = toolbelt(*arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)


@pytest.mark.parametrize(
    "arguments",
    [["catalog", "stats", "-c", "a" * 400], ["config", "show", "--config", "a" * 400]],
)
def test_E9_a_name_no_file_can_have_is_wrong_use(toolbelt: Toolbelt, arguments: list[str]) -> None:
    ran = toolbelt(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: ")
    assert len(ran.err.splitlines()) == 1


def test_without_arguments_the_help_is_shown(toolbelt: Toolbelt) -> None:
    assert toolbelt().out == toolbelt("--help").out != ""
    assert toolbelt("--version").out.startswith("toolbelt, version ")


def test_E9_one_error_line_for_each_finding_and_no_traceback(toolbelt: Toolbelt, project: Path) -> None:
    (project / "toolbelt.yaml").write_text(
        "catalogue: x\nmodels: y\nloadouts:\n  a: {extend: minimal, plugins: [git]}\n"
    )
    ran = toolbelt("loadout", "list")
    assert ran.code == 2
    *findings, last = ran.err.splitlines()
    places = [(line.split(" ")[0], line.rpartition(" ")[2]) for line in findings]
    assert places == [
        ("toolbelt.yaml:1:", "[unknown-key]"),
        ("toolbelt.yaml:2:", "[wrong-type]"),
        ("toolbelt.yaml:4:", "[unknown-key]"),
    ]
    assert mentions(last, "Error", "3 findings")


def test_E9_ctrl_c_is_130(project: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "catalog", "import", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(b" " * 1_000_000)  # more than a pipe holds: once it is gone, the command is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err.decode()) == (130, b"", "\nError: interrupted\n")


@pytest.mark.parametrize(
    "command", ["catalog list", "loadout inspect full", "loadout export full", "catalog list --json"]
)
def test_E9_a_reader_that_leaves_early_is_no_error(command: str) -> None:
    process = subprocess.Popen([*COMMAND, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    said = [line for line in err.splitlines() if not line.startswith(b"counting ")]  # told where that takes a second
    assert (process.wait(timeout=30), said) == (0, [])


@pytest.mark.parametrize("command", ["catalog list", "config schema", "loadout list --json", "--help"])
def test_E9_a_full_disk_is_3(command: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *command.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert mentions(done.stderr, "Error", "No space left on device")


def test_E9_a_full_disk_for_a_file_is_3_and_leaves_nothing(toolbelt: Toolbelt, project: Path) -> None:
    ran = toolbelt("config", "schema", "-o", "missing/folder/x.json")
    assert ran.code == 3
    assert "Nothing was changed" in ran.err
    assert list(project.iterdir()) == []
    assert toolbelt("config", "schema", "-o", "/dev/full").code == 3


@pytest.mark.parametrize("command", ["nonsense", "loadout inspect nonsense", "catalog import /dev/null"])
def test_E9_errors_that_nobody_can_read_keep_their_code(command: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *command.split()], stdout=subprocess.PIPE, stderr=full, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("catalog stats >&-", 0),
        ("catalog import - <&-", 2),
        ("catalog stats -c nonsense 2>&-", 2),
        ("--help >&- 2>&- <&-", 0),
    ],
)
def test_E9_closed_streams_are_no_bug(command: str, code: int) -> None:
    shell = ["bash", "-c", f'exec "{sys.executable}" -m toolbelt {command}']
    assert subprocess.run(shell, capture_output=True, check=False).returncode == code


BROKEN = """
import sys
import click
from toolbelt.cli import root, run
from toolbelt.command.groups import LazyGroup

@click.command()
def explode():
    raise RuntimeError("what \\x1b[31m\\u202e\\nsecond line")

@click.group(cls=LazyGroup, entries={"explode": ("__main__:explode", "Goes wrong.")})
def broken():
    pass

root.root = broken
sys.exit(run(sys.argv[1:]))
"""


def test_E9_a_bug_is_70_with_one_line_and_its_traceback_in_a_log(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    command = [sys.executable, "-c", BROKEN, "explode"]
    environment = {**os.environ, "TMPDIR": str(logs)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 70
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.isascii()
    assert "\x1b" not in done.stderr
    match = re.search(r"this is a bug in toolbelt: RuntimeError: .*; the traceback is in (\S+)\. Please", done.stderr)
    assert match is not None
    (log,) = logs.iterdir()
    assert log == Path(match.group(1))
    text = log.read_text()
    assert text.startswith("toolbelt explode\n")
    assert "Traceback (most recent call last)" in text
    assert 'raise RuntimeError("what' in text or "in explode" in text


def test_E9_a_bug_where_no_log_can_be_written_is_still_70(tmp_path: Path) -> None:
    code = "import tempfile; tempfile.tempdir = '/proc/nowhere'\n" + BROKEN
    done = subprocess.run([sys.executable, "-c", code, "explode"], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert "log file" in done.stderr


def test_E9_a_missing_working_directory_is_no_bug(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    shell = f'mkdir "{gone}" && cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" -m toolbelt config show'
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 3
    assert mentions(done.stderr, "Error", "No such file or directory")
