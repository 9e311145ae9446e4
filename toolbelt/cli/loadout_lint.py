"""`toolbelt loadout lint`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import click

from toolbelt.command.findings import exit_code, show_findings
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, source_options
from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, sorted_findings
from toolbelt.loadouts.lint import lint_catalog_for_loadouts
from toolbelt.project.opening import lint_searches
from toolbelt.project.project import Project


@click.command(epilog=examples("toolbelt loadout lint --strict"))
@option("--strict", is_flag=True, help="Exit with 1 when there are warnings.")
@source_options
@click.pass_context
def lint(ctx: click.Context, strict: bool, options: ProjectOptions, as_json: bool) -> None:
    """Everything wrong or doubtful about your loadouts, who is given them, and this catalog's plugins, all at once.

    Exit code 0: no errors; 1: warnings, with --strict; 2: errors.
    """
    try:
        findings = _findings(options.open(refuse_mistakes=False))
    except InvalidFileError as error:  # what cannot be read is a finding too
        findings = error.findings
    show_findings(findings, as_json=as_json)
    ctx.exit(exit_code(findings, strict=strict))


def _findings(project: Project) -> tuple[Finding, ...]:
    catalog, registry = project.catalog, project.registry
    of_catalog = []
    for plugin_name, finding in lint_catalog_for_loadouts(catalog, registry):
        plugin = catalog.find_plugin(plugin_name) if plugin_name else None
        line = project.catalog_file.find_line(plugin) if plugin else None
        of_catalog.append(replace(finding, file=project.catalog_file.source, line=line))
    doubts = project.catalog_file.findings
    return sorted_findings([*project.lint(), *lint_searches(project), *_lint_models(project), *of_catalog, *doubts])


def _lint_models(project: Project) -> Iterable[Finding]:
    """Recommended toolsets in toolbelt.yaml that name a loadout which does not exist."""
    config = project.config
    if config.document is None or not config.own_models:
        return ()
    from toolbelt.models.recommended import lint_recommended

    return lint_recommended(config.document, config.own_models, project.registry)
