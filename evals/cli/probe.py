"""`toolbelt model probe`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from toolbelt.command.boundary import OK
from toolbelt.command.groups import EXAMPLE_MODEL, examples
from toolbelt.command.options import config_option, json_option, option, tokenizer_option
from toolbelt.evals.cli.options import CommaList, asking_options, effort_option, split_commas, store_option
from toolbelt.evals.cli.probe_preparing import (
    PreparedProbe,
    ProbeOptions,
    check_cost_cap,
    estimates_data,
    estimates_view,
    notify_estimates,
    prepare_probes,
)
from toolbelt.evals.cli.probe_running import find_exit_code, probe_all, probe_json
from toolbelt.evals.models.opening import open_model
from toolbelt.evals.probing.checks import CHECKS, MAX_TOKENS
from toolbelt.evals.probing.runner import MAX_CONCURRENCY
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.setup.asking import AskingOptions
from toolbelt.evals.views.probes import probes_view
from toolbelt.render.screen import print_json, show_blocks
from toolbelt.views.blocks import Note

_CHECKS = "\n".join(["\n\n\b", "Checks:", *(f"  {check.key:<16}  {check.about}" for check in CHECKS)])


@click.command(
    epilog=examples(
        f"toolbelt model probe --model {EXAMPLE_MODEL} --dry-run",
        f"toolbelt model probe --model {EXAMPLE_MODEL} --max-cost 0.05 --require one_tool,parallel_calls",
        "toolbelt model probe -m hosted_vllm/qwen3 -m local/bm25 --api-base http://localhost:8000/v1",
    )
    + _CHECKS
)
@option(
    "--model",
    "-m",
    "models",
    multiple=True,
    required=True,
    metavar="M",
    help="A litellm name, local/bm25 or scripted/FILE; again for more.",
)
@option(
    "--check",
    "checks",
    type=CommaList(),
    multiple=True,
    metavar="KEY",
    envvar="TOOLBELT_PROBE_CHECK",
    help="Only this check, and the first, which the others need; again or with commas for more.  [default: all]",
)
@option(
    "--require",
    "required",
    type=CommaList(),
    multiple=True,
    metavar="KEY",
    help="Exit with 1 unless this check `works`: `partly` is not enough; again or with commas for more.",
)
@asking_options(
    api_base="Where hosted models are asked.  [default: the provider's]",
    max_concurrency="Checks under way at once.",
    max_cost="Ask nothing if it would cost more, of all models together; and stop before it does.",
    max_requests="Stop before more is asked, of all models together.",
    concurrency=MAX_CONCURRENCY,
)
@option(
    "--max-tokens",
    type=click.IntRange(min=0),
    default=MAX_TOKENS,
    metavar="N",
    show_default=True,
    help="Longest answer; more for a model that thinks for long before it calls. 0 leaves it to the provider.",
)
@effort_option
@option("--fresh", is_flag=True, help="Start again instead of continuing an unfinished probe.")
@option("--dry-run", is_flag=True, help="Only estimate requests, tokens and cost.")
@store_option
@config_option
@tokenizer_option
@json_option
def probe(
    models: tuple[str, ...],
    checks: tuple[str, ...],
    required: tuple[str, ...],
    asking: AskingOptions,
    max_tokens: int,
    effort: str | None,
    fresh: bool,
    dry_run: bool,
    store: str,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> int:
    """Find out what works with a model over its real API: some twenty requests about tools, before an eval is paid for.

    An estimate is shown before anything is asked. The result is stored: toolbelt model probes shows it again, and
    evals of the model show it, too. The same command continues an interrupted probe.

    Exit code 0: every check has a result; 1: a required check does not work, or only partly; 3: a check has no
    result.
    """
    options = ProbeOptions(
        models=models,
        checks=split_commas(checks),
        required=split_commas(required),
        asking=asking,
        max_tokens=max_tokens,
        effort=effort,
        fresh=fresh,
        store=store,
        config=config,
        tokenizer=tokenizer,
        as_json=as_json,
    )
    model_options, prepared = prepare_probes(options)
    if dry_run:
        _show_estimates(prepared, as_json=as_json)
        return OK
    notify_estimates(prepared)
    check_cost_cap(prepared, asking.max_cost_usd)
    opened = [open_model(probe.wanted.model, model_options) for probe in prepared]  # every missing key is found first
    with RunStore(Path(store)) as run_store:
        results = probe_all(run_store, prepared, opened, options)
    if as_json:
        print_json({"probes": [probe_json(result, probe) for result, probe in zip(results, prepared, strict=False)]})
    elif len(results) > 1:
        show_blocks([Note(""), *probes_view(results)])
    return find_exit_code(results, prepared, options)


def _show_estimates(prepared: Sequence[PreparedProbe], *, as_json: bool) -> None:
    if as_json:
        print_json(estimates_data(prepared))
        return
    show_blocks(estimates_view(prepared))
