"""`toolbelt loadout create`: from flags, and at a terminal by questions; a wrong answer is asked for again."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.errors import InvalidFileError, StorageError, ToolbeltError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.inspection import Inspection, loadout_data
from toolbelt.loadouts.inspection_view import inspection_view
from toolbelt.loadouts.lint import lint_against_catalog, lint_definitions
from toolbelt.loadouts.reader import LOADOUT_KEYS, read_loadout_file
from toolbelt.patterns import fold
from toolbelt.project.project import Project
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.servers.writing import format_project
from toolbelt.sources import parse_yaml
from toolbelt.sources.keys import Kind
from toolbelt.stores.catalogs import DEFAULT_CATALOG
from toolbelt.stores.config import CONFIG_NAMES
from toolbelt.stores.config_schema import format_loadout
from toolbelt.stores.files import LOADOUT_SUFFIXES, write_text
from toolbelt.text import visible

T = TypeVar("T")


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
        values = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        return {key: value for key, value in values.items() if value}


Check = Callable[[str | None, Answers], None]
"""Raises what is wrong with a loadout of that name (`None` while it has none) as far as it is known."""


def ask_name(name: str | None, given: Answers, check: Check) -> str:
    """The name, asked for if it is not given.

    Raises:
        ToolbeltError: what is given is wrong, so that no answer is taken in vain.
        click.Abort: by Ctrl-C or Ctrl-D.
    """
    check(name, given)
    return _ask("Name", lambda typed: typed, lambda typed: check(typed, given)) if name is None else name


def ask_answers(project: Project, name: str, given: Answers, check: Check) -> Answers:
    """What is not given of a loadout's definition, asked for key by key.

    Raises:
        click.Abort: by Ctrl-C or Ctrl-D.
    """

    def complete(answers: Answers, key: str, question: str) -> Answers:
        if getattr(answers, key):
            return answers
        if LOADOUT_KEYS[key].kind is Kind.NAMES:
            question = f"{question}, separated by commas"
        return _ask(question, lambda typed: _with(answers, key, typed), lambda fuller: check(name, fuller))

    _echo_names("Loadouts to build on", [loadout.name for loadout in project.registry.get_all()])
    answers = complete(given, "extends", "Extends (empty for none)")
    _echo_names("Categories", project.catalog.categories)
    answers = complete(answers, "categories", "Include categories")
    _list_plugins(project, name, answers)
    answers = complete(answers, "plugins", "Add plugins (or plugin/tool)")
    answers = complete(answers, "discoverable", "Discoverable patterns (a trailing * makes a prefix)")
    answers = complete(answers, "disabled", "Disable")
    return complete(answers, "description", "Description")


def confirm(inspection: Inspection) -> None:
    """Show what the loadout would make active, and ask whether to write it.

    Raises:
        click.Abort: it is not to be written.
    """
    show_blocks(inspection_view(inspection, show_tools=False, show_all=False))
    if not _until_readable(lambda: click.confirm("Write it?", default=True)):
        raise click.Abort


def _ask(question: str, read: Callable[[str], T], check: Callable[[T], None]) -> T:
    """The answer as `read` makes it of the text, once `check` raises nothing about it."""

    def accepted(typed: str) -> T:
        try:
            answer = read(typed.strip())
            check(answer)
        except (ToolbeltError, OSError) as error:
            raise click.UsageError(visible(_message(error))) from None
        return answer

    return _until_readable(lambda: click.prompt(question, default="", show_default=False, value_proc=accepted))


def _until_readable(ask: Callable[[], T]) -> T:
    while True:
        try:
            return ask()
        except UnicodeDecodeError:
            click.echo("Error: That was no text in the encoding of this terminal; type it again.")


def _message(error: ToolbeltError | OSError) -> str:
    if isinstance(error, InvalidFileError):
        return " ".join(finding.message for finding in error.findings)
    if isinstance(error, OSError):
        return f"The system refuses that: {error.strerror}."
    return str(error)


def _with(answers: Answers, key: str, typed: str) -> Answers:
    many = LOADOUT_KEYS[key].kind is Kind.NAMES
    value: Any = tuple(part.strip() for part in typed.split(",") if part.strip()) if many else typed
    return replace(answers, **{key: value})


def _list_plugins(project: Project, name: str, answers: Answers) -> None:
    inherited = ToolLoadout(name, answers.extends or None, included_categories=frozenset(answers.categories))
    registry = ToolLoadoutRegistry([*(written.loadout for written in project.written), inherited])
    plugins = project.catalog.plugins
    active = set(registry.resolve_active_plugins(name, plugins))
    _echo_names("Active so far", sorted(active))
    _echo_names("Not active", [plugin.name for plugin in plugins if plugin.name not in active])


def _echo_names(label: str, names: Iterable[str]) -> None:
    click.echo(f"{label}: {', '.join(map(visible, names)) or 'nothing'}")


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
@option(
    "--project/--no-project",
    "with_project",
    default=None,
    help="Also write toolbelt.yaml, where there is none, with the catalog in use.  [default: asked at a terminal]",
)
@project_options
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
    with_project: bool | None,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """Write loadout NAME to a file of its own; asks for what is missing where there is a terminal.

    It is found here without a toolbelt.yaml, too; with one, also from the folders below, and over its catalog.
    """
    project = options.open()
    answers = Answers(extends, categories, plugins, discoverable, disabled, description)
    if name is None or not answers.to_dict():
        _require_terminal(as_json)
        name, answers, inspection = _interview(project, name, answers, output, force)
    else:
        _refuse_second_definition(project, name, _target(project, name, output))
        inspection = _inspected(project, name, answers)
        _warn_of_shadowing(project, name)
    target = _target(project, name, output)
    config_file = _choose_project_file(project, target, with_project, options.catalog, as_json=as_json)
    write_text(target, format_loadout(name, answers.to_dict()), overwrite=force)
    if config_file is not None:
        write_text(config_file, format_project(options.catalog or DEFAULT_CATALOG, ()), overwrite=False)
        notify(f"wrote {config_file}")
    _show_written(project, name, target, () if config_file else _source_flags(options))
    if as_json:
        data = {"name": name, "output": str(target), "tokens": inspection.active_tokens}
        written = None if config_file is None else str(config_file)
        print_json({**data, "loadout": loadout_data(inspection.resolution.chain[-1]), "project_file": written})


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _require_terminal(as_json: bool) -> None:
    if not _is_terminal() or as_json:
        raise ToolbeltError("Without a terminal, give NAME and at least one of --extends --category --plugin.")


def _interview(
    project: Project, name: str | None, given: Answers, output: str | None, force: bool
) -> tuple[str, Answers, Inspection]:
    check = partial(_check, project, output, force)
    name = ask_name(name, given, check)
    _warn_of_shadowing(project, name)
    answers = ask_answers(project, name, given, check)
    inspection = _inspected(project, name, answers)
    confirm(inspection)
    return name, answers, inspection


def _check(project: Project, output: str | None, force: bool, name: str | None, answers: Answers) -> None:
    """Raise, while answers are still being given, everything that would be refused when all are there."""
    if name is not None:
        _refuse_second_definition(project, name, _target(project, name, output))
    called = UNNAMED if name is None else name
    _refuse_mistakes(_lint(project, called, answers)[1])
    if name is not None or output:
        _refuse_place(_target(project, called, output), force)


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


def _refuse_second_definition(project: Project, name: str, target: Path) -> None:
    """Beside `toolbelt.yaml`, a second loadout of the name would make every command refuse the project."""
    if not target.name.endswith(LOADOUT_SUFFIXES) or target.resolve().parent != _project_folder(project).resolve():
        return
    for written in project.config.loadouts:
        if fold(written.loadout.name) == fold(name) and Path(written.document.source).resolve() != target.resolve():
            place = written.finding("", "").place
            raise ToolbeltError(
                f"Loadout {name!r} is defined already at {place}; change it there, or use another name."
            )


def _lint(project: Project, name: str, answers: Answers) -> tuple[ToolLoadoutRegistry, tuple[Finding, ...]]:
    """All loadouts with the new one, and what is wrong or doubtful about that."""
    try:
        document = parse_yaml(format_loadout(name, answers.to_dict()), UNNAMED)
    except UnicodeEncodeError:
        raise ToolbeltError("A loadout file is UTF-8, and what was given here is not.") from None
    written, findings = read_loadout_file(document, name)
    registry = ToolLoadoutRegistry(written.loadout for written in project.written)
    if written is not None:
        registry.register(written.loadout)
        findings += lint_definitions([written], registry)
        findings += lint_against_catalog(written, registry, project.catalog)
    return registry, tuple(replace(finding, line=None) for finding in findings)


def _refuse_mistakes(findings: Iterable[Finding]) -> None:
    if errors := [finding for finding in findings if finding.severity is Severity.ERROR]:
        raise InvalidFileError(sorted_findings(errors))


def _inspected(project: Project, name: str, answers: Answers) -> Inspection:
    """The loadout as it would resolve; what is wrong with it is raised before anything is written."""
    registry, findings = _lint(project, name, answers)
    for finding in findings:
        if finding.severity is Severity.WARNING:
            notify(finding.message, "warning")
    _refuse_mistakes(findings)
    return Inspection(registry.resolve(name, project.catalog), project.tokens())


def _warn_of_shadowing(project: Project, name: str) -> None:
    """Whoever reuses a name changes more than one loadout, which is easily overlooked."""
    if fold(name) in {fold(written.loadout.name) for written in project.catalog_loadouts}:
        shadowed = f"the one that catalog {project.catalog.name!r} brings"
    elif ToolLoadoutRegistry().get_loadout(name) is not None:
        shadowed = "the built-in one"
    else:
        return
    lineages = [project.registry.trace_lineage(loadout.name) for loadout in project.registry.get_all()]
    children = [visible(lineage.name) for lineage in lineages if fold(name) in map(fold, lineage.names[:-1])]
    named = f": {', '.join(children)}" if children else ""
    notify(f"Loadout {name!r} shadows {shadowed}, also for every loadout that extends it{named}.", "warning")


def _choose_project_file(
    project: Project, target: Path, with_project: bool | None, catalog: str | None, *, as_json: bool
) -> Path | None:
    """The `toolbelt.yaml` to write beside the loadout; `None` where there is one already, or none is wanted."""
    if project.config.path is not None or not _is_discovered(project, target):
        if with_project:
            reason = "there is one already" if project.config.path else "the loadout is written to another folder"
            notify(f"no {CONFIG_NAMES[0]} is written: {reason}", "warning")
        return None
    file = _project_folder(project) / CONFIG_NAMES[0]
    if with_project is None and _is_terminal() and not as_json:
        named = f"which names catalog {catalog or DEFAULT_CATALOG!r}"
        question = f"Also write {file}, {named}, so that commands here and below find both?"
        with_project = _until_readable(lambda: click.confirm(visible(question), default=True))
    return file if with_project else None


def _is_discovered(project: Project, target: Path) -> bool:
    is_beside = target.parent.resolve() == _project_folder(project).resolve()
    return is_beside and target.name.endswith(LOADOUT_SUFFIXES)


def _source_flags(options: ProjectOptions) -> tuple[str, ...]:
    """Options that another command needs to see the same project."""
    flags = {"--catalog": options.catalog, "--config": options.config}
    return tuple(word for flag, value in flags.items() if value for word in (flag, value))


def _show_written(project: Project, name: str, target: Path, flags: Sequence[str]) -> None:
    named = ("--", name) if name.startswith("-") else (name,)
    command = shlex.join(["toolbelt", "loadout", "inspect", *flags, *named])
    if _is_discovered(project, target):
        notify(f"wrote {target}; look at it with: {command}")
        return
    folder = _project_folder(project)
    notify(f"wrote {target}")
    notify(f"a loadout is found as a *{LOADOUT_SUFFIXES[0]} in {folder.resolve()}; move it there to use it", "warning")
    move = shlex.join(["mv", "--", str(target), str(_target(project, name, None))])
    notify(f"to move it and look at it: {move} && {command}")


def _target(project: Project, name: str, output: str | None) -> Path:
    if output:
        return Path(output)
    stem = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "loadout"
    return _project_folder(project) / f"{stem}{LOADOUT_SUFFIXES[0]}"


def _project_folder(project: Project) -> Path:
    return project.config.path.parent if project.config.path else Path()
