"""A dataset with the project around it."""

from __future__ import annotations

from pathlib import Path

from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, ProjectNotes, RunNote
from toolbelt.project.project import Project
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, make_counter
from toolbelt.stores.catalogs import open_catalog
from toolbelt.stores.config import examine_config


def open_with_project(
    dataset: str, catalog: str | None, config: str | None, tokenizer: str | None, reporter: EvalReporter
) -> tuple[Dataset, Project]:
    """A dataset with the project around it; see `toolbelt.evals.setup.inputs.open_inputs`."""
    examined = examine_config(Path.cwd(), config)
    examined.refuse()
    counter = tokenizer or examined.tokenizer or DEFAULT_TOKENIZER
    make_counter(counter)  # an unknown name is refused before anything is read
    given = None if catalog is None else open_catalog(catalog)
    with reporter.progress("reading cases", None) as advance:
        opened = open_dataset(dataset, catalog=given, fallback_catalog=examined.catalog, progress=advance)
    for text in (*opened.catalog_file.notes, *opened.notes):
        reporter.note(RunNote(NoteKind.DATASET, text, (dataset,)))
    return opened, Project(examined, opened.catalog_file, counter, ProjectNotes(reporter))
