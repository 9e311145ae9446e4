"""Opening a dataset with the project around it."""

from __future__ import annotations

from toolbelt.command.options import Command, config_option, json_option, option
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cli.console_reporter import EvalConsoleReporter
from toolbelt.evals.setup import project
from toolbelt.project.project import Project

own_catalog_option = option(
    "--catalog",
    "-c",
    metavar="C",
    help="In place of the dataset's own: a shipped catalog, a dataset folder, or a file.",
)


def dataset_options(command: Command) -> Command:
    """Add `--catalog --config --json` to a command that reads a dataset."""
    for add in (json_option, config_option, own_catalog_option):
        command = add(command)
    return command


def open_with_project(
    reference: str, catalog: str | None, config: str | None, tokenizer: str | None = None
) -> tuple[Dataset, Project]:
    """A dataset with the project around it; notes are shown.

    Args:
        reference: A shipped name, a folder, or a file of cases.
        catalog: Replaces the dataset's own; without it, a dataset that has none uses that of `toolbelt.yaml`.
        config: Path of a `toolbelt.yaml`.
        tokenizer: Counts tokens if a model's own tokenizer is not known.

    Raises:
        ToolbeltError: a file is missing or has mistakes.
    """
    return project.open_with_project(reference, catalog, config, tokenizer, EvalConsoleReporter())
