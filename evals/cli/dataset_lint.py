"""`toolbelt dataset lint`."""

from __future__ import annotations

import click

from toolbelt.command.completion import complete_datasets
from toolbelt.command.findings import exit_code, show_findings
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.dataset import Dataset, detect_layout
from toolbelt.evals.cases.layout import LayoutKind
from toolbelt.evals.cases.lint.lint import lint_dataset
from toolbelt.evals.cli.dataset_opening import dataset_options, open_with_project
from toolbelt.findings import Finding, sorted_findings
from toolbelt.project.project import Project
from toolbelt.render.screen import notify, progress


@click.command(epilog=examples("toolbelt dataset lint ./mine --strict"))
@click.argument("dataset", shell_complete=complete_datasets)
@option("--strict", is_flag=True, help="Exit with 1 when there are warnings.")
@dataset_options
@click.pass_context
def lint(ctx: click.Context, dataset: str, strict: bool, options: ProjectOptions, as_json: bool) -> None:
    """Everything wrong or doubtful about DATASET, a shipped name, a folder or a file, all at once.

    The cases one by one and together, the twins among the tools they are over, and the card.

    Exit code 0: no errors; 1: warnings, with --strict; 2: errors.
    """
    try:
        opened, project = open_with_project(dataset, options)
        form: LayoutKind | None = opened.layout
        findings = _findings(opened, project, own_catalog=options.catalog is None)
        complete = True
    except InvalidFileError as error:  # what cannot be read is a finding too
        form, findings, complete = detect_layout(dataset), error.findings, False
    if form is not None and not as_json:
        notify(f"layout: {form.description}")
    if not complete and not as_json:
        notify(
            "what cannot be read comes first: repeats, roles, arguments, twins and the card were not looked at",
            "warning",
        )
    show_findings(
        findings, as_json=as_json, about={"layout": None if form is None else form.value, "complete": complete}
    )
    ctx.exit(exit_code(findings, strict=strict))


def _findings(dataset: Dataset, project: Project, *, own_catalog: bool) -> tuple[Finding, ...]:
    with progress("linting cases", len(dataset)) as advance:
        findings = tuple(lint_dataset(dataset, project.registry, advance, own_catalog=own_catalog))
    return sorted_findings([*dataset.warnings, *findings])
