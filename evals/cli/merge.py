"""`toolbelt eval merge`."""

from __future__ import annotations

from pathlib import Path

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import json_option, option
from toolbelt.evals.cli.options import CommaList, complete_files, details_option, store_option
from toolbelt.evals.cli.run_end import show_end
from toolbelt.evals.run import Run
from toolbelt.evals.running.merging import merge_shards
from toolbelt.evals.setup.asking import ExecutionOptions
from toolbelt.render.screen import notify, progress
from toolbelt.text import plural


@click.command(
    epilog=examples(
        "toolbelt eval merge shards/*/runs.db",
        "toolbelt eval merge 1.db 2.db --store .toolbelt/runs.db --json",
        "toolbelt eval merge .toolbelt/runs.db",
    )
)
@click.argument("files", metavar="STORE...", nargs=-1, required=True, shell_complete=complete_files)
@option(
    "--run",
    "runs",
    type=CommaList(),
    multiple=True,
    metavar="RUN",
    envvar="TOOLBELT_EVAL_MERGE_RUN",
    help="Only this run of a shard, an id or the beginning of one, where a shard was run more than once; again or with "
    "commas for more.  [default: the latest of each shard in each file]",
)
@option(
    "--allow-mixed",
    is_flag=True,
    help="Also merge shards that were answered by models which report different names.",
)
@details_option
@store_option
@json_option
def merge(
    files: tuple[str, ...], runs: tuple[str, ...], allow_mixed: bool, details: bool, store: str, as_json: bool
) -> int:
    """Put the shards in the files STORE together, as one run in --store: the same trials as of a run of the whole.

    Shards are run with `toolbelt eval run --shard I/N`, each with a file of its own (--store) or several in one. What
    does not belong together is refused, with all the reasons: other cases, arms, settings, catalog, loadouts or code,
    or a shard that was run twice. While shards or trials are missing, the run is incomplete (exit code 3): merge them
    later, or ask them here with `toolbelt eval resume`. To merge again adds what is missing and changes nothing else.
    """
    with progress("merging shards", None) as advance:
        merged = merge_shards(tuple(map(Path, files)), Path(store), runs=runs, allow_mixed=allow_mixed, advance=advance)
    named = ", ".join(map(str, merged.shards[:12])) + (", …" if len(merged.shards) > 12 else "")
    notify(f"run {merged.run} has shards {named}; {plural(merged.added, 'trial')} added")
    return show_end(
        Run(merged.run, Path(store), merged.end, merged.reason), ExecutionOptions(), as_json=as_json, details=details
    )
