"""Opening a catalog by whatever a user calls it."""

from __future__ import annotations

import os
from pathlib import Path

from toolbelt.catalog.reader import CatalogFile, parse_catalog
from toolbelt.documents import read_document, read_text
from toolbelt.errors import NotFoundError, nearest
from toolbelt.stores.shipped import find_shipped_catalog, shipped_catalogs


def open_catalog(reference: str) -> CatalogFile:
    """A shipped catalog by name, or a file of any format that can be imported.

    Raises:
        NotFoundError: neither, with the nearest names.
        InvalidFileError: every mistake in the file.
    """
    path = find_shipped_catalog(reference)
    if path is not None and not os.path.lexists(reference):
        return parse_catalog(read_document(path))
    if path is not None and Path(reference).is_dir():
        return parse_catalog(read_document(path))
    file = _catalog_in(Path(reference))
    if not file.exists():
        raise NotFoundError("catalog", reference, _candidates(Path(reference)))
    from toolbelt.importers import import_catalog  # only a user's own file may need it

    made, label = import_catalog(read_text(file), str(file))
    if label == "toolbelt catalog":
        return made
    note = f"read {file} as {label}"
    return CatalogFile(made.catalog, made.source, (note, *made.notes), made.document, made.lines, made.places)


def _catalog_in(path: Path) -> Path:
    """The catalog of a dataset folder, or `path` itself."""
    if path.is_dir():
        for name in ("catalog.json", "catalog.jsonl", "catalog.yaml"):
            if (path / name).is_file():
                return path / name
    return path


def _candidates(path: Path) -> tuple[str, ...]:
    shipped = shipped_catalogs()
    try:
        beside = [str(path.parent / entry.name) for entry in path.parent.iterdir()]
    except (OSError, ValueError):  # the latter for a NUL in the name
        beside = []
    close = nearest(str(path), beside)
    return (*shipped, *close)
