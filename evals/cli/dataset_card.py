"""`toolbelt dataset card`."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolbelt.command.completion import complete_datasets
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.card.card import Card, Content, card_path
from toolbelt.evals.cases.card.check import CardDifference, content_data, count_content, differences
from toolbelt.evals.cases.card.editing import new_card, with_content
from toolbelt.evals.cases.card.likeness import measure_likeness
from toolbelt.evals.cases.card.reader import Examined, examine_card, read_card_text
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cli.dataset_opening import dataset_options, open_with_project
from toolbelt.evals.cli.dataset_views import card_check_view
from toolbelt.evals.cli.options import CommaList
from toolbelt.evals.views.likeness import likeness_blocks, separation_blocks
from toolbelt.render.screen import notify, print_findings, print_json, progress, show_blocks
from toolbelt.stores.catalogs import CASES_FILE
from toolbelt.stores.files import write_text
from toolbelt.views.json_values import to_json

if TYPE_CHECKING:
    from toolbelt.evals.cases.card.separation import Separation


@click.command(
    epilog=examples(
        "toolbelt dataset card ./mine",
        "toolbelt dataset card ./mine --write",
        "toolbelt dataset card ./mine --against logs.jsonl",
    )
)
@click.argument("dataset", shell_complete=complete_datasets)
@option("--write", is_flag=True, help="Bring `content` up to date, or begin a card; the rest stays as it is.")
@option(
    "--against",
    "references",
    type=CommaList(),
    multiple=True,
    metavar="REFERENCE",
    envvar="TOOLBELT_DATASET_CARD_AGAINST",
    help="How well a classifier separates the queries from those of a dataset, a file of cases, or a JSON list of "
    "objects with `query`; again for more.",
)
@dataset_options
@click.pass_context
def card(
    ctx: click.Context,
    dataset: str,
    write: bool,
    references: tuple[str, ...],
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """Hold the card of DATASET, a folder or a shipped name, against what is there: counts by kind, digests.

    Shows beside it how much the queries resemble what people type, which is no part of the card.

    Exit code 0: it agrees, or was written; 1: it does not, or there is none; 2: the card has mistakes.
    """
    opened, _ = open_with_project(dataset, options)
    path = _path(opened)
    counted = count_content(opened, own_catalog=options.catalog is None)
    text = read_card_text(path)
    examined = None if text is None else examine_card(text, str(path), opened)
    current_card = None if examined is None else examined.card
    if write:
        _write(opened, path, text, examined, counted)
        data = {**_data(path, current_card, counted, ()), "written": True}
    else:
        if examined is not None and examined.errors:
            raise InvalidFileError(examined.findings)
        wrong = differences(None if current_card is None else current_card.content, counted)
        data = {**_data(path, current_card, counted, wrong), "written": False}
    if examined is not None:
        print_findings([finding for finding in examined.findings if finding not in examined.errors])
    with progress("reading cases", len(opened)) as advance:
        likeness = measure_likeness(opened, advance)
    separations = _separations(opened, references)
    if as_json:
        print_json({**data, "likeness": to_json(likeness), "against": to_json(separations)})
    else:
        against = separation_blocks(separations) if separations else ()
        show_blocks([*card_check_view(data), *likeness_blocks(likeness), *against])
    ctx.exit(0 if data["agrees"] else 1)


def _separations(dataset: Dataset, references: tuple[str, ...]) -> tuple[Separation, ...]:
    if not references:
        return ()
    from toolbelt.evals.cases.card.separation import STEPS, measure_separation, queries_of, read_queries

    others = [(reference, read_queries(reference)) for reference in references]
    steps = count(1)
    with progress("separating queries", STEPS * len(references)) as advance:
        queries = queries_of(dataset)
        separations = [
            measure_separation(queries, reference, theirs, 0, lambda: advance(next(steps)))
            for reference, theirs in others
        ]
    return tuple(separations)


def _path(dataset: Dataset) -> Path:
    path = card_path(dataset.source)
    if path is None:
        raise ToolbeltError(f"A card stands beside a {CASES_FILE}; {dataset.source} is a file of another name.")
    return path


def _write(dataset: Dataset, path: Path, text: str | None, examined: Examined | None, counted: Content) -> None:
    """Write the counted `content`; raises `InvalidFileError` for mistakes elsewhere in the card."""
    if dataset.is_shipped:
        message = f"{dataset.name!r} is part of toolbelt. If you mean to change it, name its folder: {path.parent}"
        raise ToolbeltError(message)
    if text is None or examined is None:
        write_text(path, new_card(dataset.name, counted), overwrite=False)
        notify(f"began {path}; say there what the dataset is, its licence and how it was made")
        return
    if errors := [finding for finding in examined.errors if finding not in examined.of_content]:
        raise InvalidFileError(errors)
    if differences(examined.card.content, counted) or _lacks_catalog(examined.card.content, counted):
        write_text(path, with_content(text, counted))
        notify(f"brought {path} up to date")
    else:
        notify(f"{path} is up to date")


def _lacks_catalog(written: Content | None, counted: Content) -> bool:
    return written is not None and written.catalog_digest is None and counted.catalog_digest is not None


def _data(path: Path, card: Card | None, counted: Content, wrong: tuple[CardDifference, ...]) -> dict[str, Any]:
    return {
        "card": str(path),
        "exists": card is not None,
        "agrees": not wrong,
        "content": content_data(counted),
        "differences": [
            {"key": difference.key, "written": difference.written, "counted": difference.counted}
            for difference in wrong
        ],
    }
