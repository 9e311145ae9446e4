"""`toolbelt loadout lint`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import click

from toolbelt.cli.groups import examples
from toolbelt.cli.options import option, source_options
from toolbelt.cli.workspace import Workspace, open_workspace
from toolbelt.console.catalog_views import findings_view
from toolbelt.console.screen import print_json, show_view
from toolbelt.errors import InvalidFileError
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.loadouts.lint import lint_catalog_for_loadouts


@click.command(epilog=examples("toolbelt loadout lint --strict"))
@option("--strict", is_flag=True, help="Exit with 1 when there are warnings.")
@source_options
@click.pass_context
def lint(ctx: click.Context, strict: bool, catalog: str | None, config: str | None, as_json: bool) -> None:
    """Everything wrong or doubtful about your loadouts, who is given them, and this catalog's plugins, all at once.

    Exit code 0: no errors; 1: warnings, with --strict; 2: errors.
    """
    try:
        findings = _findings(open_workspace(catalog, config))
    except InvalidFileError as error:  # what cannot be read is a finding too
        findings = error.findings
    show_findings(findings, as_json=as_json)
    ctx.exit(exit_code(findings, strict=strict))


def show_findings(findings: tuple[Finding, ...], *, as_json: bool, about: Mapping[str, object] | None = None) -> None:
    """Findings as a table or as JSON, there with what else is to be known `about` the thing looked at."""
    if not as_json:
        show_view(findings_view(findings), whole_lines=True)
        return
    rows = [
        {"rule": f.rule, "severity": f.severity.value, "file": f.file, "line": f.line, "message": f.message}
        for f in findings
    ]
    print_json({**(about or {}), "findings": rows})


def exit_code(findings: tuple[Finding, ...], *, strict: bool) -> int:
    """2 for errors, 1 for warnings where they count, else 0."""
    if any(finding.severity is Severity.ERROR for finding in findings):
        return 2
    return 1 if strict and findings else 0


def _findings(workspace: Workspace) -> tuple[Finding, ...]:
    catalog, registry = workspace.catalog, workspace.registry
    of_catalog = []
    for plugin_name, finding in lint_catalog_for_loadouts(catalog, registry):
        plugin = catalog.find_plugin(plugin_name) if plugin_name else None
        line = workspace.catalog_file.find_line(plugin) if plugin else None
        of_catalog.append(replace(finding, file=workspace.catalog_file.source, line=line))
    return sorted_findings([*workspace.lint(), *_lint_models(workspace), *of_catalog])


def _lint_models(workspace: Workspace) -> Iterable[Finding]:
    """Loadouts that models of toolbelt.yaml are to be given and that there are not."""
    config = workspace.config
    if config.document is None or not config.own_models:
        return ()
    from toolbelt.models.given_choice import lint_given  # most projects say nothing of their models

    return lint_given(config.document, config.own_models, workspace.registry)
