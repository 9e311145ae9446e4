"""The catalogs and datasets that come with toolbelt, wherever it is installed."""

from __future__ import annotations

import os
from pathlib import Path

CATALOG_FILE = "catalog.json"
CASES_FILE = "cases.jsonl"
DEFAULT_CATALOG = "assistant"


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
    """Names of the shipped catalogs that have cases."""
    return tuple(name for name in shipped_catalogs() if find_shipped_dataset(name) is not None)


def find_shipped_catalog(name: str) -> Path | None:
    """The file of a shipped catalog; `None` if there is none of that name."""
    return _find(name, CATALOG_FILE)


def find_shipped_dataset(name: str) -> Path | None:
    """The cases of a shipped dataset; `None` if there is none of that name."""
    return _find(name, CASES_FILE)


def _find(name: str, file: str) -> Path | None:
    if not name.isidentifier():
        return None
    path = datasets_folder() / name / file
    return path if os.path.isfile(path) else None  # noqa: PTH113  a name too long for the system is not there
