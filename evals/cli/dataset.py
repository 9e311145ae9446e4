"""`toolbelt dataset`: cases to try toolsets on."""

from __future__ import annotations

import click

from toolbelt.cli.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.evals.cli.dataset_show:list_datasets", "The shipped datasets, or those you name."),
        "show": ("toolbelt.evals.cli.dataset_show:show", "What a dataset holds, or one case whole."),
        "lint": ("toolbelt.evals.cli.dataset_lint:lint", "What is wrong or doubtful about the cases."),
    },
    epilog=examples("toolbelt dataset show assistant"),
)
def dataset() -> None:
    """Cases to try toolsets on: list, show, lint."""
