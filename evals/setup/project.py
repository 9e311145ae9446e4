"""A dataset with the project around it."""

from __future__ import annotations

from pathlib import Path

from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, ProjectNotes, RunNote
from toolbelt.project.opening import examine_project
from toolbelt.project.project import Project
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, make_counter
from toolbelt.stores.catalogs import open_catalog


def open_with_project(
    dataset: str,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    reporter: EvalReporter,
    around: Project | Path | None = None,
) -> tuple[Dataset, Project]:
    """A dataset with the project around it; see `toolbelt.evals.setup.inputs.open_inputs`."""
    if isinstance(around, Project):
        if config is not None:
            raise ToolbeltError(f"{around!r} has a configuration; leave out {config!r}, or open the project with it.")
        examined, own_tokenizer = around.config, around.tokenizer
        fallback: str | None = around.catalog_file.source
    else:
        examined, _ = examine_project(around or Path(), config)
        own_tokenizer, fallback = examined.tokenizer or DEFAULT_TOKENIZER, examined.catalog
    examined.refuse()
    counter = tokenizer or own_tokenizer
    make_counter(counter)  # an unknown name is refused before anything is read
    catalog_file = None if catalog is None else open_catalog(catalog)
    with reporter.progress("reading cases", None) as advance:
        opened = open_dataset(dataset, catalog=catalog_file, fallback_catalog=fallback, progress=advance)
    for text in (*opened.catalog_file.notes, *opened.notes):
        reporter.note(RunNote(NoteKind.DATASET, text, (dataset,)))
    return opened, Project(examined, opened.catalog_file, counter, ProjectNotes(reporter))
