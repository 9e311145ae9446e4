"""Opening a dataset with the project around it."""

from __future__ import annotations

from toolbelt.command.options import config_option, gathered, json_option, option
from toolbelt.command.project import ProjectOptions
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cli.console_reporter import EvalConsoleReporter
from toolbelt.evals.setup import project
from toolbelt.project.project import Project

own_catalog_option = option(
    "--catalog",
    "-c",
    metavar="C",
    help="In place of the dataset's own: a shipped catalog, a dataset folder, a file, or Python code to import, as "
    "tools.py or module:attribute.",
)

dataset_options = gathered("options", ProjectOptions, (own_catalog_option, config_option, json_option))
"""`--catalog --config --json`, for what reads a dataset: the command gets `options: ProjectOptions` and `as_json`."""


def open_with_project(reference: str, options: ProjectOptions) -> tuple[Dataset, Project]:
    """A dataset with the project around it; notes are shown.

    Args:
        reference: A shipped name, a folder, or a file of cases.
        options: A catalog replaces the dataset's own; without it, a dataset that has none uses that of `toolbelt.yaml`.

    Raises:
        ToolbeltError: a file is missing or has mistakes.
    """
    return project.open_with_project(
        reference, options.catalog, options.config, options.tokenizer, EvalConsoleReporter()
    )
