"""Opening a dataset with the project around it."""

from __future__ import annotations

from pathlib import Path

from toolbelt.command.options import Command, config_option, json_option, option
from toolbelt.console.screen import notify, progress
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.project.workspace import Workspace
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, make_counter
from toolbelt.stores.catalogs import open_catalog
from toolbelt.stores.config import examine_config

own_catalog_option = option(
    "--catalog",
    "-c",
    metavar="C",
    help="In place of the dataset's own: a shipped catalog, a dataset folder, or a file.",
)


def dataset_options(command: Command) -> Command:
    """`--catalog --config --json`, for what looks at a dataset."""
    for add in (json_option, config_option, own_catalog_option):
        command = add(command)
    return command


def open_with_project(
    reference: str, catalog: str | None, config: str | None, tokenizer: str | None = None
) -> tuple[Dataset, Workspace]:
    """A dataset with the project around it; notes are told.

    Args:
        reference: A shipped name, a folder, or a file of cases.
        catalog: Takes the place of the dataset's own; where it has none, `toolbelt.yaml`'s does too.
        config: Of a `toolbelt.yaml`.
        tokenizer: What counts where a model's own is not known.

    Raises:
        ToolbeltError: anything that is not there or is wrong.
    """
    found = examine_config(Path.cwd(), config)
    found.refuse()
    name = tokenizer or found.tokenizer or DEFAULT_TOKENIZER
    make_counter(name)  # an unknown name is refused before anything is read
    given = None if catalog is None else open_catalog(catalog)
    with progress("reading cases", None) as advance:
        opened = open_dataset(reference, catalog=given, fallback_catalog=found.catalog, progress=advance)
    for note in (*opened.catalog_file.notes, *opened.notes):
        notify(note)
    return opened, Workspace(found, opened.catalog_file, name)
