"""`toolbelt catalog lint`."""

from __future__ import annotations

from dataclasses import replace

import click

from toolbelt.catalog.lint import lint_catalog
from toolbelt.command.findings import exit_code, show_findings
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, source_options
from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, sorted_findings
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.loadouts.lint import lint_catalog_for_loadouts
from toolbelt.project.project import Project
from toolbelt.render.screen import progress


@click.command(epilog=examples("toolbelt catalog lint --catalog tools.json --strict"))
@option("--strict", is_flag=True, help="Exit with 1 when there are warnings.")
@source_options
@click.pass_context
def lint(ctx: click.Context, strict: bool, options: ProjectOptions, as_json: bool) -> None:
    """Everything wrong or doubtful about the tools of a catalog, all at once.

    Exit code 0: no errors; 1: warnings, with --strict; 2: errors.
    """
    try:
        findings = _findings(options.open(read_loadouts_too=False, refuse_mistakes=False))
    except InvalidFileError as error:  # what cannot be read is a finding too
        findings = error.findings
    show_findings(findings, as_json=as_json)
    ctx.exit(exit_code(findings, strict=strict))


def _findings(project: Project) -> tuple[Finding, ...]:
    file = project.catalog_file
    findings = [*project.config.findings, *file.findings]
    with progress("linting tools", len(file.catalog.tools)) as advance:
        for subject, finding in lint_catalog(file.catalog, advance):
            findings.append(replace(finding, file=file.source, line=file.find_line(subject)))
    registry = ToolLoadoutRegistry(written.loadout for written in project.catalog_loadouts)
    for plugin_name, finding in lint_catalog_for_loadouts(file.catalog, registry):
        plugin = file.catalog.find_plugin(plugin_name) if plugin_name else None
        findings.append(replace(finding, file=file.source, line=file.find_line(plugin) if plugin else None))
    return sorted_findings(findings)
