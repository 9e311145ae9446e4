"""`toolbelt loadout diff`."""

from __future__ import annotations

from pathlib import Path

import click

from toolbelt.command.completion import complete_loadouts
from toolbelt.command.groups import examples
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.findings import Severity, sorted_findings
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.loadouts.diff import LoadoutDiff, diff_resolutions
from toolbelt.loadouts.lint import lint_definitions
from toolbelt.loadouts.loadout_views import diff_view
from toolbelt.patterns import fold
from toolbelt.project.project import Project
from toolbelt.render.screen import print_json, show_blocks
from toolbelt.stores.config_reader import read_loadout_definitions
from toolbelt.stores.files import LOADOUT_SUFFIXES


@click.command(
    epilog=examples(
        "toolbelt loadout diff minimal developer",
        "toolbelt loadout diff old.yaml toolbelt.yaml",
        "toolbelt loadout diff old.yaml:reviewer toolbelt.yaml:reviewer",
    )
)
@click.argument("a", shell_complete=complete_loadouts)
@click.argument("b", shell_complete=complete_loadouts)
@project_options
def diff(a: str, b: str, options: ProjectOptions, as_json: bool) -> None:
    """What an agent gains and loses from A to B: plugins, tools and tokens.

    A and B are loadouts, or files (every loadout in either is compared), or FILE:LOADOUT.
    """
    project = options.open()
    diffs = _compare(project, a, b)
    if as_json:
        print_json(
            diffs[0].to_dict()
            if not _is_file(project, a)
            else {"a": a, "b": b, "loadouts": [d.to_dict() for d in diffs]}
        )
        return
    for loadout_diff in diffs:
        show_blocks(diff_view(loadout_diff))


def _compare(project: Project, a: str, b: str) -> list[LoadoutDiff]:
    if _is_file(project, a) != _is_file(project, b):
        raise ToolbeltError("Compare two loadouts or two files; FILE:LOADOUT names one loadout of a file.")
    tokens = project.tokens()
    if not _is_file(project, a):
        before, name_a = _one(project, a)
        after, name_b = _one(project, b)
        resolutions = before.resolve(name_a, project.catalog), after.resolve(name_b, project.catalog)
        return [diff_resolutions(*resolutions, tokens, (a, b))]
    before, names_a = _registry_of(project, a)
    after, names_b = _registry_of(project, b)
    names = {fold(name): name for name in (*names_a, *names_b)}
    if not names:
        raise ToolbeltError(f"There is no loadout in {a!r} or {b!r}.")
    return [
        diff_resolutions(
            before.resolve(name, project.catalog),
            after.resolve(name, project.catalog),
            tokens,
            (f"{a}:{name}", f"{b}:{name}"),
        )
        for name in names.values()
    ]


def _one(project: Project, reference: str) -> tuple[ToolLoadoutRegistry, str]:
    """The registry and name that `NAME` or `FILE:NAME` stands for."""
    file, colon, name = reference.rpartition(":")
    if project.registry.get_loadout(reference) is None and colon and Path(file).is_file():
        registry, _ = _registry_of(project, file)
        registry.require_loadout(name)
        return registry, name
    project.get_lineage(reference)
    return project.registry, reference


def _registry_of(project: Project, path: str) -> tuple[ToolLoadoutRegistry, tuple[str, ...]]:
    """The built-in loadouts, the catalog's and those of `*.loadout.yaml` files with those of one file.

    Returns:
        The registry, and the names of what the file defines.

    Raises:
        InvalidFileError: what is wrong with the file's loadouts, whatever the catalog.
    """
    if not Path(path).exists():
        raise NotFoundError("file", path, [str(entry) for entry in Path().glob("*.y*ml")])
    defined = read_loadout_definitions(path)
    beside = [written for written in project.config.loadouts if written.document.source.endswith(LOADOUT_SUFFIXES)]
    registry = ToolLoadoutRegistry(written.loadout for written in (*project.catalog_loadouts, *beside, *defined))
    errors = [finding for finding in lint_definitions(defined, registry) if finding.severity is Severity.ERROR]
    if errors:
        raise InvalidFileError(sorted_findings(errors))
    return registry, tuple(written.loadout.name for written in defined)


def _is_file(project: Project, reference: str) -> bool:
    if project.registry.get_loadout(reference) is not None:
        return False
    return reference.endswith((".yaml", ".yml")) or Path(reference).is_file()
