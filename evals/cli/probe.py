"""`toolbelt model probe`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option, option, tokenizer_option
from toolbelt.console.screen import make_screen, notify, print_json, show_view
from toolbelt.evals.cli.options import CommaList, asking_options, store_option
from toolbelt.evals.cli.probe_opening import Prepared, prepare, refuse_too_dear, tell_estimates
from toolbelt.evals.cli.probe_watching import watch
from toolbelt.evals.cli.probes import go_on_command, show_news
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import open_model
from toolbelt.evals.probing.checks import CHECKS
from toolbelt.evals.probing.learned import find_news, format_entry, learned, make_entry, news_data
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult, is_complete, probe_data
from toolbelt.evals.probing.runner import MAX_CONCURRENCY, run_probe
from toolbelt.evals.probing.wording import WORDS
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.views.probes import probe_view, probes_view

FAILED = 1
"""A check that was required does not work, or not as asked for."""


_CHECKS = "\n".join(["\n\n\b", "Checks:", *(f"  {check.key:<16}  {check.about}" for check in CHECKS)])


@click.command(
    epilog=examples(
        "toolbelt model probe --model gpt-4o-mini --dry-run",
        "toolbelt model probe --model gpt-4o-mini --max-cost 0.05 --require one_tool,parallel_calls",
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
    help="Only this check, and the first, which the others rest on; again or with commas for more.  [default: all]",
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
@option("--fresh", is_flag=True, help="Begin anew where an unfinished probe of the same would be gone on with.")
@option("--dry-run", is_flag=True, help="Only say how many requests, tokens and dollars it would take.")
@store_option
@config_option
@tokenizer_option
@json_option
def probe(**asked: Any) -> int:
    """Find out what works with a model over its real API: some twenty requests about tools, before an eval is paid for.

    What it would take is said before anything is asked. The result is kept: toolbelt model probes shows it again, and
    it stands beside the evals of the model. What is interrupted goes on with the same command.

    Exit code 0: all was found out; 1: a check that is required does not work, or only partly; 3: something stayed
    unknown.
    """
    for name in ("checks", "required"):
        asked[name] = _listed(asked[name])
    options, prepared = prepare(asked)
    if asked["dry_run"]:
        _show_estimates(prepared, as_json=asked["as_json"])
        return OK
    tell_estimates(prepared)
    refuse_too_dear(prepared, asked["max_cost"])
    models = [open_model(one.wanted.model, options) for one in prepared]  # a missing key is told before any is asked
    with RunStore(Path(asked["store"])) as store:
        results = _probe_all(store, prepared, models, asked)
    if asked["as_json"]:
        print_json({"probes": [_data(result, one) for result, one in zip(results, prepared, strict=False)]})
    elif len(results) > 1:
        screen = make_screen()
        show_view("", screen)
        show_view(probes_view(results, screen), screen)
    return _exit_code(results, prepared, asked)


def _listed(values: Sequence[str]) -> tuple[str, ...]:
    """Each of what was given with commas between, once; a list of nothing is an empty name, which none bears."""
    named = [part.strip() for value in values for part in value.split(",")]
    return tuple(dict.fromkeys(filter(None, named))) or tuple(named[:1])


def _probe_all(
    store: RunStore, prepared: Sequence[Prepared], models: Sequence[Model], asked: dict[str, Any]
) -> list[ProbeResult]:
    """One model after the other, each shown as it ends; the caps are those of all together."""
    kept = ProbeStore(store)
    screen = make_screen()
    results: list[ProbeResult] = []
    requests, cost = asked["max_requests"], asked["max_cost"]
    for one, model in zip(prepared, models, strict=True):
        if results and requests is not None and requests <= 0:
            notify(
                f"{one.wanted.model} is not probed: the cap of {asked['max_requests']:,} requests is reached", "warning"
            )
            break
        settings = dataclasses.replace(one.settings, max_requests=requests, max_cost_usd=cost)
        try:
            with watch(one.wanted.model, len(one.left)) as watcher:
                found = run_probe(store, one.wanted, model, settings, fresh=asked["fresh"], watcher=watcher)
        except KeyboardInterrupt:
            left = [other.wanted for other in prepared[len(results) :]]
            notify(f"what was answered of {one.wanted.model} is kept; go on with: {go_on_command(left, asked)}")
            raise
        results.append(found)
        spent, spent_usd = kept.spent(found.probe)
        requests = None if requests is None else max(0, requests - spent)
        cost = None if cost is None else max(0.0, cost - spent_usd)
        if not asked["as_json"]:
            if len(results) > 1:
                show_view("", screen)
            show_view(probe_view([found], screen), screen)
            show_news(found, one.facts, one.own)
    return results


def _data(result: ProbeResult, one: Prepared) -> dict[str, Any]:
    news = find_news(result, one.facts)
    entry = make_entry(result.model, news, one.own) if news else None
    return {
        **probe_data(result),
        "learned": learned(result),
        "news": news_data(news),
        "entry": entry,
        "yaml": None if entry is None else format_entry(entry),
    }


def _exit_code(results: Sequence[ProbeResult], prepared: Sequence[Prepared], asked: dict[str, Any]) -> int:
    """1 where what is required is known not to work, 3 where anything is not known (rule E9)."""
    incomplete = [result for result in results if not is_complete(result)]
    for result in incomplete:
        reason = f": {result.reason.rstrip('.')}" if result.reason else ""
        notify(f"{result.model} is not probed to the end{reason}", "warning")
    names = {result.model for result in results if is_complete(result)}
    if left := [one.wanted for one in prepared if one.wanted.model not in names]:
        notify(f"what is left: {go_on_command(left, asked)}")
    is_failed = False
    for result in results:
        for key in asked["required"]:
            outcome = result.outcome(key)
            if outcome not in (None, CheckOutcome.UNKNOWN, CheckOutcome.WORKS):
                how = "works only in another way" if outcome is CheckOutcome.PARTLY else "does not work"
                notify(f"{result.model}: {key} is required and {how} ({WORDS[outcome]})", "warning")
                is_failed = True
    return FAILED if is_failed else INFRASTRUCTURE if left else OK


def _show_estimates(prepared: Sequence[Prepared], *, as_json: bool) -> None:
    from toolbelt.evals.cli.probe_estimates import estimates_data, estimates_view

    if as_json:
        print_json(estimates_data(prepared))
        return
    screen = make_screen()
    show_view(estimates_view(prepared, screen), screen)
