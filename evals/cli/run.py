"""`toolbelt eval run` and `resume`."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from toolbelt.command.boundary import OK
from toolbelt.command.groups import EXAMPLE_MODEL, SectionedCommand, examples
from toolbelt.command.options import config_option, json_option, option, tokenizer_option
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.console_reporter import EvalConsoleReporter
from toolbelt.evals.cli.dataset_opening import own_catalog_option
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import (
    CommaList,
    ShardType,
    case_filter_options,
    dataset_option,
    details_option,
    efforts_option,
    execution_options,
    margin_option,
    notify_environment,
    range_type,
    split_commas,
    store_option,
    system_option,
)
from toolbelt.evals.execution import (
    DEFAULT_MODELS,
    RunRequest,
    continue_run,
    estimate_eval,
    start_run,
)
from toolbelt.evals.running.plan import SETTING_RANGES, CaseFilter, RunSettings
from toolbelt.evals.running.rounds import Decision
from toolbelt.evals.running.shards import Shard
from toolbelt.evals.setup.asking import ExecutionOptions
from toolbelt.evals.toolsets.suites import spell_suite
from toolbelt.evals.toolsets.variants.variant import add_efforts
from toolbelt.providers.chat import Sampling
from toolbelt.providers.endpoints import without_secrets
from toolbelt.render.screen import print_json, show_blocks
from toolbelt.stores.prompts import read_prompt

_execution_options = execution_options(
    api_base="Where hosted models are asked.  [default: the provider's; resume: as before]",
    max_cost="Stop before the run costs more; answers that are on their way still count.",
    max_requests="Stop before the run makes more requests.",
)


_SECTIONS = {
    "What is run": (
        *("dataset", "catalog", "models", "toolsets", "suite", "variants"),
        *("kinds", "tags", "ids", "limit", "seed", "epochs", "shard"),
    ),
    "Until decided": (*("until_decided", "baseline", "margin"),),
    "How models are asked": (
        *("api_base", "transport", "system", "efforts", "temperature", "max_tokens", "tool_choice", "ask_anyway"),
        *("tokenizer", "config", "engine"),
    ),
    "Recorded responses": ("response_cache", "offline"),
    "Limits": ("max_cost", "max_requests", "request_limit", "timeout", "max_retries", "max_concurrency"),
    "Output": ("dry_run", "report", "store", "as_json"),
}
"""The options of `eval run`, as `--help` shows them."""


@click.command(
    cls=SectionedCommand,
    sections=_SECTIONS,
    epilog=examples(
        "toolbelt eval run",
        f"toolbelt eval run --model {EXAMPLE_MODEL},local/bm25 --toolset full,loadout:*,tiered --limit 50 --dry-run",
        "toolbelt eval run --toolset full,oracle+9 --variant plain,shuffled,padded:46000 --epochs 3",
        "toolbelt eval run --model hosted_vllm/qwen3 --api-base http://localhost:8000/v1 --effort none,high",
        f"toolbelt eval run --suite compatibility -m {EXAMPLE_MODEL} -m ollama/llama3.1 --limit 100 --dry-run",
        f"toolbelt eval run --model {EXAMPLE_MODEL} --response-cache responses.jsonl --offline",
        f"toolbelt eval run --model {EXAMPLE_MODEL} --toolset full,tiered --shard 3/8",
        f"toolbelt eval run -m {EXAMPLE_MODEL} --toolset full,tiered --engine dask:10.0.0.5:8786 --max-concurrency 64",
        "toolbelt eval run --toolset full,tiered --until-decided --baseline reports/baseline.json",
        "toolbelt eval run --dataset ./mine --model hosted_vllm/qwen3 --api-base http://localhost:8000/v1 --max-cost 1",
    ),
)
@dataset_option
@option(
    "--model",
    "-m",
    "models",
    multiple=True,
    metavar="M",
    help="A litellm name, local/bm25 or scripted/FILE; again or with commas for more.  [default: local/bm25]",
)
@option(
    "--toolset",
    "-t",
    "toolsets",
    type=CommaList(),
    multiple=True,
    metavar="T",
    help="full (every tool), loadout (that of each case's role), loadout:NAME, loadout:*, loadout:auto, tiered (a few "
    "tools, others on request), dynamic (toolkits on request), dynamic:AGENT, dynamic:*, search (others found by "
    "search), search:PRESET, hosted-search (by the vendor's own), oracle (the right tools alone), oracle+N (and N "
    "wrong ones), oracle+N:near; again or with commas for more.  [default: full,loadout,tiered]",
)
@option(
    "--suite",
    metavar="S",
    help="In place of toolsets: compatibility, which is full, loadout:auto, every loadout that shows something "
    "of the catalog, and tiered: it shows which of them each model supports.",
)
@option(
    "--variant",
    "variants",
    type=CommaList(),
    multiple=True,
    metavar="V",
    help="Also change one thing about each toolset, each change an arm of its own: shuffled (another order in each "
    "trial), padded:N (descriptions of N tokens in all), distractors:N, distractors:N:near (wrong tools added), "
    "anonymous (names that say nothing), undescribed (no descriptions); joined by + for several at once; "
    "plain changes nothing. Again or with commas for more.  [default: plain]",
)
@case_filter_options
@option(
    "--epochs",
    type=range_type(SETTING_RANGES["epochs"]),
    default=1,
    metavar="N",
    show_default=True,
    help="How often each case is asked.",
)
@option(
    "--seed",
    type=range_type(SETTING_RANGES["seed"]),
    default=0,
    metavar="N",
    show_default=True,
    help="Of the cases drawn, the distractors, what variants draw, and the model's own sampling where it takes one.",
)
@option(
    "--shard",
    type=ShardType(),
    metavar="I/N",
    help="Only part I of N, to run the parts on several machines; put together by `toolbelt eval merge`. A cluster of "
    "cases is never cut. Caps and rate limits hold for each part by itself.",
)
@option(
    "--until-decided",
    is_flag=True,
    help="Stop as soon as every comparison of the run has a verdict: no loss over --margin, or a certain loss. Cases "
    "are asked in random order, with looks after 35, 50, 65 and 100% of them; bounds are stricter, so that error "
    "rates stay those of one look. Saves much where much was lost, and little where nothing changed.",
)
@option(
    "--baseline",
    metavar="BASELINE",
    shell_complete=complete_runs,
    help="With --until-decided: a baseline or run that arms are compared with.  [default: the arms with each other]",
)
@margin_option
@system_option
@efforts_option
@option(
    "--temperature",
    type=range_type(SETTING_RANGES["sampling.temperature"]),
    metavar="X",
    help="Of the model's sampling.  [default: the provider's]",
)
@option(
    "--max-tokens",
    type=range_type(SETTING_RANGES["sampling.max_tokens"]),
    metavar="N",
    help="Longest answer.  [default: the provider's]",
)
@option("--tool-choice", metavar="C", help="auto, required, none, or a tool's name.  [default: the provider's]")
@option(
    "--request-limit",
    type=range_type(SETTING_RANGES["request_limit"]),
    default=10,
    metavar="N",
    show_default=True,
    help="Most requests of a trial.",
)
@option(
    "--ask-anyway",
    is_flag=True,
    help="Also send what is known not to fit: more tools than the model takes, or definitions that leave no room "
    "for an answer in its window (by default, nothing is sent, and the trial is a context_overflow); or settings that "
    "it is known to refuse (by default, the run is refused).",
)
@_execution_options
@option(
    "--report",
    is_flag=False,
    flag_value="reports",
    metavar="[FOLDER]",
    help="Also write a page, tables and pictures, as `toolbelt eval report` does.  [FOLDER: reports]",
)
@details_option
@option("--dry-run", is_flag=True, help="Only estimate requests, tokens and cost.")
@store_option
@own_catalog_option
@config_option
@tokenizer_option
@json_option
def run(
    dataset: str,
    models: tuple[str, ...],
    toolsets: tuple[str, ...],
    suite: str | None,
    variants: tuple[str, ...],
    case_filter: CaseFilter,
    epochs: int,
    seed: int,
    shard: Shard | None,
    until_decided: bool,
    baseline: str | None,
    margin: float,
    system: str | None,
    efforts: tuple[str, ...],
    temperature: float | None,
    max_tokens: int | None,
    tool_choice: str | None,
    request_limit: int,
    ask_anyway: bool,
    execution: ExecutionOptions,
    report: str | None,
    details: bool,
    dry_run: bool,
    store: str,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> int:
    """Ask the cases of a dataset over toolsets and models, score every answer, and show what a toolset costs and gains.

    Every answer is stored when it arrives. `toolbelt eval resume` continues an interrupted run.

    A request that is known not to fit a model, by its window or by the most tools it takes, is not sent: the trial is
    unscored, with the outcome context_overflow. `toolbelt model inspect` shows what is known of a model.
    """
    chosen_suite, chosen_toolsets = _choose_toolsets(suite, toolsets)
    levels = split_commas(efforts)
    settings = RunSettings(
        filter=case_filter,
        epochs=epochs,
        seed=seed,
        sampling=Sampling(temperature, seed, tool_choice, max_tokens, levels[0] if len(levels) == 1 else None),
        request_limit=request_limit,
        api_base=without_secrets(execution.api_base),
        suite=chosen_suite,
        ask_anyway=ask_anyway,
        shard=shard,
        decision=_choose_decision(baseline, margin, until_decided=until_decided),
        system=None if system is None else read_prompt(system),
    )
    request = RunRequest(
        dataset=dataset,
        models=models or DEFAULT_MODELS,
        toolsets=chosen_toolsets,
        variants=add_efforts(split_commas(variants), levels) if levels[1:] else variants,
        settings=settings,
        catalog=catalog,
        config=config,
        tokenizer=tokenizer,
        store=Path(store),
        is_default_dataset=click.get_current_context().get_parameter_source("dataset") is ParameterSource.DEFAULT,
    )
    keep_apart({}, {"--store": store, "--response-cache": next(map(str, execution.response_cache), None)})
    notify_environment("response_cache", "offline")
    if dry_run:
        _show_estimate(request, execution, as_json=as_json)
        return OK
    finished = start_run(request, execution, EvalConsoleReporter())
    from toolbelt.evals.cli.run_end import show_end, write_report  # after the peak of memory, which is the vocabulary's

    if report is not None:
        write_report(finished, Path(report))
    return show_end(finished, execution, as_json=as_json, details=details)


@click.command(epilog=examples("toolbelt eval resume", "toolbelt eval resume 20260101-120000-ab12 --retry-errors"))
@click.argument("name", metavar="[RUN]", default="latest", shell_complete=complete_runs)
@option("--retry-errors", is_flag=True, help="Also run again the trials that ended with an error.")
@_execution_options
@details_option
@store_option
@json_option
def resume(
    name: str,
    retry_errors: bool,
    execution: ExecutionOptions,
    details: bool,
    store: str,
    as_json: bool,
) -> int:
    """Continue RUN (an id, the beginning of one, or `latest`): nothing that is finished is asked again."""
    notify_environment("response_cache", "offline")
    run = continue_run(Path(store), name, execution, EvalConsoleReporter(), retry_errors=retry_errors)
    from toolbelt.evals.cli.run_end import show_end  # likewise

    return show_end(run, execution, as_json=as_json, details=details)


def _choose_decision(baseline: str | None, margin: float, *, until_decided: bool) -> Decision | None:
    """What is to be decided; a baseline or a margin of the environment is for `eval gate` where nothing is."""
    if until_decided:
        return Decision(margin, baseline or "")
    source = click.get_current_context().get_parameter_source
    for name in ("baseline", "margin"):
        if source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--{name} is for --until-decided; a run as a whole is judged by `toolbelt eval gate`."
            )
    return None


def _choose_toolsets(suite: str | None, toolsets: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The suite and the toolsets to be run; one of the command line goes before the other of the environment.

    Where both are from one place, both are left, and the run is refused.

    Raises:
        NotFoundError: no such suite.
    """
    if suite is None:
        return "", toolsets
    source = click.get_current_context().get_parameter_source
    typed = {name for name in ("suite", "toolsets") if source(name) is ParameterSource.COMMANDLINE}
    if toolsets and typed == {"toolsets"}:
        return "", toolsets
    return spell_suite(suite), () if typed == {"suite"} else toolsets


def _show_estimate(request: RunRequest, execution: ExecutionOptions, *, as_json: bool) -> None:
    from toolbelt.evals.cli.estimates import estimate_data, estimate_view  # a run does without

    plan, estimates = estimate_eval(request, execution, EvalConsoleReporter())
    if as_json:
        print_json(estimate_data(plan, estimates))
        return
    show_blocks(estimate_view(plan, estimates))
