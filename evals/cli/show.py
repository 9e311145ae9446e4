"""`toolbelt eval list` and `show`."""

from __future__ import annotations

from pathlib import Path

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option
from toolbelt.console.screen import make_screen, notify, print_json, show_view
from toolbelt.console.tables import fitted_table
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.cli.options import store_option
from toolbelt.evals.cli.shown import show_run
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.text import visible


@click.command("list", epilog=examples("toolbelt eval list"))
@store_option
@json_option
def list_runs(store: str, as_json: bool) -> None:
    """The runs that are kept, the latest first: what they asked, and how far they came."""
    with RunStore(Path(store), must_exist=True) as opened:
        rows = [(row, opened.find_status(row)) for row in opened.runs()]
    if as_json:
        print_json({"runs": [_data(row, status) for row, status in rows]})
        return
    if not rows:
        notify("nothing has been run here yet; try: toolbelt eval run")
        return
    screen = make_screen()
    cells = [
        (
            row.run,
            status,
            f"{row.finished:,}/{row.plan.size:,}",
            visible(row.plan.dataset_name),
            str(len(row.plan.arms)),
            visible(", ".join(dict.fromkeys(arm.label for arm in row.plan.arms))),
        )
        for row, status in rows
    ]
    show_view(fitted_table(screen, ("run", "status", "trials", "dataset", "arms", "what"), cells, right=(2, 4)), screen)


@click.command(epilog=examples("toolbelt eval show", "toolbelt eval show latest --case single-git-blame-1"))
@click.argument("name", metavar="[RUN]", default="latest")
@option(
    "--case",
    "case",
    metavar="ID",
    help="One case: what it asked, what each arm was shown and called, and why it scored so.",
)
@store_option
@json_option
def show(name: str, case: str | None, store: str, as_json: bool) -> None:
    """What RUN (an id, the beginning of one, or `latest`) came to: every arm's measures, as far as the run has come."""
    with RunStore(Path(store), must_exist=True) as opened:
        row = opened.get(name)
        if case is not None:
            from toolbelt.evals.cli.case_view import case_data, case_view

            data = case_data(opened, row, case)
            if as_json:
                print_json(data)
            else:
                show_view(case_view(data))
            return
        summary = summarize(opened.connection, row.run, opened.find_status(row))
        show_run(opened, summary, as_json=as_json)


def _data(row: RunRow, status: str) -> dict[str, object]:
    return {
        "run": row.run,
        "created": row.created,
        "status": status,
        "reason": row.reason,
        "dataset": {"name": row.plan.dataset_name, "digest": row.plan.digest},
        "planned": row.plan.size,
        "finished": row.finished,
        "arms": [{"model": arm.model, "toolset": arm.toolset, "variant": arm.variant} for arm in row.plan.arms],
    }
