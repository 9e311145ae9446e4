"""`toolbelt eval import`."""

from __future__ import annotations

from pathlib import Path

import click

from toolbelt.command.groups import EXAMPLE_MODEL, examples
from toolbelt.command.options import config_option, json_option, option, tokenizer_option
from toolbelt.evals.cli.console_reporter import EvalConsoleReporter
from toolbelt.evals.cli.dataset_opening import own_catalog_option
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import (
    case_filter_options,
    complete_files,
    dataset_option,
    details_option,
    range_type,
    store_option,
)
from toolbelt.evals.cli.run_end import show_end
from toolbelt.evals.execution import RunRequest
from toolbelt.evals.imported_run import start_import
from toolbelt.evals.running.plan import SETTING_RANGES, CaseFilter, RunSettings
from toolbelt.evals.setup.asking import ExecutionOptions


@click.command(
    "import",
    epilog=examples(
        f"toolbelt eval import batch_output.jsonl --dataset ./mine --model {EXAMPLE_MODEL}",
        "toolbelt eval import result/mine/BFCL_v4_*_result.json --dataset ./bfcl --model mine",
        "toolbelt eval import answers.csv --dataset ./mine --model acme-agent --toolset loadout:developer",
    ),
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, shell_complete=complete_files)
@dataset_option
@option("--model", "-m", required=True, metavar="M", help="Who answered, as the run is to call it.")
@option(
    "--toolset",
    "-t",
    default="full",
    show_default=True,
    metavar="T",
    help="What the model was shown, as for `toolbelt eval run`; one.",
)
@case_filter_options
@option(
    "--seed",
    type=range_type(SETTING_RANGES["seed"]),
    default=0,
    metavar="N",
    show_default=True,
    help="Of the cases drawn, and of what a toolset draws.",
)
@details_option
@store_option
@own_catalog_option
@config_option
@tokenizer_option
@json_option
def import_command(
    files: tuple[str, ...],
    dataset: str,
    model: str,
    toolset: str,
    case_filter: CaseFilter,
    seed: int,
    details: bool,
    store: str,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> int:
    """Make a run of the answers in FILE (- is standard input), which a model gave elsewhere. Nobody is asked.

    FILE is the output of a batch (OpenAI's chat completions or Responses, Anthropic's), a result file of the Berkeley
    leaderboard, a log with ids, or rows (JSON Lines, JSON, CSV, Parquet) with `case_id` and `answer`: calls, names of
    tools, `none`, or words. The run is scored, shown, compared and gated as any other, and marked as imported. Tokens
    are those that FILE reports; cost and latency are unknown.

    Refused: two answers to a case (without an `epoch` that distinguishes them), and a name that several of the tools
    shown have. A case without an answer is unscored, and the run incomplete (exit code 3).
    """
    keep_apart({f"FILE {number}": name for number, name in enumerate(files, 1) if name != "-"}, {"--store": store})
    request = RunRequest(
        dataset=dataset,
        models=(model,),
        toolsets=(toolset,),
        settings=RunSettings(filter=case_filter, seed=seed),
        catalog=catalog,
        config=config,
        tokenizer=tokenizer,
        store=Path(store),
    )
    run = start_import(request, files, EvalConsoleReporter())
    return show_end(run, ExecutionOptions(), as_json=as_json, details=details)
