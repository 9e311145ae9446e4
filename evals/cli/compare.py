"""`toolbelt eval compare`."""

from __future__ import annotations

import contextlib
from contextlib import ExitStack
from pathlib import Path

import click

from toolbelt.command.boundary import OK, USAGE
from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, json_option, option
from toolbelt.evals.analysis.comparison.comparison import Comparison, Measure
from toolbelt.evals.analysis.comparison.pairing import Contrasted
from toolbelt.evals.analysis.comparison.reason_text import describe_reasons
from toolbelt.evals.analysis.evidence.sides import is_path, open_side
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import CommaList, interval_seed_option, own_margin_option, store_option
from toolbelt.evals.running.store import RunStore
from toolbelt.render.screen import notify, print_json, progress, show_blocks
from toolbelt.stores.files import make_way_for, write_text
from toolbelt.views.blocks import Note
from toolbelt.views.cells import Tone

_SHARES = tuple(measure.value for measure in Measure if measure.is_share)
_FLIPS = 5


@click.command(
    epilog=examples(
        "toolbelt eval compare",
        "toolbelt eval compare latest --against full --margin 0.01",
        "toolbelt eval compare --by model",
        "toolbelt eval compare reports/baseline.json latest",
        "toolbelt eval compare 20260101-120000-ab12 latest --arm loadout --flips 20 -o comparison.md",
    )
)
@click.argument("old", metavar="[A]", default="latest", shell_complete=complete_runs)
@click.argument("new", metavar="[B]", required=False, shell_complete=complete_runs)
@option(
    "--against",
    metavar="ARM",
    help="The arm of A that the others, or those of B, are compared with: toolset (that of their own model), model, "
    "both or number, such as full, 'MODEL full' or 2.  [default: the first of the same model that was scored, no "
    "oracle; with B, the arm of the same name]",
)
@option(
    "--arm",
    "arms",
    type=CommaList(),
    multiple=True,
    metavar="ARM",
    help="Only these arms, which are compared with another; again or with commas for more.",
)
@option(
    "--by",
    type=Choice([by.value for by in Contrasted]),
    default=Contrasted.TOOLSET.value,
    show_default=True,
    help="What is compared within A: the toolsets of each model, or the models with each toolset.",
)
@own_margin_option
@option(
    "--measure",
    "measures",
    type=Choice(_SHARES),
    multiple=True,
    help="Measures that are judged; again for more.  [default: accuracy and solved]",
)
@option(
    "--flips",
    type=click.IntRange(min=0),
    default=_FLIPS,
    metavar="N",
    show_default=True,
    help="Cases shown, of each pair of arms, that got worse, and as many that got better; JSON has all.",
)
@option("--details", is_flag=True, help="Show each pair of arms in full, too; a single pair always is.")
@interval_seed_option
@option(
    "--output",
    "-o",
    metavar="FILE",
    envvar="TOOLBELT_EVAL_COMPARE_OUTPUT",
    help="Write it as Markdown, too, all or nothing; its folder is made if need be.",
)
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@store_option
@json_option
def compare(
    old: str,
    new: str | None,
    against: str | None,
    arms: tuple[str, ...],
    by: str,
    margin: float | None,
    measures: tuple[str, ...],
    flips: int,
    details: bool,
    seed: int,
    output: str | None,
    force: bool,
    store: str,
    as_json: bool,
) -> int:
    """What differs between arms that were asked the same cases, how surely, and which cases flipped.

    With A alone (a run's id, its beginning, `latest` or a baseline file): the arms within it, each against the first of
    its model of which anything was scored; where each model has one arm, against the first of all.
    With A and B: the arms of B against those of A that have the same name. `toolbelt eval gate` passes or fails on it.
    """
    if by == Contrasted.MODEL.value and (new is not None or against is not None):
        raise click.UsageError("--by model is of the arms of one run: leave out B and --against.")
    # numpy and scipy, which `--help` does without
    from toolbelt.evals.analysis.comparison.compare import compare_runs

    if output is not None:
        sides = {"A": old if is_path(old) else None, "B": new if new and is_path(new) else None}
        keep_apart({**sides, "--store": store}, {"--output": output})
        make_way_for(output, overwrite=force or not Path(output).is_file())
    with ExitStack() as stack:
        comparison = compare_runs(
            stack.enter_context(open_side(old, Path(store))),
            None if new is None else stack.enter_context(open_side(new, Path(store))),
            against=against,
            arms=arms,
            by=Contrasted(by),
            margin=margin,
            measures=[measure for measure in Measure if not measure.is_share or measure.value in (measures or _SHARES)],
            seed=seed,
            progress=progress,
        )
    if output is not None:
        _write(Path(output), comparison, force=force)
    if as_json:
        from toolbelt.evals.analysis.comparison.comparison_json import comparison_data

        print_json(comparison_data(comparison))
    elif comparison.is_comparable:
        from toolbelt.evals.views.comparison import TERMINAL, comparison_result, comparison_view

        view = comparison_view(comparison, TERMINAL._replace(flips=flips), details=details)
        show_blocks([*view, Note(""), comparison_result(comparison)])
        if new is None and not (against or arms or measures or by == Contrasted.MODEL.value or is_path(old)):
            _show_result(old, comparison, Path(store))
    else:
        notify(f"{comparison.old.name} and {comparison.new.name} cannot be compared:", "Error")
        for reason in describe_reasons(comparison):
            notify(reason, "because")
    return OK if comparison.is_comparable else USAGE


def _show_result(run: str, comparison: Comparison, store: Path) -> None:
    """What the run comes to, as every other command says it."""
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun
    from toolbelt.evals.analysis.matrix.build_matrix import build_matrix
    from toolbelt.evals.analysis.summary.summarize import summarize
    from toolbelt.evals.views.run import result_view

    with RunStore(store, must_exist=True) as opened:
        row = opened.get(run)
        summary = summarize(opened.connection, row.run, opened.find_status(row))
        matrix = build_matrix(summary, StoredRun(opened, row), comparison.margin)
    why = "To choose a toolset takes other numbers of cases than to decide each difference:"
    show_blocks([Note(why, Tone.FAINT), *result_view(summary, comparison, matrix)])


def _write(path: Path, comparison: Comparison, *, force: bool) -> None:
    from toolbelt.evals.views.comparison import comparison_view
    from toolbelt.render.markdown import render_markdown

    with contextlib.suppress(OSError):  # else the file cannot be written either, which is reported then
        path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, render_markdown(comparison_view(comparison)) + "\n", overwrite=force)
    notify(f"wrote {path}")
