"""`toolbelt loadout create`."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from toolbelt.cli.loadout_questions import Answers, ask_answers, ask_name, confirm
from toolbelt.command.groups import examples
from toolbelt.command.options import option, workspace_options
from toolbelt.command.project import open_workspace
from toolbelt.console.screen import notify, print_json
from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.loadouts.inspection import Inspection, loadout_data
from toolbelt.loadouts.lint import lint_against_catalog, lint_definitions
from toolbelt.loadouts.written import read_loadout
from toolbelt.patterns import fold
from toolbelt.project.workspace import Workspace
from toolbelt.sources import parse_yaml
from toolbelt.stores.config import LOADOUT_SUFFIXES
from toolbelt.stores.config_schema import format_loadout
from toolbelt.stores.files import write_text
from toolbelt.text import visible

UNNAMED = "the new loadout"
"""What messages call it, and its file, before it has a name."""


@click.command(
    epilog=examples("toolbelt loadout create reviewer --extends developer --category security --disable websearch")
)
@click.argument("name", required=False)
@option("--extends", metavar="L", help="The loadout to inherit from.")
@option("--category", "categories", multiple=True, metavar="C", help="Include a category; may be repeated.")
@option("--plugin", "plugins", multiple=True, metavar="P", help="Add a plugin, or a tool as plugin/tool.")
@option("--discoverable", multiple=True, metavar="PATTERN", help="Let this be asked for; may end in *.")
@option("--disable", "disabled", multiple=True, metavar="P", help="Never show a plugin, or plugin/tool.")
@option("--description", default="", metavar="TEXT", help="What it is for.")
@option("--output", "-o", metavar="FILE", help="[default: NAME.loadout.yaml beside toolbelt.yaml, or here]")
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@workspace_options
def create(
    name: str | None,
    extends: str | None,
    categories: tuple[str, ...],
    plugins: tuple[str, ...],
    discoverable: tuple[str, ...],
    disabled: tuple[str, ...],
    description: str,
    output: str | None,
    force: bool,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> None:
    """Write loadout NAME to a file of its own; asks for what is missing where there is a terminal."""
    workspace = open_workspace(catalog, config, tokenizer)
    answers = Answers(extends, categories, plugins, discoverable, disabled, description)
    if name is None or not answers.to_dict():
        _require_terminal(as_json)
        name, answers, inspection = _interview(workspace, name, answers, output, force)
    else:
        _refuse_second_definition(workspace, name, _target(workspace, name, output))
        inspection = _inspected(workspace, name, answers)
        _tell_shadowing(workspace, name)
    target = _target(workspace, name, output)
    write_text(target, format_loadout(name, answers.to_dict()), overwrite=force)
    _tell_written(workspace, name, target)
    if as_json:
        data = {"name": name, "output": str(target), "tokens": inspection.active_tokens}
        print_json({**data, "loadout": loadout_data(inspection.resolution.chain[-1])})


def _require_terminal(as_json: bool) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or as_json:
        raise ToolbeltError("Without a terminal, give NAME and at least one of --extends --category --plugin.")


def _interview(
    workspace: Workspace, name: str | None, given: Answers, output: str | None, force: bool
) -> tuple[str, Answers, Inspection]:
    check = partial(_check, workspace, output, force)
    name = ask_name(name, given, check)
    _tell_shadowing(workspace, name)
    answers = ask_answers(workspace, name, given, check)
    inspection = _inspected(workspace, name, answers)
    confirm(inspection)
    return name, answers, inspection


def _check(workspace: Workspace, output: str | None, force: bool, name: str | None, answers: Answers) -> None:
    """Raise, while answers are still being given, everything that would be refused when all are there."""
    if name is not None:
        _refuse_second_definition(workspace, name, _target(workspace, name, output))
    called = UNNAMED if name is None else name
    _refuse_mistakes(_lint(workspace, called, answers)[1])
    if name is not None or output:
        _refuse_place(_target(workspace, called, output), force)


def _refuse_place(target: Path, force: bool) -> None:
    try:
        target.stat()
    except FileNotFoundError:
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise StorageError(f"Cannot write into the folder {str(target.parent)!r}.") from None
        return
    if target.is_dir():
        raise ToolbeltError(f"{str(target)!r} is a folder; name a file.")
    if target.is_file() and not force:
        raise ToolbeltError(f"{str(target)!r} exists already; use --force to replace it, or another name.")


def _refuse_second_definition(workspace: Workspace, name: str, target: Path) -> None:
    """Beside `toolbelt.yaml`, a second loadout of the name would make every command refuse the project."""
    if not target.name.endswith(LOADOUT_SUFFIXES) or target.resolve().parent != _project_folder(workspace).resolve():
        return
    for one in workspace.config.loadouts:
        if fold(one.loadout.name) == fold(name) and Path(one.document.source).resolve() != target.resolve():
            place = one.finding("", "").place
            raise ToolbeltError(
                f"Loadout {name!r} is defined already at {place}; change it there, or use another name."
            )


def _lint(workspace: Workspace, name: str, answers: Answers) -> tuple[ToolLoadoutRegistry, tuple[Finding, ...]]:
    """All loadouts with the new one, and what is wrong or doubtful about that."""
    try:
        document = parse_yaml(format_loadout(name, answers.to_dict()), UNNAMED)
    except UnicodeEncodeError:
        raise ToolbeltError("A loadout file is UTF-8, and what was given here is not.") from None
    written, findings = read_loadout(document, name, document.data, also=("name",))
    registry = ToolLoadoutRegistry(one.loadout for one in workspace.written)
    if written is not None:
        registry.register(written.loadout)
        findings += lint_definitions([written], registry)
        findings += lint_against_catalog(written, registry, workspace.catalog)
    return registry, tuple(replace(finding, line=None) for finding in findings)


def _refuse_mistakes(findings: Iterable[Finding]) -> None:
    if errors := [finding for finding in findings if finding.severity is Severity.ERROR]:
        raise InvalidFileError(sorted_findings(errors))


def _inspected(workspace: Workspace, name: str, answers: Answers) -> Inspection:
    """The loadout as it would resolve; what is wrong with it is raised before anything is written."""
    registry, findings = _lint(workspace, name, answers)
    for finding in findings:
        if finding.severity is Severity.WARNING:
            notify(finding.message, "warning")
    _refuse_mistakes(findings)
    return Inspection(registry.resolve(name, workspace.catalog), workspace.tokens())


def _tell_shadowing(workspace: Workspace, name: str) -> None:
    """Whoever reuses a name changes more than one loadout, which is easily overlooked."""
    if fold(name) in {fold(one.loadout.name) for one in workspace.catalog_loadouts}:
        shadowed = f"the one that catalog {workspace.catalog.name!r} brings"
    elif ToolLoadoutRegistry().get_loadout(name) is not None:
        shadowed = "the built-in one"
    else:
        return
    lineages = [workspace.registry.trace_lineage(one.name) for one in workspace.registry.get_all()]
    heirs = [visible(one.name) for one in lineages if fold(name) in map(fold, one.names[:-1])]
    named = f": {', '.join(heirs)}" if heirs else ""
    notify(f"Loadout {name!r} shadows {shadowed}, also for every loadout that extends it{named}.", "warning")


def _tell_written(workspace: Workspace, name: str, target: Path) -> None:
    folder = _project_folder(workspace).resolve()
    found = target.parent.resolve() == folder and target.name.endswith(LOADOUT_SUFFIXES)
    notify(f"wrote {target}" + (f"; look at it with: toolbelt loadout inspect {shlex.quote(name)}" if found else ""))
    if not found:
        notify(f"a loadout is found as a *{LOADOUT_SUFFIXES[0]} in {folder}; move it there to use it", "warning")


def _target(workspace: Workspace, name: str, output: str | None) -> Path:
    if output:
        return Path(output)
    stem = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "loadout"
    return _project_folder(workspace) / f"{stem}{LOADOUT_SUFFIXES[0]}"


def _project_folder(workspace: Workspace) -> Path:
    return workspace.config.path.parent if workspace.config.path else Path()
