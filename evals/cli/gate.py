"""`toolbelt eval gate`: pass or fail, for CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import click
from click.core import ParameterSource

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import SectionedCommand, examples
from toolbelt.command.options import Choice, json_option, option
from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.analysis.comparison.comparison import Measure
from toolbelt.evals.analysis.evidence.sides import is_path, open_side
from toolbelt.evals.analysis.gate.gate_json import EXIT_CODES, gate_data
from toolbelt.evals.analysis.gate.gate_text import summary_line, verdict_line
from toolbelt.evals.analysis.gate.recorded import MAX_AGE_DAYS
from toolbelt.evals.analysis.gate.verdict import GateResult, Limits
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import (
    FiniteRange,
    arms_option,
    execution_options,
    interval_seed_option,
    margin_option,
    notify_environment,
    store_option,
)
from toolbelt.evals.setup.asking import ExecutionOptions
from toolbelt.render.screen import notify, print_json, progress, show_blocks
from toolbelt.stores.files import make_way_for, write_text

_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_LIMITS = (
    *("margin", "max_lost", "measure", "min_accuracy", "max_token_increase", "max_cost_increase", "min_sample_size"),
    *("response_max_age", "allow_mixed"),
)
_VERDICT_FLAGS = ("baseline", *_LIMITS, "arms", "top_up")
"""Flags that a verdict rests on."""
_ASKING = (
    *("max_cost", "max_requests", "api_base", "transport", "max_concurrency", "timeout", "max_retries"),
    *("response_cache", "offline"),
)
_SECTIONS = {
    "What is compared with what": ("baseline", "arms", "seed"),
    "Limits": _LIMITS,
    "Asking further": ("top_up", *_ASKING),
    "Output": ("junit", "markdown", "details", "store", "as_json"),
}
"""The options, as `--help` shows them."""


@click.command(
    cls=SectionedCommand,
    sections=_SECTIONS,
    epilog=examples(
        "toolbelt eval gate --baseline reports/baseline.json --margin 0.02",
        "toolbelt eval gate latest --baseline reports/baseline.json --max-token-increase 0.1 --junit gate.xml",
        "toolbelt eval gate --baseline reports/baseline.json --max-lost 0",
        "toolbelt eval gate --min-accuracy 0.9 --arm tiered",
        "toolbelt eval gate --baseline reports/three-epochs.json --top-up --max-cost 3",
    ),
)
@click.argument("name", metavar="[RUN]", default="latest", shell_complete=complete_runs)
@option(
    "--baseline",
    metavar="FILE",
    help="What RUN is compared with: what `toolbelt eval baseline save` wrote, or another run.  "
    "[default: absolute limits alone]",
)
@margin_option
@option(
    "--measure",
    type=Choice([measure.value for measure in Measure if measure.is_share]),
    default=Measure.ACCURACY.value,
    show_default=True,
    help="What margin and least share are of: the right tools by name, or arguments, too.",
)
@option(
    "--max-lost",
    type=click.IntRange(min=0),
    metavar="N",
    help="Cases of an arm that may be lost: right in the baseline and not now. They decide where the cases are too few "
    "for the margin.",
)
@option("--min-accuracy", type=FiniteRange(min=0, max=1), metavar="X", help="Share that each arm must reach.")
@option(
    "--max-token-increase",
    type=FiniteRange(min=0),
    metavar="X",
    help="By which share of the baseline's the prompt tokens may grow: 0.1 is 10%.",
)
@option("--max-cost-increase", type=FiniteRange(min=0), metavar="X", help="By which share the cost may grow.")
@option(
    "--min-sample-size",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Independent cases that a verdict takes at least.",
)
@option(
    "--response-max-age",
    type=FiniteRange(min=0),
    default=MAX_AGE_DAYS,
    show_default=True,
    metavar="DAYS",
    help="By which recorded and live responses of a model may be apart.",
)
@option(
    "--allow-mixed",
    is_flag=True,
    help="Allow recorded and live responses that differ in reported model, fingerprint or age.",
)
@option(
    "--top-up",
    is_flag=True,
    help="Where the verdict of an arm is open, ask it for an epoch more, up to the epochs of the baseline, and look "
    "again. The run begins with fewer epochs than the baseline has. Intervals are wider (97.8% for three epochs), so "
    "that all looks together err as a single one.",
)
@execution_options(
    api_base="Where hosted models are asked.  [default: as before]",
    max_cost="Stop before the run costs more, what it has cost before included.",
    max_requests="Stop before the run makes more requests, those made before included.",
    has_engine=False,
)
@arms_option
@interval_seed_option
@option("--junit", metavar="FILE", help="Also write JUnit XML, over that of an earlier run.")
@option(
    "--markdown",
    metavar="FILE",
    help="Also write Markdown, over that of an earlier run, such as for a comment on a pull request.",
)
@option("--details", is_flag=True, help="Show a line for each check that passed, too.")
@store_option
@json_option
def gate(
    name: str,
    baseline: str | None,
    margin: float,
    max_lost: int | None,
    measure: str,
    min_accuracy: float | None,
    max_token_increase: float | None,
    max_cost_increase: float | None,
    min_sample_size: int,
    response_max_age: float,
    allow_mixed: bool,
    top_up: bool,
    execution: ExecutionOptions,
    arms: tuple[str, ...],
    seed: int,
    junit: str | None,
    markdown: str | None,
    details: bool,
    store: str,
    as_json: bool,
) -> int:
    """Does RUN (an id, the beginning of one, or `latest`) pass? Held against a baseline, and against limits.

    Exit code 0: no_regression; 1: regression; 3: insufficient_data, which is no pass. Where GITHUB_STEP_SUMMARY is set,
    Markdown is added to that file, too.
    """
    limits = Limits(
        *(margin, Measure(measure), min_accuracy, max_token_increase, max_cost_increase, min_sample_size),
        response_max_age_days=response_max_age,
        allow_mixed=allow_mixed,
        max_lost=max_lost,
    )
    if baseline is None:
        _refuse_without_baseline(limits, top_up=top_up)
    _refuse_asking(name, top_up=top_up)
    files = {"RUN": name if is_path(name) else None, "--store": store}
    baseline_file = {"--baseline": baseline if baseline and is_path(baseline) else None}
    keep_apart(files, baseline_file)  # compared with itself, a run always passes
    keep_apart({**files, **baseline_file}, {"--junit": junit, "--markdown": markdown})
    for path in filter(None, (junit, markdown)):
        make_way_for(path, overwrite=True)
    notify_environment(*_VERDICT_FLAGS)
    with ExitStack() as stack:
        against = None if baseline is None else stack.enter_context(open_side(baseline, Path(store)))
        # numpy and scipy, which a mistake in the flags need not wait for
        if top_up and against is not None:
            from toolbelt.evals.cli.console_reporter import EvalConsoleReporter
            from toolbelt.evals.gate_and_top_up import gate_and_top_up

            judge = partial(gate_and_top_up, Path(store), name, against, limits, execution, EvalConsoleReporter())
        else:
            from toolbelt.evals.analysis.gate.gate import gate_sides

            judge = partial(gate_sides, stack.enter_context(open_side(name, Path(store))), limits, against)
        result = judge(arms=arms, seed=seed, progress=progress)
    failures = [*_show(result, as_json=as_json, details=details), *_write_files(result, junit, markdown)]
    for failure in failures:  # the verdict is reported all the same, and a regression stays one
        notify(failure, "Error")
    # A screen that shows the table has the reason already; whoever reads standard error alone has not.
    has_reason = not as_json and sys.stdout.isatty() and sys.stderr.isatty()
    notify(verdict_line(result) if has_reason else summary_line(result), "gate")
    return EXIT_CODES[result.verdict] or (INFRASTRUCTURE if failures else OK)


def _refuse_asking(name: str, *, top_up: bool) -> None:
    """Refuse flags of --top-up without it, which would seem to have done something."""
    if top_up:
        if is_path(name):
            raise ToolbeltError(f"{name} is a baseline, which cannot be asked further; name a run.")
        return
    context = click.get_current_context()
    for flag in _ASKING:
        if context.get_parameter_source(flag) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{flag.replace('_', '-')} is for --top-up; without it nothing is asked.")


def _refuse_without_baseline(limits: Limits, *, top_up: bool) -> None:
    if top_up:
        raise ToolbeltError("--top-up asks as many epochs as the baseline has; name one with --baseline.")
    for flag in ("max_lost", "max_token_increase", "max_cost_increase"):
        if getattr(limits, flag) is not None:
            raise ToolbeltError(f"--{flag.replace('_', '-')} compares with a baseline; name one with --baseline.")
    if limits.min_accuracy is None:
        raise ToolbeltError(
            "Nothing to compare the run with: name a baseline (--baseline FILE, which "
            "`toolbelt eval baseline save` writes; or another run) or an absolute limit (--min-accuracy)."
        )


def _show(result: GateResult, *, as_json: bool, details: bool) -> Iterator[str]:
    """Print the verdict; yields why it could not be."""
    try:
        if as_json:
            print_json(gate_data(result))
        else:
            from toolbelt.evals.views.gate import gate_view

            show_blocks(gate_view(result, details=details))
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer must not fail once more at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # `… | head`: whoever reads has seen enough, and the verdict stands
            yield f"Cannot write to standard output: {error.strerror or error}."


def _write_files(result: GateResult, junit: str | None, markdown: str | None) -> Iterator[str]:
    def make_junit() -> str:
        from toolbelt.evals.views.junit import gate_junit

        return gate_junit(result)

    def make_markdown() -> str:
        from toolbelt.evals.views.gate_markdown import gate_markdown

        return gate_markdown(result)

    return write_reports(junit, make_junit, markdown, make_markdown)


def write_reports(
    junit: str | None, make_junit: Callable[[], str], markdown: str | None, make_markdown: Callable[[], str]
) -> Iterator[str]:
    """Write each that is wanted, whatever became of the others; yields why one could not be."""
    if junit is not None:
        yield from _written(junit, make_junit())
    summary = os.environ.get(_STEP_SUMMARY)
    if markdown is None and not summary:
        return
    text = make_markdown()
    if markdown is not None:
        yield from _written(markdown, text)
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(text + "\n")
        except (OSError, ValueError) as error:
            yield f"Nothing was added to {summary!r} ({_STEP_SUMMARY}): {error}."


def _written(path: str, text: str) -> Iterator[str]:
    try:
        write_text(path, text)
    except StorageError as error:
        yield str(error)
