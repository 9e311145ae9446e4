"""`toolbelt loadout create`."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from toolbelt.cli.options import option, workspace_options
from toolbelt.cli.workspace import Workspace, open_workspace
from toolbelt.console.inspection_view import inspection_view
from toolbelt.console.screen import make_screen, print_json, show_view, tell
from toolbelt.console.text import visible
from toolbelt.documents import parse_yaml
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.findings import Severity, sorted_findings
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.inspection import Inspection, loadout_data
from toolbelt.loadouts.lint import lint_against_catalog, lint_definitions
from toolbelt.loadouts.written import read_loadout
from toolbelt.patterns import fold
from toolbelt.stores.config import LOADOUT_SUFFIXES
from toolbelt.stores.config_schema import format_loadout
from toolbelt.stores.files import write_text


@dataclass(frozen=True)
class Answers:
    """What a new loadout is to say, under the keys of a loadout file."""

    extends: str | None
    categories: tuple[str, ...]
    plugins: tuple[str, ...]
    discoverable: tuple[str, ...]
    disabled: tuple[str, ...]
    description: str

    def to_dict(self) -> dict[str, Any]:
        """As it is written; what is empty is left out."""
        made = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        return {key: value for key, value in made.items() if value}


@click.command(
    epilog="Example: toolbelt loadout create reviewer --extends developer --category security --disable websearch"
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
    if not answers.to_dict() or name is None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()) or as_json:
            raise ToolbeltError("Without a terminal, give NAME and at least one of --extends --category --plugin.")
        name, answers = _ask(workspace, name, answers)
    target = Path(output) if output else _default_path(workspace, name)
    _refuse_second_definition(workspace, name, target)
    inspection = _checked(workspace, name, answers)
    write_text(target, format_loadout(name, answers.to_dict()), overwrite=force)
    found = target.parent.resolve() == _default_path(workspace, name).parent.resolve() and _is_loadout_file(target)
    tell(f"wrote {target}" + (f"; look at it with: toolbelt loadout inspect {shlex.quote(name)}" if found else ""))
    if not found:
        folder = _default_path(workspace, name).parent.resolve()
        tell(f"a loadout is found as a *{LOADOUT_SUFFIXES[0]} in {folder}; move it there to use it", "warning")
    if as_json:
        data = {"name": name, "output": str(target), "tokens": inspection.active_tokens}
        print_json({**data, "loadout": loadout_data(inspection.resolution.chain[-1])})


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


def _checked(workspace: Workspace, name: str, answers: Answers) -> Inspection:
    """The loadout as it would resolve; what is wrong with it is raised before anything is written."""
    try:
        document = parse_yaml(format_loadout(name, answers.to_dict()), "the new loadout")
    except UnicodeEncodeError:
        raise ToolbeltError("A loadout file is UTF-8, and what was given here is not.") from None
    written, findings = read_loadout(document, name, document.data, also=("name",))
    if written is not None:
        registry = ToolLoadoutRegistry([*(one.loadout for one in workspace.written), written.loadout])
        findings += [
            *lint_definitions([written], registry),
            *lint_against_catalog(written, registry, workspace.catalog),
        ]
    findings = [replace(finding, line=None) for finding in findings]
    for finding in findings:
        if finding.severity is Severity.WARNING:
            tell(finding.message, "warning")
    if errors := [finding for finding in findings if finding.severity is Severity.ERROR]:
        raise InvalidFileError(sorted_findings(errors))
    return Inspection(registry.resolve(name, workspace.catalog), workspace.tokens())


def _ask(workspace: Workspace, name: str | None, given: Answers) -> tuple[str, Answers]:
    name = name or click.prompt("Name")
    parents = [loadout.name for loadout in workspace.registry.get_all()]
    _list("Loadouts to build on", parents)
    extends = given.extends or click.prompt("Extends (empty for none)", default="", show_default=False) or None
    _list("Categories", workspace.catalog.categories)
    categories = given.categories or _ask_names("Include categories")
    inherited = ToolLoadout(name, extends, included_categories=frozenset(categories))
    registry = ToolLoadoutRegistry([*(one.loadout for one in workspace.written), inherited])
    active = set(registry.resolve_active_plugins(name, workspace.catalog.plugins))
    others = [plugin.name for plugin in workspace.catalog.plugins if plugin.name not in active]
    _list("Active so far", sorted(active))
    _list("Not active", others)
    answers = replace(
        given,
        extends=extends,
        categories=tuple(categories),
        plugins=given.plugins or _ask_names("Add plugins (or plugin/tool)"),
        discoverable=given.discoverable or _ask_names("Discoverable patterns (a trailing * makes a prefix)"),
        disabled=given.disabled or _ask_names("Disable"),
        description=given.description or click.prompt("Description", default="", show_default=False),
    )
    inspection = _checked(workspace, name, answers)
    screen = make_screen()
    show_view(inspection_view(inspection, screen, show_tools=False, show_all=False), screen)
    if not click.confirm("Write it?", default=True):
        raise click.Abort
    return name, answers


def _list(label: str, names: Iterable[str]) -> None:
    click.echo(f"{label}: {', '.join(map(visible, names)) or 'nothing'}")


def _ask_names(question: str) -> tuple[str, ...]:
    answer: str = click.prompt(f"{question}, separated by commas", default="", show_default=False)
    return _names(answer.split(","))


def _names(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.strip() for part in parts if part.strip())


def _is_loadout_file(path: Path) -> bool:
    return path.name.endswith(LOADOUT_SUFFIXES)


def _default_path(workspace: Workspace, name: str) -> Path:
    stem = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "loadout"
    return _project_folder(workspace) / f"{stem}{LOADOUT_SUFFIXES[0]}"


def _project_folder(workspace: Workspace) -> Path:
    return workspace.config.path.parent if workspace.config.path else Path()
