"""`toolbelt model calibrate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.options import store_option
from toolbelt.evals.running.store import RunStore
from toolbelt.project.models import open_models
from toolbelt.render.screen import print_json, show_blocks
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Code, Note
from toolbelt.views.cells import Count, Span
from toolbelt.views.table import Column, Row, Table

if TYPE_CHECKING:
    from toolbelt.evals.analysis.calibration import Calibration, PromptErrors


@click.command(
    epilog=examples("toolbelt model calibrate", "toolbelt model calibrate 20260101-120000-ab12 --store runs.db --json")
)
@click.argument("name", metavar="[RUN]", default="latest", shell_complete=complete_runs)
@store_option
@config_option
@json_option
def calibrate(name: str, store: str, config: str | None, as_json: bool) -> None:
    """What tool definitions come to in the prompts of your models, by the tokens that RUN's providers reported.

    RUN is an id, the beginning of one, or `latest`. Each model whose requests allow it gets a rate of its own, as an
    entry for `models` in toolbelt.yaml, which goes before that of its family in `model fit`, `loadout inspect` and the
    estimates of evals. `error after` is of prompts that a rate was not measured on: it is measured on each half of the
    tool lists, and tried on the other.

    Needed are 20 requests with reported prompt tokens, over 4 lists of tools, the longest 1.5 times as long as the
    shortest: a run with several toolsets. The exit code is 2 where no model can be measured.
    """
    from toolbelt.evals.analysis.calibration import calibrate_run, calibration_data  # numpy
    from toolbelt.providers.model_facts import find_facts

    _, table = open_models(config)
    with RunStore(Path(store), must_exist=True) as opened:
        row = opened.get(name)
        found = calibrate_run(opened, row, lambda model: find_facts(model, table))
    if all(each.measured is None for each in found):
        raise ToolbeltError(" ".join(f"{each.model}: {each.problem}." for each in found))
    entries = {each.model: _make_entry(each, table.find_project_model(each.asked_as)) for each in found}
    if as_json:
        rows = [{**calibration_data(each), "entry": entries[each.model]} for each in found]
        print_json({"run": row.run, "models": rows})
        return
    show_blocks(_view(found, [entry for entry in entries.values() if entry is not None]))


def _make_entry(found: Calibration, own: Any) -> dict[str, Any] | None:
    """The model's entry for toolbelt.yaml, all that it says now included; `None` where it need not change."""
    if found.measured is None or found.problem:
        return None
    from toolbelt.evals.probing.learned_facts import make_entry
    from toolbelt.models.token_rates import stated_rate

    return {**make_entry(found.asked_as, (), own), "token_rate": stated_rate(found.measured)}


def _view(found: Sequence[Calibration], entries: Sequence[dict[str, Any]]) -> Iterator[Block]:
    columns = ("requests", "lists", "rate before", "error before", "rate after", "error after")
    rows = (
        Row(
            each.model,
            (
                Count(each.requests),
                Count(each.lists),
                Span(str(each.before)),
                *_show_errors(each.errors_before),
                Span("" if each.measured is None else str(each.measured)),
                *_show_errors(each.errors_after),
            ),
        )
        for each in found
    )
    yield Table("model", tuple(Column(name, is_text=" " in name) for name in columns), tuple(rows))
    yield Note("Errors are of whole prompts: the median, and what nine of ten keep to.")
    yield from (Note(f"{each.model}: {each.problem}.") for each in found if each.problem)
    if entries:
        from toolbelt.evals.probing.learned_facts import format_entry

        them = plural(len(entries), "entry", "entries")
        yield Note(f"To be written under `models` in toolbelt.yaml, {them}, in place of one of the same name:")
        yield Code("".join(map(format_entry, entries)).rstrip("\n"))


def _show_errors(errors: PromptErrors | None) -> tuple[Span, ...]:
    return (Span("" if errors is None else f"{errors.median:.1%}, {errors.most:.1%}"),)
