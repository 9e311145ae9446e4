"""`toolbelt loadout diff`."""

from __future__ import annotations

from pathlib import Path

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import workspace_options
from toolbelt.command.project import open_workspace
from toolbelt.console.loadout_views import diff_view
from toolbelt.console.screen import print_json, show_view
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.findings import Severity, sorted_findings
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.loadouts.diff import LoadoutDiff, diff_resolutions
from toolbelt.loadouts.lint import lint_definitions
from toolbelt.patterns import fold
from toolbelt.project.workspace import Workspace
from toolbelt.stores.config_reader import read_loadout_definitions
from toolbelt.stores.files import LOADOUT_SUFFIXES


@click.command(
    epilog=examples(
        "toolbelt loadout diff minimal developer",
        "toolbelt loadout diff old.yaml toolbelt.yaml",
        "toolbelt loadout diff old.yaml:reviewer toolbelt.yaml:reviewer",
    )
)
@click.argument("a")
@click.argument("b")
@workspace_options
def diff(a: str, b: str, catalog: str | None, config: str | None, tokenizer: str | None, as_json: bool) -> None:
    """What an agent gains and loses from A to B: plugins, tools and tokens.

    A and B are loadouts, or files (every loadout in either is compared), or FILE:LOADOUT.
    """
    workspace = open_workspace(catalog, config, tokenizer)
    diffs = _compare(workspace, a, b)
    if as_json:
        print_json(
            diffs[0].to_dict()
            if not _is_file(workspace, a)
            else {"a": a, "b": b, "loadouts": [d.to_dict() for d in diffs]}
        )
        return
    for one in diffs:
        show_view(diff_view(one))


def _compare(workspace: Workspace, a: str, b: str) -> list[LoadoutDiff]:
    if _is_file(workspace, a) != _is_file(workspace, b):
        raise ToolbeltError("Compare two loadouts or two files; FILE:LOADOUT names one loadout of a file.")
    tokens = workspace.tokens()
    if not _is_file(workspace, a):
        before, name_a = _one(workspace, a)
        after, name_b = _one(workspace, b)
        resolutions = before.resolve(name_a, workspace.catalog), after.resolve(name_b, workspace.catalog)
        return [diff_resolutions(*resolutions, tokens, (a, b))]
    before, names_a = _registry_of(workspace, a)
    after, names_b = _registry_of(workspace, b)
    names = {fold(name): name for name in (*names_a, *names_b)}
    if not names:
        raise ToolbeltError(f"There is no loadout in {a!r} or {b!r}.")
    return [
        diff_resolutions(
            before.resolve(name, workspace.catalog),
            after.resolve(name, workspace.catalog),
            tokens,
            (f"{a}:{name}", f"{b}:{name}"),
        )
        for name in names.values()
    ]


def _one(workspace: Workspace, reference: str) -> tuple[ToolLoadoutRegistry, str]:
    """The registry and name that `NAME` or `FILE:NAME` stands for."""
    file, colon, name = reference.rpartition(":")
    if workspace.registry.get_loadout(reference) is None and colon and Path(file).is_file():
        registry, _ = _registry_of(workspace, file)
        registry.require_loadout(name)
        return registry, name
    workspace.get_lineage(reference)
    return workspace.registry, reference


def _registry_of(workspace: Workspace, path: str) -> tuple[ToolLoadoutRegistry, tuple[str, ...]]:
    """The built-in loadouts, the catalog's and those of `*.loadout.yaml` files with those of one file.

    Returns:
        The registry, and the names of what the file defines.

    Raises:
        InvalidFileError: what is wrong with the file's loadouts, whatever the catalog.
    """
    if not Path(path).exists():
        raise NotFoundError("file", path, [str(entry) for entry in Path().glob("*.y*ml")])
    defined = read_loadout_definitions(path)
    beside = [one for one in workspace.config.loadouts if one.document.source.endswith(LOADOUT_SUFFIXES)]
    registry = ToolLoadoutRegistry(one.loadout for one in (*workspace.catalog_loadouts, *beside, *defined))
    errors = [finding for finding in lint_definitions(defined, registry) if finding.severity is Severity.ERROR]
    if errors:
        raise InvalidFileError(sorted_findings(errors))
    return registry, tuple(one.loadout.name for one in defined)


def _is_file(workspace: Workspace, reference: str) -> bool:
    if workspace.registry.get_loadout(reference) is not None:
        return False
    return reference.endswith((".yaml", ".yml")) or Path(reference).is_file()
