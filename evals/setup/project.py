"""A dataset with the project around it."""

from __future__ import annotations

import hashlib
import io
import os
import shlex
from pathlib import Path

from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.cases.imports.formats import is_foreign
from toolbelt.evals.cases.imports.importer import import_cases
from toolbelt.evals.cases.location import find_dataset
from toolbelt.evals.running.store import DEFAULT_FILE
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, ProjectNotes, RunNote
from toolbelt.patterns import is_python_reference
from toolbelt.project.opening import approve_catalog, examine_project
from toolbelt.project.project import Project
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER, make_counter
from toolbelt.stores.catalogs import CATALOG_FILES, open_catalog
from toolbelt.text import plural


def open_with_project(
    dataset: str,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    reporter: EvalReporter,
    around: Project | Path | None = None,
) -> tuple[Dataset, Project]:
    """A dataset with the project around it; see `toolbelt.evals.setup.inputs.open_inputs`.

    A file of another format is imported first, into a folder below `.toolbelt/datasets`, with its catalog beside it.
    """
    if isinstance(around, Project):
        if config is not None:
            raise ToolbeltError(f"{around!r} has a configuration; leave out {config!r}, or open the project with it.")
        examined, own_tokenizer = around.config, around.tokenizer
        fallback: str | None = around.catalog_file.source
    else:
        examined, folder = examine_project(around or Path(), config)
        own_tokenizer, fallback = examined.tokenizer or DEFAULT_TOKENIZER, examined.catalog
        if catalog is None and is_python_reference(fallback or "") and _has_no_catalog(dataset):
            approve_catalog(examined, folder)
    examined.refuse()
    counter = tokenizer or own_tokenizer
    make_counter(counter)  # an unknown name is refused before anything is read
    catalog_file = None if catalog is None else open_catalog(catalog, may_import=True)
    named = dataset
    if is_foreign(dataset):
        dataset = _import(dataset, catalog_file, fallback, reporter)
        catalog_file = fallback = None
    with reporter.progress("reading cases", None) as advance:
        opened = open_dataset(dataset, catalog=catalog_file, fallback_catalog=fallback, progress=advance)
    for text in (*opened.catalog_file.notes, *opened.notes):
        reporter.note(RunNote(NoteKind.DATASET, text, (named,)))
    return opened, Project(examined, opened.catalog_file, counter, ProjectNotes(reporter))


def _has_no_catalog(dataset: str) -> bool:
    return is_foreign(dataset) or find_dataset(dataset).catalog is None


def _import(source: str, catalog: CatalogFile | None, fallback: str | None, reporter: EvalReporter) -> str:
    """The folder of a dataset that is made of a file of another format.

    Args:
        source: The file.
        catalog: That was named, in place of the tools in the file.
        fallback: The project's, for a file without tools that has no catalog beside it.
        reporter: Gets how the file was read, and what was left out.

    Raises:
        InvalidFileError: nothing of it can be read, or there is no catalog.
    """
    whole = os.path.realpath(source)
    digest = hashlib.sha256(whole.encode(errors="surrogateescape")).hexdigest()[:8]
    folder = str(DEFAULT_FILE.parent / "datasets" / digest / (Path(source).name.split(".")[0] or "cases"))

    def beside() -> CatalogFile | None:
        nonlocal catalog
        path = next((path for name in CATALOG_FILES if (path := Path(whole).with_name(name)).is_file()), None)
        if path is not None or fallback is not None:
            catalog = open_catalog(fallback or "" if path is None else str(path), may_import=path is None)
        return catalog

    with reporter.progress("reading records, twice", None) as advance:
        result = import_cases(
            *([source], folder),
            standard_input=io.BytesIO(),
            catalog=catalog,
            fallback=beside,
            overwrite=True,
            progress=advance,
        )
    keep = f"to keep and change it: toolbelt dataset import {shlex.quote(source)} -o FOLDER"
    notes = (*(() if catalog is None else catalog.notes), *result.notes, result.redaction, f"{result.summary}; {keep}")
    for text in filter(None, notes):
        reporter.note(RunNote(NoteKind.DATASET, text, (source,)))
    for reason, count in result.left_out.items():
        first = next((line for line in result.lines if line.reason == reason), None)
        where = (
            "" if first is None else f"; first {first.source}:{first.line}{f', {first.detail}' * bool(first.detail)}"
        )
        text = f"left out {plural(count, 'time')}: {reason}{where}"
        reporter.note(RunNote(NoteKind.DATASET, text, (source,), is_warning=True))
    return folder
