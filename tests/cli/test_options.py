"""Every command explains itself: an example, and the environment's name for each flag (C: Settings)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from tests.cli.conftest import Toolbelt
from toolbelt.cli.root import root
from toolbelt.evals.toolsets.spec import TOOLSETS


def _commands(group: click.Group, *path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, *path, name)
        yield " ".join((*path, name)), command


COMMANDS = dict(_commands(root))
LEAVES = {name: command for name, command in COMMANDS.items() if not isinstance(command, click.Group)}


def test_the_commands_there_are() -> None:
    assert list(LEAVES) == [
        "init",
        *(f"loadout {name}" for name in ("list", "show", "inspect", "why", "diff", "lint", "export", "create")),
        *(f"toolkit {name}" for name in ("list", "inspect", "resolve")),
        *(f"session {name}" for name in ("show", "load", "unload", "reset")),
        *(f"catalog {name}" for name in ("list", "show", "stats", "search", "import", "sync", "lint", "gate")),
        "serve",
        *(f"model {name}" for name in ("list", "inspect", "fit", "probe", "probes", "calibrate")),
        *(
            f"eval {name}"
            for name in (
                *("run", "resume", "import", "merge", "list", "show", "note", "report", "compare", "recommend"),
                *("search", "gate"),
            )
        ),
        *(f"eval baseline {name}" for name in ("save", "show")),
        "eval export",
        *(f"eval responses {name}" for name in ("export", "show", "prune")),
        *(f"eval {name}" for name in ("schema", "plan")),
        "view",
        *(f"dataset {name}" for name in ("list", "show", "lint", "card", "import", "generate", "review", "split")),
        *(f"mcp {name}" for name in ("approve", "check", "config", "login", "logout")),
        "usage",
        *(f"config {name}" for name in ("schema", "show")),
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_C_help_shows_an_example(toolbelt: Toolbelt, name: str) -> None:
    ran = toolbelt(*name.split(), "--help")
    assert ran.code == 0
    assert ran.err == ""
    assert re.search(rf"Examples?: toolbelt {name.split(maxsplit=1)[0]}", " ".join(ran.out.split()))
    assert toolbelt(*name.split(), "-h").out == ran.out


@pytest.mark.parametrize("name", LEAVES)
def test_C_help_shows_an_environment_variable_for_each_flag(toolbelt: Toolbelt, name: str) -> None:
    text = " ".join(toolbelt(*name.split(), "--help").out.split())
    flags = [parameter for parameter in LEAVES[name].params if isinstance(parameter, click.Option)]
    assert flags
    for flag in flags:
        if {"--yes", "--write", "--undo"} & {*flag.opts}:
            assert flag.envvar is None, flag.name
            continue
        assert isinstance(flag.envvar, str), flag.name
        assert re.fullmatch(r"TOOLBELT_[A-Z_]+", flag.envvar)
        assert f"env var: {flag.envvar}" in text, flag.name


def test_a_long_help_has_sections_with_every_option(toolbelt: Toolbelt) -> None:
    text = toolbelt("eval", "run", "--help").out
    headings = re.findall(r"^(\w.*):$", text, re.MULTILINE)
    wanted = ["What is run", "Until decided", "How models are asked", "Recorded responses", "Limits", "Output"]
    assert headings == wanted
    sections = re.split(r"^\w.*:$", text, flags=re.MULTILINE)[1:]
    flag = re.compile(r"^  (?:-\w, )?(--[\w-]+)", re.MULTILINE)
    places = {name: number for number, part in enumerate(sections) for name in flag.findall(part)}
    assert places.keys() == {"--help"} | {max(parameter.opts, key=len) for parameter in LEAVES["eval run"].params}
    assert (places["--toolset"], places["--temperature"], places["--max-cost"], places["--help"]) == (0, 2, 4, 5)


def test_E1_the_help_of_a_run_names_every_kind_of_toolset() -> None:
    [toolsets] = (parameter for parameter in LEAVES["eval run"].params if parameter.name == "toolsets")
    assert isinstance(toolsets, click.Option)
    listed = re.findall(r"(?:^|, )([a-z-]+)(?= \(|,|;)", toolsets.help or "")
    assert set(listed) == set(TOOLSETS)


@pytest.mark.parametrize("name", sorted(LEAVES.keys() - {"serve", "dataset review"}))  # a protocol, and questions
def test_C_every_command_takes_json(name: str) -> None:
    assert any("--json" in parameter.opts for parameter in LEAVES[name].params)


def test_one_environment_variable_means_one_flag_in_a_command() -> None:
    for command in LEAVES.values():
        flags = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
        names = [str(flag.envvar) for flag in flags if flag.envvar is not None]  # consent has none
        assert len(names) == len(set(names))


OUTPUTS = {
    "eval report": "a folder of reports",
    "eval compare": "Markdown",
    "eval recommend": "entries for toolbelt.yaml",
    "eval export": "a run",
    "eval schema": "a JSON Schema",
    "eval baseline save": "a baseline",
}


def test_one_environment_variable_means_one_sort_of_file() -> None:
    """Else a place that is set for one command is where another writes something else."""
    named = {
        name: parameter.envvar
        for name, command in LEAVES.items()
        for parameter in command.params
        if name in OUTPUTS and "--output" in parameter.opts
    }
    assert named.keys() == OUTPUTS.keys()
    assert len(set(named.values())) == len(named)


@pytest.mark.parametrize("name", LEAVES)
def test_C_what_counts_no_tokens_takes_no_tokenizer(name: str) -> None:
    counts = {
        *("loadout list", "loadout inspect", "loadout diff", "loadout create"),
        *("toolkit list", "toolkit inspect", "toolkit resolve"),
        "session show",
        *("init", "catalog list", "catalog show", "catalog stats", "catalog sync", "catalog gate", "mcp check"),
        "model fit",
        "model probe",
        *("eval run", "eval import"),
    }
    assert any("--tokenizer" in parameter.opts for parameter in LEAVES[name].params) is (name in counts)


@pytest.mark.parametrize(
    ("group", "word", "meant"),
    [("model", "show", "inspect"), ("catalog", "inspect", "show"), ("loadout", "ls", "list")],
)
def test_a_command_by_the_word_of_another_program_is_answered_with_ours(
    toolbelt: Toolbelt, group: str, word: str, meant: str
) -> None:
    ran = toolbelt(group, word)
    assert (ran.code, f"Did you mean {meant!r}?" in ran.err) == (2, True)
