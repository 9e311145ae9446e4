"""Compare a card with its dataset: count what `content` should say, and list the differences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolbelt.catalog import Catalog
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.card.card import CONTENT_KEYS, Content, card_path
from toolbelt.evals.cases.card.reader import examine_card, read_card_text
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.findings import Finding, Severity


@dataclass(frozen=True)
class CardDifference:
    """A value on which a card and its dataset differ.

    Attributes:
        key: `cases`, `kinds.single`, ...
        written: In the card; `None` where it has none.
        counted: In the dataset; `None` where it has none.
    """

    key: str
    written: str | int | None
    counted: str | int | None

    def __str__(self) -> str:
        written = "nothing" if self.written is None else _short(self.written)
        counted = "there is none" if self.counted is None else f"it is {_short(self.counted)}"
        return f"`content.{self.key}` says {written}, but {counted}"


def count_content(dataset: Dataset, *, own_catalog: bool = True) -> Content:
    """The content that the card of a dataset should state.

    Args:
        dataset: Its cases and catalog are counted.
        own_catalog: Whether its catalog is the one beside the cases, not another one in its place.
    """
    catalog = dataset.catalog_file.catalog
    has_catalog = own_catalog and not dataset.catalog_is_fallback
    return Content(
        cases=len(dataset),
        clusters=dataset.clusters,
        kinds=dict(sorted(dataset.kinds.items())),
        answered_tools=len(dataset.answered),
        digest=dataset.digest,
        catalog_digest=catalog_digest(catalog) if has_catalog else None,
    )


def catalog_digest(catalog: Catalog) -> str:
    """Digest of every tool as a model or a loadout sees it, in any order; 64 hexadecimal digits."""
    lines = []
    for plugin in catalog.plugins:
        for tool in plugin.tools:
            data = [tool.id, plugin.name, plugin.effective_category, tool.name, tool.description, tool.parameters]
            lines.append(json.dumps(data, sort_keys=True, separators=(",", ":")))
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def content_data(content: Content) -> dict[str, Any]:
    """As it is written in a card; `catalog_digest` only where there is one."""
    data = {key: getattr(content, key) for key in CONTENT_KEYS}
    data["kinds"] = dict(content.kinds)
    if content.catalog_digest is None:
        del data["catalog_digest"]
    return data


def differences(written: Content | None, counted: Content) -> tuple[CardDifference, ...]:
    """The differences, key by key; digests of catalogs are compared only where both have one."""
    in_card = dict(_flat(written)) if written is not None else {}
    in_dataset = dict(_flat(counted))
    if written is not None and (written.catalog_digest is None or counted.catalog_digest is None):
        in_card.pop("catalog_digest", None)
        in_dataset.pop("catalog_digest", None)
    keys = dict.fromkeys((*in_dataset, *in_card))
    values = ((key, in_card.get(key), in_dataset.get(key)) for key in keys)
    return tuple(CardDifference(key, written, counted) for key, written, counted in values if written != counted)


def _flat(content: Content) -> Iterator[tuple[str, str | int]]:
    for key, value in content_data(content).items():
        if key == "kinds":
            yield from ((f"kinds.{kind}", count) for kind, count in value.items())
        else:
            yield key, value


def _short(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value[:16]}…"


def lint_card(dataset: Dataset, *, own_catalog: bool) -> Iterator[Finding]:
    """Every mistake of the card, and a warning if it is out of date; nothing where there is no card.

    Args:
        dataset: Of the card.
        own_catalog: Whether its catalog is the one beside the cases, not another one in its place.
    """
    path = card_path(dataset.source)
    if path is None:
        return
    try:
        text = read_card_text(path)
        if text is None:
            return
        examined = examine_card(text, str(path), dataset)
    except InvalidFileError as error:
        yield from error.findings
        return
    yield from examined.findings
    if examined.of_content:
        return
    if stale := differences(examined.card.content, count_content(dataset, own_catalog=own_catalog)):
        more = f", and {len(stale) - 3:,} more" if len(stale) > 3 else ""
        message = f"{'; '.join(map(str, stale[:3]))}{more}. `toolbelt dataset card --write` brings it up to date."
        line = examined.document.find_line("content")
        yield Finding("card-stale", Severity.WARNING, message, str(path), line)
