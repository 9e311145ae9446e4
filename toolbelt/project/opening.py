"""Opening a folder as a project."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.errors import InvalidDefinitionError, InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.findings import Finding, sorted_findings
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.patterns import find_name_problem, is_python_reference
from toolbelt.project.project import Project
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, make_counter
from toolbelt.reporter import SILENT, Reporter
from toolbelt.sources import read_document
from toolbelt.stores.catalogs import DEFAULT_CATALOG, find_shipped_catalog, open_catalog
from toolbelt.stores.config import Config, examine_config
from toolbelt.stores.files import shown_path
from toolbelt.text import show_value

if TYPE_CHECKING:
    from toolbelt.project.rankers import Approve


def open_project(
    path: str | os.PathLike[str] = ".",
    *,
    catalog: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    tokenizer: str | None = None,
    reporter: Reporter = SILENT,
    read_loadouts_too: bool = True,
    refuse_mistakes: bool = True,
    approve: Approve | None = None,
) -> Project:
    """Open a folder: its `toolbelt.yaml`, the loadouts beside it, and the catalog they name.

        project = open_project()
        project.resolve("developer").active_tools        # what an agent with that loadout is shown
        project.inspect("developer", ["local/bm25"]).models   # what it costs, and whether it fits
        session = project.session(registry, "conversation-1", agent="assistant")   # the agent at run time

    Args:
        path: The folder, or a `toolbelt.yaml` in it. Without such a file here or above, the built-in loadouts over
            the shipped catalog.
        catalog: A shipped catalog, a dataset folder, a file, or Python code, which is imported (`shoptools.py`,
            `module:attribute`), in place of the one that `toolbelt.yaml` names.
        config: Another `toolbelt.yaml`.
        tokenizer: What counts tokens where no model says otherwise.
        reporter: Receives notes, warnings and progress; by default nothing is shown.
        read_loadouts_too: Whether loadouts are read and checked.
        refuse_mistakes: Whether mistakes in `toolbelt.yaml` and its loadouts are raised; a check of all files has them
            from `Project.lint` and `lint_searches`.
        approve: Asks whether Python code that `toolbelt.yaml` names as its catalog may be imported (rule M2). By
            default, what is not approved already is refused.

    Raises:
        NotFoundError: there is no such folder, catalog, file or tokenizer.
        ToolbeltError: the catalog is Python code that is not approved, or cannot be imported.
        InvalidFileError: every mistake in the project's files, or in the catalog.
    """
    examined, folder = examine_project(path, config)
    name = tokenizer or examined.tokenizer or DEFAULT_TOKENIZER
    make_counter(name)  # an unknown name is refused before anything is read
    try:
        if catalog is None:
            approve_catalog(examined, folder, approve)
        catalog_file = open_catalog(str(catalog or examined.catalog or DEFAULT_CATALOG), may_import=True)
    except (InvalidFileError, NotFoundError) as error:
        if (findings := _find_others(examined, error, catalog is None)) is not None:
            raise InvalidFileError(findings) from None
        if isinstance(error, NotFoundError) and catalog is None and examined.servers:
            error.hint = "To ask the servers of toolbelt.yaml for their tools: toolbelt catalog sync"
        raise
    for note in catalog_file.notes:
        reporter.note(note)
    if not read_loadouts_too:
        if refuse_mistakes and examined.findings:
            raise InvalidFileError(sorted_findings([*examined.findings, *catalog_file.findings]))
        return Project(replace(examined, loadouts=()), catalog_file, name, reporter, folder)
    project = Project(examined, catalog_file, name, reporter, folder)
    try:
        _ = project.catalog_loadouts
    except InvalidFileError as error:
        raise InvalidFileError(_find_others(examined, error, True) or error.findings) from None
    if not refuse_mistakes:
        return project
    pinned = lint_searches(project)
    if examined.findings or pinned:  # with what is wrong about the rest
        raise InvalidFileError(sorted_findings([*project.lint(), *pinned, *catalog_file.findings]))
    return project


def examine_project(
    path: str | os.PathLike[str] = ".", config: str | os.PathLike[str] | None = None
) -> tuple[Config, Path]:
    """What the files of a folder say, with everything wrong with them; no catalog is opened.

    Args:
        path: The folder, or a `toolbelt.yaml` in it.
        config: Another `toolbelt.yaml`.

    Returns:
        The configuration, its catalog as seen from the working directory, and the folder.

    Raises:
        NotFoundError: there is no such folder or file.
        InvalidDefinitionError: the path is no path.
    """
    given: object = path
    if not isinstance(given, str | os.PathLike):
        raise InvalidDefinitionError(f"The path of a project must be text or a path, not {show_value(given)}.")
    folder = Path(path)
    if config is None and folder.is_file():
        folder, config = folder.parent, str(folder.absolute())
    elif not folder.is_dir():
        raise NotFoundError("folder", str(path), [str(entry) for entry in folder.parent.glob("*/")])
    elif config is not None and folder != Path():
        config = str(folder.absolute() / config)
    examined = examine_config(folder.absolute(), config)
    return replace(examined, catalog=_locate(examined.catalog, folder)), folder


def approve_catalog(config: Config, folder: Path, approve: Approve | None = None) -> None:
    """Return only if the catalog that `toolbelt.yaml` names is a file, or code that may be imported (rule M2).

    Args:
        config: The project's files.
        folder: Of the project.
        approve: As for `open_project`.

    Raises:
        ToolbeltError: it is code that is not approved.
    """
    if config.catalog is None or config.path is None or not is_python_reference(config.catalog):
        return
    from toolbelt.project.rankers import require_approval  # few catalogs are code
    from toolbelt.servers.spec import PythonReference

    source, files = shown_path(config.path), (str(config.path.absolute()),)
    spec = PythonReference(config.catalog, str(folder.absolute()), source, files)
    try:
        (approve or partial(require_approval, command="toolbelt catalog stats."))([spec])
    except ToolbeltError as error:
        hint = f"Or name it on the command line, which is consent: --catalog {config.catalog}"
        raise ToolbeltError(f"{error} {hint}") from None


def leave_out_switched_off(project: Project, *, broken_too: bool = False) -> Project:
    """The project without the tools that files of clients switch off now, whatever the last sync knew (rule V7).

    Args:
        project: Whose servers are asked for.
        broken_too: Whether also without those of servers that cannot be read, which cannot be served.
    """
    if not any(plugin.server for plugin in project.catalog.plugins):
        return project
    from toolbelt.mcp.configs.project_servers import explain_broken_servers
    from toolbelt.servers.switches import Switch, leave_out

    switches = {spec.name: spec.switches for spec in project.servers}
    if broken_too:
        switches |= {name: (Switch("", why),) for name, why in explain_broken_servers(project.config).items()}
    catalog = leave_out(project.catalog, switches)
    return replace(project, catalog_file=replace(project.catalog_file, catalog=catalog))


def lint_searches(project: Project) -> tuple[Finding, ...]:
    """What is wrong with the loadouts that searches of a project pin."""
    config = project.config
    if config.document is None or not (config.searches or any(agent.search for agent in config.agents)):
        return ()
    from toolbelt.search.pinned import lint_pinned  # few projects have a search

    of_agents = {agent.name: agent.search for agent in config.agents if agent.search and not config.findings}
    return lint_pinned(config.document, config.searches, of_agents, project.registry)


def _find_others(config: Config, error: ToolbeltError, is_named: bool) -> tuple[Finding, ...] | None:
    """What is wrong with the catalog and with the project's files; `None` if the latter are right, or were not read.

    Args:
        config: The project's files.
        error: What was raised about the catalog.
        is_named: Whether it is the catalog that `toolbelt.yaml` names, or the default one.
    """
    findings = list(config.findings)
    if config.loadouts:
        from toolbelt.loadouts.lint import lint_definitions

        of_catalog = _name_loadouts(error)
        named = (ToolLoadout(name) for name in of_catalog or () if find_name_problem(name) is None)
        registry = ToolLoadoutRegistry((*named, *(written.loadout for written in config.loadouts)))
        definitions = lint_definitions(config.loadouts, registry)
        # Where nothing of the catalog can be read, the parent may be one of its loadouts.
        findings += (each for each in definitions if of_catalog is not None or each.rule != "unknown-parent")
    if isinstance(error, InvalidFileError):
        return sorted_findings([*findings, *error.findings])
    if findings and is_named and config.document is not None:
        return sorted_findings([*findings, config.document.finding("unknown-catalog", str(error), "catalog")])
    return None


def _name_loadouts(error: ToolbeltError) -> tuple[str, ...] | None:
    """What the loadouts of a catalog with mistakes are called; `None` if its file cannot be parsed."""
    if not isinstance(error, InvalidFileError) or error.findings[0].file is None:
        return None
    try:
        data = read_document(error.findings[0].file).data
    except (ToolbeltError, OSError):
        return None
    loadouts = data.get("loadouts") if isinstance(data, dict) else None
    return tuple(name for name in loadouts if isinstance(name, str)) if isinstance(loadouts, dict) else ()


def _locate(catalog: str | None, folder: Path) -> str | None:
    """The catalog that a project names, as seen from the working directory."""
    if catalog is None or find_shipped_catalog(catalog) is not None:
        return catalog
    return shown_path(folder.absolute() / catalog)
