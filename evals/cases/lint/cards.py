"""What is wrong with the card of a dataset, or no longer so."""

from __future__ import annotations

from collections.abc import Iterator

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.card.card import card_path
from toolbelt.evals.cases.card.content import count_content, differences
from toolbelt.evals.cases.card.reading import examine_card, read_card_text
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.findings import Finding, Severity


def lint_card(dataset: Dataset, *, own_catalog: bool = True) -> Iterator[Finding]:
    """Every mistake of the card, and that it does not say what is so; nothing where there is none.

    Args:
        dataset: Opened.
        own_catalog: Whether its catalog is the one beside the cases; with another, what is counted differs.
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
    if wrong := differences(examined.card.content, count_content(dataset, own_catalog=own_catalog)):
        more = f", and {len(wrong) - 3:,} more" if len(wrong) > 3 else ""
        message = f"{'; '.join(map(str, wrong[:3]))}{more}. `toolbelt dataset card --write` brings it up to date."
        line = examined.document.find_line("content")
        yield Finding("card-stale", Severity.WARNING, message, str(path), line)
