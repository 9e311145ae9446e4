"""`toolbelt dataset`: cases to try toolsets on."""

from __future__ import annotations

import click

from toolbelt.command.groups import LazyGroup, examples


@click.group(
    cls=LazyGroup,
    entries={
        "list": ("toolbelt.evals.cli.dataset_show:list_datasets", "The shipped datasets, or those you name."),
        "show": ("toolbelt.evals.cli.dataset_show:show", "What a dataset holds, or one case whole."),
        "lint": ("toolbelt.evals.cli.dataset_lint:lint", "What is wrong or doubtful about the cases."),
        "card": ("toolbelt.evals.cli.dataset_card:card", "Bring a dataset's card up to date, or begin one."),
        "import": (
            "toolbelt.evals.cli.dataset_import:import_command",
            "Cases from logs, transcripts and other harnesses.",
        ),
        "generate": ("toolbelt.evals.cli.dataset_generate:generate", "Drafts of cases, by a model, for you to review."),
        "split": ("toolbelt.evals.cli.dataset_split:split", "Hold a part of the cases out."),
    },
    epilog=examples("toolbelt dataset show assistant"),
)
def dataset() -> None:
    """Cases to try toolsets on: list, show, lint, card, import, generate, split."""
