"""`toolbelt eval recommend`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option, option
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import own_margin_option, store_option
from toolbelt.evals.running.store import RunStore
from toolbelt.render.screen import notify, print_json, progress, show_blocks
from toolbelt.stores.config import read_config
from toolbelt.stores.files import make_way_for, write_text
from toolbelt.text import plural
from toolbelt.views.blocks import Note

if TYPE_CHECKING:
    from toolbelt.evals.analysis.matrix.matrix import Matrix
    from toolbelt.evals.analysis.matrix.ranking import Ranking


@click.command(
    epilog=examples(
        "toolbelt eval recommend",
        "toolbelt eval recommend latest --margin 0.05",
        "toolbelt eval recommend --sure",
        "toolbelt eval recommend --details",
        "toolbelt eval recommend 20260101-120000-ab12 --yaml -o models.yaml",
    )
)
@click.argument("name", metavar="[RUN]", default="latest", shell_complete=complete_runs)
@own_margin_option
@option("--sure", is_flag=True, help="Only what is sure; the exit code is 3 unless it is for every model.")
@option("--details", is_flag=True, help="Show every reason, and the table of models and toolsets.")
@option("--yaml", "as_yaml", is_flag=True, help="Print the entries for toolbelt.yaml alone, with their reasons.")
@option(
    "--output",
    "-o",
    metavar="FILE",
    envvar="TOOLBELT_EVAL_RECOMMEND_OUTPUT",
    help="Write those entries to FILE, all or nothing; its folder is created if it does not exist.",
)
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@store_option
@config_option
@json_option
def recommend(
    name: str,
    margin: float | None,
    sure: bool,
    details: bool,
    as_yaml: bool,
    output: str | None,
    force: bool,
    store: str,
    config: str | None,
    as_json: bool,
) -> int:
    """The recommended toolset of each model of RUN (an id, the beginning of one, or `latest`).

    The smallest that is surely not worse than the model's best by more than the margin. Where the cases are too few
    to be sure of a smaller one, the best as measured, which is marked as not sure where another may be better. A
    model has none where nothing was scored, its cases are drafts, it hardly ever called a right tool, or it was asked
    with one toolset alone. The exit code is 3 where no model has one.

    toolbelt.yaml names a toolset for a model, so what depends on the role of each case (`loadout`) is left out here.
    The result of `toolbelt eval show` holds each toolset against the first instead, and may name another.

    With it comes a ranking of all models and toolsets by accuracy, with ties, cost and latency, what these cases allow
    to conclude, and what more of them would cost.

    Of a model that toolbelt.yaml has an entry of, the whole entry is given, to be put in its place.
    """
    if as_yaml and as_json:
        raise click.UsageError("--yaml and --json are two ways to print the same; take one.")
    if output is not None:
        keep_apart({"--store": store}, {"--output": output})
        make_way_for(output, overwrite=force or not Path(output).is_file())
    matrix, ranking = _analyze(name, margin, store, config)
    if sure:
        matrix = matrix.only_sure()
    # numpy, scipy and YAML, which `--help` does without
    from toolbelt.evals.analysis.matrix.recommendation import recommendation

    if output is not None:
        _write(Path(output), recommendation(matrix), force=force)
    if as_json:
        from toolbelt.evals.analysis.matrix.matrix_json import matrix_data
        from toolbelt.evals.analysis.matrix.ranking import ranking_data

        print_json({**matrix_data(matrix), "ranking": None if ranking is None else ranking_data(ranking)})
    elif as_yaml:
        click.echo(recommendation(matrix), nl=False)
    elif output is None:
        from toolbelt.evals.views.matrix import matrix_view, recommended_view
        from toolbelt.evals.views.ranking import advice_view, ranking_view

        if ranking is not None and not details:
            show_blocks(advice_view(matrix, ranking))
        else:
            show_blocks(
                [*matrix_view(matrix, whole=True), *([] if ranking is None else [Note(""), *ranking_view(ranking)])]
            )
        heading, entries = recommended_view(matrix)
        show_blocks([Note(""), heading])
        click.echo(entries, nl=False)
    return _exit_code(matrix, sure=sure)


def _exit_code(matrix: Matrix, *, sure: bool) -> int:
    """The exit code, and why it is not 0."""
    lacking = [row.model for row in matrix.rows if row.pick.choice is None]
    what = "nothing is sure enough to be recommended" if sure else "nothing can be recommended"
    if len(lacking) == len(matrix.rows):
        notify(f"{what}, for any model")
        return INFRASTRUCTURE
    if sure and lacking:
        notify(f"{what} for {len(lacking):,} of {plural(len(matrix.rows), 'model')}")
        return INFRASTRUCTURE
    return OK


def _analyze(name: str, margin: float | None, store: str, config: str | None) -> tuple[Matrix, Ranking | None]:
    from toolbelt.evals.analysis.evidence.stored_run import StoredRun
    from toolbelt.evals.analysis.matrix.build_matrix import build_matrix
    from toolbelt.evals.analysis.matrix.ranking import rank_arms
    from toolbelt.evals.analysis.matrix.recommendation import written_models
    from toolbelt.evals.analysis.summary.summarize import summarize, time_reading

    own_models = written_models(read_config(Path.cwd(), config))
    with RunStore(Path(store), must_exist=True) as opened:
        with time_reading(opened.connection, progress):
            row = opened.get(name)
            summary = summarize(opened.connection, row.run, opened.find_status(row))
        if not summary.arms and not summary.left_out:
            raise ToolbeltError(f"{row.run} has no arms.")
        side = StoredRun(opened, row)
        with progress("comparing toolsets", None) as advance:
            matrix = build_matrix(summary, side, margin, own_models=own_models, advance=advance)
        with progress("ranking arms", None) as advance:
            return matrix, rank_arms(summary, side, margin, advance=advance)


def _write(path: Path, text: str, *, force: bool) -> None:
    with contextlib.suppress(OSError):  # else the file cannot be written either, which is told then
        path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text, overwrite=force)
    notify(f"wrote {path}")
