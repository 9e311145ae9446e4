"""`toolbelt dataset lint`."""

from __future__ import annotations

import click

from toolbelt.cli.groups import examples
from toolbelt.cli.loadout_lint import exit_code, show_findings
from toolbelt.cli.options import option
from toolbelt.console.screen import progress
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.lint import lint_dataset
from toolbelt.evals.cli.dataset_opening import dataset_options, open_with_project
from toolbelt.findings import Finding, sorted_findings


@click.command(epilog=examples("toolbelt dataset lint ./mine --strict"))
@click.argument("dataset")
@option("--strict", is_flag=True, help="Exit with 1 when there are warnings.")
@dataset_options
@click.pass_context
def lint(
    ctx: click.Context, dataset: str, strict: bool, catalog: str | None, config: str | None, as_json: bool
) -> None:
    """Everything wrong or doubtful about the cases of DATASET, a shipped name, a folder or a file, all at once.

    Exit code 0: no errors; 1: warnings, with --strict; 2: errors.
    """
    try:
        findings = _findings(dataset, catalog, config)
    except InvalidFileError as error:  # what cannot be read is a finding too
        findings = error.findings
    show_findings(findings, as_json=as_json)
    ctx.exit(exit_code(findings, strict=strict))


def _findings(reference: str, catalog: str | None, config: str | None) -> tuple[Finding, ...]:
    dataset, workspace = open_with_project(reference, catalog, config)
    with progress("linting cases", len(dataset)) as advance:
        found = tuple(lint_dataset(dataset, workspace.registry, advance))
    return sorted_findings([*dataset.warnings, *found])
