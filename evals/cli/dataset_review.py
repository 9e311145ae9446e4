"""`toolbelt dataset review`."""

from __future__ import annotations

import json
import sys
from collections import Counter

import click

from toolbelt.command.completion import complete_datasets
from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, gathered
from toolbelt.command.project import ProjectOptions
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.case_file import CaseLine
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cases.layout import LayoutKind
from toolbelt.evals.cases.own_layout import parse_own_case
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.evals.cases.review import DROPPED, accept, change, drop, read_change, read_drafts
from toolbelt.evals.cli.dataset_opening import open_with_project, own_catalog_option
from toolbelt.evals.cli.dataset_show import case_data
from toolbelt.evals.cli.dataset_views import case_view
from toolbelt.render.screen import notify, print_findings, show_blocks
from toolbelt.text import plural

_QUESTION = "[a]ccept, [c]hange, [d]rop, [s]kip, [q]uit"


@click.command(epilog=examples("toolbelt dataset review ./mine"))
@click.argument("dataset", shell_complete=complete_datasets)
@gathered("options", ProjectOptions, (own_catalog_option, config_option))
def review(dataset: str, options: ProjectOptions) -> None:
    """Show the drafts of DATASET, a folder or a file of cases, one by one, and ask what becomes of each.

    Accept takes the mark away, change opens the case in your editor ($EDITOR), drop moves it to dropped.jsonl beside
    the cases, skip leaves it a draft. Each answer is in the file at once: Ctrl-C loses nothing, and the next review
    goes on with the drafts that are left.
    """
    opened, _ = open_with_project(dataset, options)
    source, names, cases = opened.source, CatalogNames(opened.catalog_file.catalog), len(opened)
    _refuse(opened, dataset)
    opened.close()  # its file is replaced below
    drafts = read_drafts(source)
    if not drafts:
        notify(f"no drafts in {source}: {plural(cases, 'case is', 'cases are')} reviewed", "")
        return
    _require_terminal(source, len(drafts))
    done: Counter[str] = Counter()
    try:
        for number, draft in enumerate(drafts, start=1):
            answer = _decide(source, draft, names, f"{number} of {len(drafts)}")
            if answer == "quit":
                break
            done[answer] += 1
    finally:
        left = len(drafts) - done["accepted"] - done["dropped"]
        decided = ", ".join(f"{done[key]:,} {key}" for key in ("accepted", "dropped", "skipped") if done[key])
        notify(f"{decided or 'nothing decided'}; {plural(left, 'draft')} left in {source}", "")


def _refuse(opened: Dataset, reference: str) -> None:
    if opened.is_shipped:
        raise ToolbeltError(f"{reference!r} comes with toolbelt and has no drafts; review a folder of your own.")
    if opened.layout is not LayoutKind.OWN:
        raise ToolbeltError(
            f"{opened.source} has the layout of public data, which has no drafts; lint and run it as it is."
        )


def _require_terminal(source: str, count: int) -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise ToolbeltError(
            f"A review asks at a terminal, and this is none. Review the {plural(count, 'draft')} in {source} in an "
            'editor: remove `"draft": true` from each line that is right, and the lines that are not.'
        )


def _decide(source: str, draft: CaseLine, names: CatalogNames, place: str) -> str:
    """Asks until the draft is accepted, dropped, skipped, or the user quits."""
    while True:
        parsed = parse_own_case(draft.data, names)
        if parsed.case is not None:
            show_blocks(case_view({**case_data(parsed.case), "source": source, "line": draft.number}))
        print_findings(parsed.findings)
        match click.prompt(f"{place}: {_QUESTION}", type=click.Choice(list("acdsq")), show_choices=False, err=True):
            case "a" if parsed.case is not None:
                accept(source, draft)
                return "accepted"
            case "a":
                notify("a case with mistakes is not accepted; change or drop it", "warning")
            case "c":
                draft = _changed(source, draft, names)
            case "d":
                drop(source, draft)
                notify(f"moved to {DROPPED}")
                return "dropped"
            case "s":
                return "skipped"
            case _:
                return "quit"


def _changed(source: str, draft: CaseLine, names: CatalogNames) -> CaseLine:
    """The draft as the user's editor returns it; mistakes are shown, and leave it as it was."""
    shown = {key: value for key, value in draft.data.items() if key != "draft"}
    text = click.edit(json.dumps(shown, ensure_ascii=False, indent=2), extension=".json")
    if text is None or not text.strip():
        notify("nothing was changed")
        return draft
    try:
        row, _ = read_change(text, names)
    except InvalidFileError as error:
        print_findings(error.findings)
        notify("the draft is as it was", "warning")
        return draft
    return change(source, draft, row)
