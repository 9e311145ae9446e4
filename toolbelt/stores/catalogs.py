"""The catalogs and datasets that come with toolbelt, and opening a catalog by name or path."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from toolbelt.catalog import Catalog
from toolbelt.catalog.reader import CatalogFile, parse_catalog
from toolbelt.errors import NotFoundError, ToolbeltError, nearest
from toolbelt.patterns import is_python_reference
from toolbelt.sources import read_text
from toolbelt.sources.json_text import parse_json
from toolbelt.stores.files import shown_path, write_text

CATALOG_FILE = "catalog.json"
CASES_FILE = "cases.jsonl"
DEFAULT_CATALOG = "assistant"
LARGE = 2_000_000
"""Characters from which on a file is kept as it was read, some 4,000 tools: smaller ones are read in no time."""
_NAME = re.compile(r"[A-Za-z]\w*(-\w+)*")


def datasets_folder() -> Path:
    """Where the shipped datasets are: inside an installed package, beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "_datasets"
    return installed if installed.is_dir() else package.parent / "datasets"


def shipped_catalogs() -> tuple[str, ...]:
    """Names of the shipped catalogs."""
    folder = datasets_folder()
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{CATALOG_FILE}")))


def shipped_datasets() -> tuple[str, ...]:
    """Names of the shipped datasets; several may be over one catalog."""
    return tuple(sorted(path.parent.name for path in datasets_folder().glob(f"*/{CASES_FILE}")))


def datasets_here() -> tuple[str, ...]:
    """The folders of the working directory that have cases, as paths that no shipped name is taken for."""
    with os.scandir() as entries:
        return tuple(sorted(f"./{entry.name}" for entry in entries if (Path(entry) / CASES_FILE).is_file()))


def find_shipped_catalog(name: str) -> Path | None:
    """The file of a shipped catalog; `None` if there is none of that name."""
    return _find(name, CATALOG_FILE)


def find_shipped_dataset(name: str) -> Path | None:
    """The cases of a shipped dataset; `None` if there is none of that name."""
    return _find(name, CASES_FILE)


def _find(name: str, file: str) -> Path | None:
    if not _NAME.fullmatch(name):
        return None
    path = datasets_folder() / name / file
    return path if os.path.isfile(path) else None  # noqa: PTH113  a name too long for the system is not there


CATALOG_FILES = ("catalog.json", "catalog.jsonl", "catalog.yaml")
"""What the catalog of a dataset folder may be called; the first that is there counts."""


def open_catalog(reference: str, *, may_import: bool = False) -> CatalogFile:
    """A shipped catalog by name, a file of any format that can be imported, or Python code that has tools.

    A tool of a foreign format that cannot be read is left out with a note (rule V6); a catalog of our own form and JSON
    Lines are read whole or not at all.

    Args:
        reference: Its name, path, or `module:attribute`, `file.py` or `file.py:attribute`.
        may_import: Whether Python code may be imported, which runs it: the user named it, or approved it.

    Raises:
        ToolbeltError: it is Python code that may not be imported, or that cannot be.
        NotFoundError: neither, with the nearest names.
        InvalidFileError: every mistake in the file.
    """
    path = find_shipped_catalog(reference)
    # os.path rather than pathlib: a name the system refuses outright is simply not there.
    if path is not None and not os.path.isfile(reference):  # noqa: PTH113
        source = shown_path(path)
        return _parse_shipped(read_text(source), str(source))
    if is_python_reference(reference):
        return _import_python(reference, may_import=may_import)
    file = _catalog_in(Path(reference))
    if not os.path.exists(file):  # noqa: PTH110
        raise NotFoundError("catalog", reference, _candidates(Path(reference)))
    from toolbelt.importers.formats import LINES_LABEL, import_catalog  # only a user's own file may need it

    text = read_text(file)
    if len(text) < LARGE:
        catalog_file, label = import_catalog(text, str(file))
    else:
        from toolbelt.stores.stored_catalogs import read_through_cache  # few are so large

        catalog_file, label = read_through_cache(text, str(file), lambda: import_catalog(text, str(file)))
    if label == LINES_LABEL:
        catalog_file.refuse()
    if label == "toolbelt catalog":
        return catalog_file
    left_out = (f"left out: {finding}" for finding in catalog_file.left_out)
    return replace(catalog_file, notes=(f"read {file} as {label}", *catalog_file.notes, *left_out))


def _import_python(reference: str, *, may_import: bool) -> CatalogFile:
    if not may_import:
        raise ToolbeltError(
            f"{reference} is Python code, which is imported only where it is named on the command line or in "
            f"toolbelt.yaml: --catalog {reference}; or write a catalog: toolbelt catalog import {reference} -o FILE"
        )
    from toolbelt.importers.python_tools import LABEL, load_python_tools  # few catalogs are code
    from toolbelt.servers.spec import PythonReference

    file = load_python_tools(PythonReference(reference, os.getcwd(), "--catalog")).file  # noqa: PTH109
    left_out = (f"left out: {finding}" for finding in file.left_out)
    return replace(file, notes=(f"read {reference} as {LABEL}", *file.notes, *left_out))


@lru_cache(maxsize=4)
def _parse_shipped(text: str, source: str) -> CatalogFile:
    return replace(parse_catalog(parse_json(text, source), Catalog), is_shipped=True)


def write_catalog(catalog: Catalog, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Write a catalog whole or not at all.

    Args:
        catalog: Written in toolbelt's own form.
        path: Ending in `.json`, `.yaml` or `.yml`, which says how.
        overwrite: Whether a file that is there may be replaced.

    Raises:
        ToolbeltError: another ending, or the file is there and may not be replaced.
        StorageError: the disk would not.
    """
    path = os.fspath(path)
    if not path.lower().endswith((".json", ".yaml", ".yml")):
        raise ToolbeltError(f"The ending of {path!r} must say how to write it: .json, .yaml or .yml.")
    from toolbelt.catalog.files import format_catalog  # reading alone must not pay for it

    syntax = "json" if path.lower().endswith(".json") else "yaml"
    write_text(path, format_catalog(catalog, syntax), overwrite=overwrite)


def _catalog_in(path: Path) -> Path:
    """The catalog of a dataset folder, or `path` itself."""
    if os.path.isdir(path):  # noqa: PTH112
        for name in CATALOG_FILES:
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
