"""The pages do what they say: their commands and programs run, and their links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import sys
from pathlib import Path

import click
import pytest
import yaml

from tests.cli.conftest import Toolbelt, project, toolbelt
from tests.documents import PAGES, ROOT, Block, anchors, blocks, links, read
from toolbelt.cli.root import root
from toolbelt.command.groups import EXAMPLE_MODEL
from toolbelt.mcp.configs.approvals import Approvals
from toolbelt.mcp.configs.client_configs import read_client_config
from toolbelt.models.facts import describe_end
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.providers.model_facts import find_facts
from toolbelt.stores.files import state_folder

__all__ = ["project", "toolbelt"]  # fixtures

LINKED = (
    *PAGES,
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "reports/example/README.md",
    *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("datasets/*/README.md"))),
)
VARIABLE = re.compile(r"\bTOOLBELT_[A-Z_]+[A-Z]\b")
VARYING = re.compile(r"\s+[\d.]+ ms$|\d{8}-\d{6}-[0-9a-f]{4}")
"""What differs each time: how long something took, and ids of runs."""


def write_client_config(folder: Path) -> None:
    """A client's configuration of one server, which the user has approved."""
    entry = {"command": sys.executable, "args": [str(ROOT / "tests" / "servers" / "mcp_small.py")]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"github": entry}}))
    Approvals(state_folder(os.environ)).add(read_client_config(folder / ".mcp.json").servers, os.environ)


def run_console(block: Block, toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands; whole datasets are cut short, to as many cases as a gate needs where there is one."""
    commands = block.commands()
    limit = "200" if any(command.text.startswith("toolbelt eval gate") for command in commands) else "20"
    for command in commands:
        with monkeypatch.context() as patch:
            if command.text.startswith("toolbelt eval run") and not re.search("--limit|--case|--dataset", command.text):
                assert not command.shown, "what is shown of a run takes a limit of its own"
                patch.setenv("TOOLBELT_LIMIT", limit)
            done = toolbelt(*shlex.split(command.text)[1:])
        assert done.code == command.code, f"{command.text}\n{done.err}"
        assert done.out or "note: wrote" in done.err
        assert "warning" not in done.err, done.err
        printed = {VARYING.sub("", line).rstrip() for line in done.out.splitlines()}
        missing = [line for line in command.shown if VARYING.sub("", line).rstrip() not in printed]
        assert not missing, f"{command.text}\n{done.out}"


def run_program(block: Block, namespace: dict[str, object]) -> None:
    """Run it here, with what the page has defined before; `print(…)  # text` has to print the text."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, "program", "exec"), namespace)
    expected = [
        line.rpartition("  # ")[2] for line in block.text.splitlines() if line.startswith("print(") and "  # " in line
    ]
    assert not expected or printed.getvalue().splitlines() == expected


@pytest.mark.parametrize("page", [page for page in PAGES if page != "README.md"])
def test_C_a_page_works_from_top_to_bottom(
    page: str, project: Path, toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one folder: what has a title is a file of it, commands and programs use what the page showed before."""
    monkeypatch.setenv("COLUMNS", "100")
    write_client_config(project)
    namespace: dict[str, object] = {"__name__": "docs"}
    for block in blocks(page):
        if block.title:
            (project / block.title).parent.mkdir(exist_ok=True)
            (project / block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            run_console(block, toolbelt, monkeypatch)
        elif block.language == "python":
            run_program(block, namespace)
        elif block.language == "yaml":
            assert yaml.safe_load(block.text)


@pytest.mark.parametrize("block", blocks("README.md", "console"), ids=lambda block: block.text.partition("\n")[0])
def test_C_each_block_of_the_readme_works_by_itself(
    block: Block, project: Path, toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_client_config(project)
    run_console(block, toolbelt, monkeypatch)


def test_no_console_is_passed_over() -> None:
    commands = [command for page in PAGES for block in blocks(page, "console") for command in block.commands()]
    assert len(commands) >= 60
    assert {block.language for page in PAGES for block in blocks(page)} <= {
        *("console", "sh", "text", "json", "yaml", "python", "fish")
    }


UNRUN = [
    (page, line)
    for page in PAGES
    for block in blocks(page, "sh")
    for line in block.text.splitlines()
    if line.startswith("toolbelt ")
]


@pytest.mark.parametrize(("page", "line"), UNRUN, ids=[f"{page}: {line.partition('  #')[0]}" for page, line in UNRUN])
def test_what_is_not_run_is_a_command_with_flags_that_there_are(page: str, line: str) -> None:
    command: click.Command | None = root
    _, *words = shlex.split(line, comments=True)
    while isinstance(command, click.Group):
        command = command.get_command(click.Context(command), words.pop(0))
    assert command is not None
    command.make_parser(click.Context(command, **root.context_settings)).parse_args(words)


@pytest.mark.parametrize("page", LINKED)
def test_every_link_leads_to_a_file_and_a_heading(page: str) -> None:
    for link in links(page):
        target, _, anchor = link.partition("#")
        if target.startswith("https://"):
            continue
        path = (ROOT / page).parent / target if target else ROOT / page
        assert path.exists(), link
        if anchor:
            assert anchor in anchors(str(path.resolve().relative_to(ROOT))), link


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_a_page_of_the_site_links_to_nothing_outside_of_it(page: str) -> None:
    assert [link for link in links(page) if link.startswith("../")] == []


def _flags(command: click.Command) -> set[str]:
    context = click.Context(command)
    if isinstance(command, click.Group):
        found = [command.get_command(context, name) for name in command.list_commands(context)]
        return set().union(*(_flags(each) for each in found if each is not None))
    return {str(flag.envvar) for flag in command.params if flag.envvar}


def test_C_every_variable_that_no_flag_names_is_documented() -> None:
    sources = [path for folder in ("toolbelt", "evals") for path in (ROOT / folder).rglob("*.py")]
    named = {name for path in sources for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}
    documented = set(VARIABLE.findall(read("docs/settings.md")))
    assert sorted(named - _flags(root) - documented - {"TOOLBELT_INPUT"}) == []
    assert sorted(documented - named - _flags(root)) == []


def _named_models() -> set[str]:
    """Names of litellm's table in pages and in examples of commands."""
    texts = [*map(read, PAGES), EXAMPLE_MODEL]
    words = {word for text in texts for word in re.findall(r"[\w./:-]+[\w]", text)}
    table = ModelTable()
    return {word for word in words if re.search(r"\d", word) and table.find_name(word) is not None}


def test_V9_every_model_that_a_page_names_is_there_and_stays_for_90_days() -> None:
    named = _named_models()
    assert EXAMPLE_MODEL in named
    assert len(named) <= 6, "a page names the models that the others name"
    facts = [find_facts(name, ModelTable()) for name in sorted(named)]
    assert not list(filter(None, map(describe_end, facts)))


def test_V9_the_models_of_examples_are_named_in_one_place_or_on_a_page() -> None:
    """Other names, such as of models that are gone, are in no message and no help."""
    table = ModelTable()
    for path in [*ROOT.glob("toolbelt/**/*.py"), *ROOT.glob("evals/**/*.py")]:
        for text in re.findall(r"[\"'](toolbelt [^\"']+)[\"']", path.read_text(encoding="utf-8")):
            named = [word for word in text.split() if table.find_name(word) and not word.startswith("ollama/")]
            assert not named, f"{path}: write EXAMPLE_MODEL in place of {named}"
