"""Where a dataset is: its file of cases, and the catalog that they are over."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from toolbelt.errors import InvalidFileError, NotFoundError, nearest
from toolbelt.evals.cases.card.card import card_path
from toolbelt.evals.cases.card.reader import read_card_text
from toolbelt.evals.cases.layout import IMPORTED_CATALOG
from toolbelt.findings import Finding, Severity
from toolbelt.sources import parse_yaml
from toolbelt.sources.document import describe_value
from toolbelt.stores.catalogs import (
    CASES_FILE,
    CATALOG_FILES,
    find_shipped_catalog,
    find_shipped_dataset,
    shipped_datasets,
)
from toolbelt.stores.files import shown_path
from toolbelt.stores.prompts import read_prompt


@dataclass(frozen=True, slots=True)
class Location:
    """Where the cases of a dataset are.

    Attributes:
        name: For people.
        reference: Opens it from any working directory.
        source: The file of cases, as the user wrote it.
        catalog: For `open_catalog`; `None` where there is no catalog.
        has_imported_catalog: Whether the catalog beside the cases is a `catalog.jsonl`.
        system: The system prompt of cases that have none, by the card; empty for none.
    """

    name: str
    reference: str
    source: str
    catalog: str | None
    has_imported_catalog: bool = False
    system: str = ""


def find_dataset(reference: str) -> Location:
    """Where a dataset and its catalog are.

    Args:
        reference: The name of a shipped dataset, a folder of cases with their catalog, or a file of cases.

    Raises:
        NotFoundError: no such dataset, with the nearest names.
        InvalidFileError: a folder without cases, or a card that cannot be parsed.
    """
    # os.path rather than pathlib: a name the system refuses outright is simply not there.
    is_folder = os.path.isdir(reference)  # noqa: PTH112
    source = str(Path(reference) / CASES_FILE) if is_folder else reference
    has_cases = os.path.exists(source)  # noqa: PTH110
    shipped = find_shipped_dataset(reference)
    if shipped is not None and not has_cases:
        catalog, system = _read_card(shipped)
        catalog = reference if find_shipped_catalog(reference) else catalog
        return Location(reference, reference, shown_path(shipped), catalog, system=system)
    if is_folder and not has_cases:
        message = f"There is no {CASES_FILE} in this folder, so it is no dataset."
        raise InvalidFileError([Finding("no-cases", Severity.ERROR, message, reference)])
    file = Path(source)
    if not has_cases:
        raise NotFoundError("dataset", reference, (*shipped_datasets(), *nearest(reference, _names_beside(file))))
    whole = file.resolve()
    name = whole.parent.name if file.name == CASES_FILE else whole.stem
    beside = next((known for known in CATALOG_FILES if (file.parent / known).is_file()), None)
    catalog, system = _read_card(file)
    return Location(
        name or "cases",
        str(Path(reference).resolve()),
        str(file),
        catalog if beside is None else str(file.parent),
        beside == IMPORTED_CATALOG,
        system,
    )


def _read_card(cases: Path) -> tuple[str | None, str]:
    """What the card beside the cases names as their catalog, for `open_catalog`, and as their system prompt.

    Raises:
        InvalidFileError: the card cannot be parsed, or one of these is no text.
        NotFoundError: the file of the system prompt is not there.
    """
    path = card_path(str(cases))
    text = None if path is None else read_card_text(path)
    if path is None or text is None or not isinstance(data := parse_yaml(text, str(path)).data, dict):
        return None, ""
    for key, wanted in (("catalog", "the name of a shipped catalog, or a path"), ("system", "a text, or a file of it")):
        if not isinstance(data.get(key) or "", str):
            message = f"`{key}` must be {wanted}, not {describe_value(data[key])}."
            raise InvalidFileError([Finding("wrong-type", Severity.ERROR, message, str(path))])
    catalog, system = data.get("catalog") or None, read_prompt(data.get("system") or "", path.parent)
    if catalog is not None and not find_shipped_catalog(catalog):
        catalog = str(path.parent / catalog)
    return catalog, system


def _names_beside(path: Path) -> tuple[str, ...]:
    try:
        return tuple(str(path.parent / entry.name) for entry in path.parent.iterdir())
    except (OSError, ValueError):  # the latter for a NUL in the name
        return ()
